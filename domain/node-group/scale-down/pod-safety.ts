/**
 * Whether the pods of a node may be evicted: the VPSie autoscaler's checks of pods in their order (PodDisruptionBudget, local storage,
 * system pods), then Kubernetes' practice as cluster-autoscaler and Karpenter have it. Affinity, minimum and cooldown come after them, in
 * `plan-removals.ts`.
 */
import { listText } from '../../kernel/sentence.ts';
import { type EpochMs, formatInstant, MINUTE_MS } from '../../kernel/time.ts';
import { budgetName, DisruptionBudgets, severalBudgets } from '../drain/disruption-budgets.ts';
import { podName, podsToEvict } from '../drain/pods-to-evict.ts';
import type { Claim, ClusterState, PersistentVolume } from '../model/cluster-state.ts';
import type { Keep } from '../model/plan.ts';
import type { Pod } from '../model/pod.ts';
import { DO_NOT_DISRUPT, heldByAnnotation } from './do-not-disrupt.ts';

const SYSTEM_NAMESPACE = 'kube-system';
const SAFE_TO_EVICT = 'cluster-autoscaler.kubernetes.io/safe-to-evict';
/** Names of volumes, with commas, that may be lost. */
const SAFE_VOLUMES = 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes';
/** cluster-autoscaler's default: a system pod that has run for longer is evicted even without a PodDisruptionBudget. */
const SYSTEM_POD_MS = 60 * MINUTE_MS;
/** The control plane's own pods, as the VPSie autoscaler knows them by the beginning of their names. */
const CONTROL_PLANE = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'cloud-controller-manager',
  'etcd',
];

/** How many budgets a sentence names. */
const NAMED = 3;

export type SafetyState = Pick<ClusterState, 'at' | 'budgets' | 'claims' | 'volumes'>;

/** What leaves a node when it is taken away. */
export interface PodsOnNode {
  /** Those that have to be evicted and placed elsewhere. */
  readonly evicted: readonly Pod[];
  /** Those that go with the node: of DaemonSets, mirror pods, and what is being deleted already. */
  readonly goWithNode: readonly Pod[];
}

/** Parts the pods that are bound to a node; those that have ended are in neither part. */
export function podsOnNode(pods: readonly Pod[]): PodsOnNode {
  const leaving = new Set(podsToEvict(pods).filter(({ deletesAt }) => deletesAt === null));
  return {
    evicted: pods.filter((pod) => leaving.has(pod)),
    goWithNode: pods.filter((pod) => !leaving.has(pod) && pod.phase !== 'Succeeded' && pod.phase !== 'Failed'),
  };
}

/** The checks for one state of a cluster. */
export class PodSafety {
  readonly #at: EpochMs;
  readonly #budgets: DisruptionBudgets;
  readonly #claims: ReadonlyMap<string, Claim>;
  readonly #volumes: ReadonlyMap<string, PersistentVolume>;

  constructor({ at, budgets, claims, volumes }: SafetyState) {
    this.#at = at;
    this.#budgets = new DisruptionBudgets(budgets);
    this.#claims = new Map(claims.map((claim) => [`${claim.namespace}/${claim.name}`, claim]));
    this.#volumes = new Map(volumes.map((volume) => [volume.name, volume]));
  }

  /**
   * The first check that one of the pods does not pass; null where all may be evicted. Each check is asked of every pod before the
   * next one is, so that the answer does not depend on the order of the pods' names alone.
   *
   * @param evicted as by `podsOnNode`, in the order in which they are to be named.
   */
  keptByPods(evicted: readonly Pod[]): Keep | null {
    return (
      firstKept(evicted, this.#byBudget, this.#byLocalStorage, this.#bySystemPod) ??
      firstKept(evicted, bySafeToEvict, byDoNotDisrupt(this.#at), byOwner)
    );
  }

  /** The first budget that lets one of the pods not go at all; null where each may. */
  keptByBudgets(evicted: readonly Pod[]): Keep | null {
    for (const pod of evicted) {
      const keep = this.#byBudget(pod);
      if (keep !== null) return keep;
    }
    return null;
  }

  /**
   * Which budgets do not let all of the pods go at once, as the end of a sentence; empty where all do. That does not keep the node:
   * its drain waits for the successors of the first pods (ADR 74).
   */
  inStages(evicted: readonly Pod[]): string {
    const stages = this.#budgets
      .tooSmallFor(evicted)
      .map(({ budget, allowed, asked }) => `${allowed} of the ${asked} of ${budgetName(budget)}`);
    return stages.length === 0
      ? ''
      : `; PodDisruptionBudgets let its pods go in stages, first ${listText(stages, NAMED)}`;
  }

  readonly #byBudget = (pod: Pod): Keep | null => {
    const answer = this.#budgets.forecast(pod);
    if (answer.kind === 'allowed') return null;
    const detail = answer.kind === 'refused' ? answer.detail : severalBudgets(pod, answer.budgets);
    return { reason: 'PodDisruptionBudget', detail, until: null };
  };

  readonly #byLocalStorage = (pod: Pod): Keep | null => {
    const keep = (detail: string): Keep => ({ reason: 'LocalStorage', detail, until: null });
    const lost = byLostVolume(pod);
    if (lost !== null) return lost;
    for (const name of pod.claims) {
      const claim = this.#claims.get(`${pod.namespace}/${name}`);
      const of = `the PersistentVolumeClaim ${name} of ${podName(pod)}`;
      if (claim === undefined || claim.isLost) return keep(`${of} ${claim === undefined ? 'is not there' : 'is lost'}`);
      // A pod that runs has the volume, although its binding is not marked complete.
      const volume = claim.volume ?? claim.wantedVolume;
      if (volume === undefined) continue;
      const bound = this.#volumes.get(volume);
      if (bound === undefined) return keep(`${of} is bound to ${volume}, which is not there`);
      if (bound.isLocal) return keep(`${of} is bound to ${volume}, which is on the node itself`);
    }
    return null;
  };

  readonly #bySystemPod = (pod: Pod): Keep | null => {
    if (pod.namespace !== SYSTEM_NAMESPACE || isSafe(pod)) return null;
    const keep = byControlPlane(pod);
    if (keep !== null) return keep;
    const until = pod.createdAt + SYSTEM_POD_MS;
    if (until <= this.#at || this.#budgets.of(pod).length > 0) return null;
    const detail =
      `${podName(pod)} is a system pod without a PodDisruptionBudget, ` +
      `and is younger than an hour until ${formatInstant(until)}`;
    return { reason: 'SystemPod', detail, until };
  };
}

type PodCheck<P> = (pod: P) => Keep | null;

function firstKept<P>(pods: readonly P[], ...checks: readonly PodCheck<P>[]): Keep | null {
  for (const check of checks) {
    for (const pod of pods) {
      const keep = check(pod);
      if (keep !== null) return keep;
    }
  }
  return null;
}

/**
 * Those of the checks that need nothing but the pod, for pods that have come to a node since it was chosen: one that nobody makes again, or
 * whose data is on the node, would be lost.
 */
export function keptByThemselves(evicted: readonly LonePod[], at: EpochMs): Keep | null {
  return firstKept(evicted, byLostVolume, byControlPlane, bySafeToEvict, byDoNotDisrupt(at), byOwner);
}

type LonePod = Pick<Pod, 'namespace' | 'name' | 'annotations' | 'owner' | 'createdAt' | 'localVolumes'>;

function byLostVolume(pod: LonePod): Keep | null {
  const lost = isSafe(pod) ? undefined : lostVolume(pod);
  if (lost === undefined) return null;
  const detail = `the volume ${lost} of ${podName(pod)} would be lost with the node`;
  return { reason: 'LocalStorage', detail, until: null };
}

function byControlPlane(pod: LonePod): Keep | null {
  if (isSafe(pod) || !isControlPlanePod(pod)) return null;
  return { reason: 'SystemPod', detail: `${podName(pod)} is a part of the control plane`, until: null };
}

function bySafeToEvict(pod: LonePod): Keep | null {
  if (pod.annotations[SAFE_TO_EVICT] !== 'false') return null;
  const detail = `${podName(pod)} has the annotation ${SAFE_TO_EVICT}=false`;
  return { reason: 'NotSafeToEvict', detail, until: null };
}

function byDoNotDisrupt(at: EpochMs): PodCheck<LonePod> {
  return (pod) => {
    const held = heldByAnnotation(pod.annotations, pod.createdAt, at);
    if (held === null) return null;
    const end = held.until === null ? '' : ` until ${formatInstant(held.until)}`;
    const detail = `the annotation ${DO_NOT_DISRUPT} of ${podName(pod)} keeps it where it is${end}`;
    return { reason: 'DoNotDisrupt', detail, until: held.until };
  };
}

function byOwner(pod: LonePod): Keep | null {
  if (pod.owner !== null || isSafe(pod)) return null;
  const detail = `${podName(pod)} has no controller that would make it again`;
  return { reason: 'UnreplicatedPod', detail, until: null };
}

function isSafe({ annotations }: Pick<Pod, 'annotations'>): boolean {
  return annotations[SAFE_TO_EVICT] === 'true';
}

/** The first volume whose content would be lost and that its pod does not give up; undefined where there is none. */
function lostVolume({ localVolumes, annotations }: Pick<Pod, 'localVolumes' | 'annotations'>): string | undefined {
  const given = (annotations[SAFE_VOLUMES] ?? '').split(',').map((name) => name.trim());
  return localVolumes.find((name) => !given.includes(name));
}

/** The VPSie autoscaler's rule for system pods, by name alone: those of the control plane keep their node. */
export function isControlPlanePod({ namespace, name }: Pick<Pod, 'namespace' | 'name'>): boolean {
  return namespace === SYSTEM_NAMESPACE && CONTROL_PLANE.some((prefix) => name.startsWith(prefix));
}
