/** What of a Memcached is not as specified, and what is to be written. */
import type { EpochMs } from '../../kernel/time.ts';
import { isAutoscaled, type Memcached } from '../api/memcached.ts';
import { CHILD_BODIES, type ChildKind, childKinds, deploymentReplicas } from '../children/children.ts';
import { COUNT_SET_BACK } from '../api/names.ts';
import { serverListBody } from '../servers/server-list.ts';
import type { Slot } from '../servers/slots.ts';
import { autoscalingCondition } from '../status/autoscaling.ts';
import { type ConditionFacts, isProgressing, isReady } from '../status/conditions.ts';
import { saysAll, type WantedStatus, wantedStatus } from '../status/status.ts';
import { isScaledByOther, scaledByOther } from './foreign-autoscaler.ts';
import {
  asleepBy,
  countsOf,
  isBeingDeleted,
  isOwnedBy,
  isTakenOver,
  type LiveObject,
  replicasOf,
  uidOf,
} from './live.ts';
import { notesOf, setBackNotes } from './notes.ts';
import type { Seen } from './seen.ts';
import { setBackOf } from './set-back.ts';
import { slotsOf } from './slots-of.ts';
import { type StepDown, stepDownAnnotations, stepDownOf } from './step-down.ts';
import { type Deferred, nothing, objectSteps, type Step, type Steps, together } from './steps.ts';

export interface Plan {
  /** In the order in which they are to be made. */
  readonly steps: readonly Step[];
  /** Sentences about objects of somebody else that stand where one of the Memcached should. */
  readonly conflicts: readonly string[];
  /** Sentences about what is waited for besides pods. */
  readonly awaited: readonly string[];
  /** Sentences about what is as it is on purpose, what waits, and what cannot work; the status says them as well. */
  readonly notes: readonly string[];
  readonly status: WantedStatus;
  /** Whether the status in the cluster says this already. */
  readonly isStatusTrue: boolean;
  /** What is not written yet, because something sets it back again and again. */
  readonly deferred: readonly Deferred[];
  /** Whether every pod is there, as it should be, and ready. */
  readonly isSettled: boolean;
  /** When the next pod goes, of those that go one by one; null without. */
  readonly nextStep: EpochMs | null;
}

/**
 * Compares a Memcached with the cluster. Of an invalid one, only the status and the list of servers are wanted: its objects stay as
 * they are, and its pods come and go all the same.
 */
export function planOf(seen: Seen): Plan {
  const { memcached, children } = seen;
  const { spec, problems } = memcached;
  const slots = slotsOf(seen);
  const written =
    spec === null
      ? serverListSteps(slots, seen)
      : seen.otherOperator === null
        ? stepsOf({ ...memcached, spec }, slots, seen)
        : inUse(seen.otherOperator);
  const deployment = children.Deployment;
  const obstacle =
    problems.length > 0
      ? ({ reason: 'Invalid', message: problems.join('; ') } as const)
      : written.conflicts.length > 0
        ? ({ reason: 'Conflict', message: written.conflicts.join('; ') } as const)
        : null;
  const ours = deployment !== null && isOwnedBy(deployment, memcached.uid) ? deployment : null;
  const facts: ConditionFacts = {
    replicas: spec?.replicas ?? null,
    deployment: ours === null ? null : countsOf(ours),
    passing: ours === null ? null : passingCount(ours, written),
    missingSecrets: seen.secrets.missing,
    lackingKeys: seen.secrets.lacking,
    isAutoscaled: spec !== null && isAutoscaled(spec),
    obstacle,
  };
  const scaler = children.HorizontalPodAutoscaler;
  const isScalerOurs = facts.isAutoscaled && scaler !== null && isOwnedBy(scaler, memcached.uid);
  const notes = [...written.notes, ...setBackNotes(written.deferred)];
  const status = wantedStatus(memcached, facts, {
    autoscaling: isScalerOurs ? autoscalingCondition(scaler) : null,
    notes,
    slots,
  });
  const sleeper = deployment === null ? null : asleepBy(deployment);
  const wanted = facts.isAutoscaled ? null : deploymentReplicas(spec ?? {});
  return {
    ...written,
    notes,
    status,
    isStatusTrue: saysAll(memcached.status, status),
    isSettled: sleeper !== null || (!isProgressing(facts) && (isReady(facts) || wanted === 0)),
    nextStep: written.stepDown?.isAwaited === true ? written.stepDown.next : null,
  };
}

/**
 * While a schedule has the count, it is right as it is; while pods go one by one, or somebody else's autoscaler has the count, what there is
 * of them should be ready.
 */
function passingCount(
  deployment: LiveObject,
  { stepDown, isScaledByOther: isScaled }: Steps,
): NonNullable<ConditionFacts['passing']> | null {
  const schedule = asleepBy(deployment);
  if (schedule !== null) return { replicas: replicasOf(deployment), schedule };
  return stepDown === null && !isScaled ? null : { replicas: countsOf(deployment).replicas, schedule: null };
}

/** Each would put right what the other writes. */
function inUse(lease: string): Steps {
  const conflict = `the memcached operator still runs, as its Lease ${lease} is renewed: stop it, and Headroom takes over within a minute`;
  return { ...nothing, conflicts: [conflict] };
}

/** Keeps the list of servers current for an invalid Memcached that has one already. */
function serverListSteps(slots: readonly Slot[], seen: Seen): Steps {
  const { memcached, children, otherOperator } = seen;
  const live = children.ConfigMap;
  if (otherOperator !== null || live === null || !isOwnedBy(live, memcached.uid)) return nothing;
  return objectSteps('ConfigMap', seen, serverListBody(memcached, slots));
}

function stepsOf(memcached: Memcached, slots: readonly Slot[], seen: Seen): Steps {
  const stepDown = stepDownOf(memcached, seen);
  const derived = { slots, stepDown };
  const deployment = childSteps('Deployment', memcached, seen, derived);
  // What else there is would scale, select or protect the pods of somebody else.
  if (deployment.conflicts.length > 0) return deployment;
  // How many pods there are is remembered by the Deployment, where they go one by one.
  const isCountHeld = deployment.isHeld && (seen.children.Deployment === null || stepDown !== null);
  const others = childKinds.slice(1).filter((kind) => !isCountHeld || kind !== 'HorizontalPodAutoscaler');
  const parts = others.map((kind) => [kind, childSteps(kind, memcached, seen, derived)] as const);
  return together([
    deployment,
    ...parts.flatMap(([kind, steps]) =>
      // The count is handed over when the autoscaler is gone, so that no moment has two owners.
      kind === 'HorizontalPodAutoscaler' ? [steps, replicaSteps(memcached, seen, steps, stepDown)] : [steps],
    ),
    { ...nothing, stepDown, notes: [...notesOf(memcached, seen), ...(stepDown === null ? [] : [stepDown.note])] },
  ]);
}

function childSteps(
  kind: ChildKind,
  memcached: Memcached,
  seen: Seen,
  { slots, stepDown }: { readonly slots: readonly Slot[]; readonly stepDown: StepDown | null },
): Steps {
  const { children, unserved, secrets } = seen;
  const live = children[kind];
  const isOurs = live !== null && isOwnedBy(live, memcached.uid);
  const wanted = CHILD_BODIES[kind](memcached, {
    secretHash: secrets.hash,
    isTakenOver: kind === 'Deployment' && isOurs && isTakenOver(live, memcached.generation),
    stepDown: kind === 'Deployment' ? stepDownAnnotations(stepDown) : {},
    slots,
  });
  if (wanted === null) {
    if (live === null || !isOurs || isBeingDeleted(live)) return nothing;
    return { ...nothing, steps: [{ kind: 'delete', child: kind, uid: uidOf(live) }] };
  }
  if (unserved.includes(kind)) return nothing;
  const made = objectSteps(kind, seen, wanted);
  return kind === 'Deployment' && made.steps.length > 0 && wouldWait(live, secrets)
    ? { ...nothing, isHeld: true }
    : made;
}

/**
 * Whether new pods could not start, because what they mount is not all there: then old ones stay, whatever changes. Where there are none,
 * pods wait for a Secret that is about to come, as they do for cert-manager; one that is there and lacks a key is no such thing.
 */
function wouldWait(deployment: LiveObject | null, { missing, lacking }: Seen['secrets']): boolean {
  return lacking.length > 0 || (deployment !== null && missing.length > 0);
}

/** The count of pods, where it is not that of an autoscaler, whoever has put it there, or of a schedule that put the Deployment to sleep. */
function replicaSteps(
  memcached: Memcached,
  { memcached: { status }, children, at }: Seen,
  autoscaler: Steps,
  stepDown: StepDown | null,
): Steps {
  const deployment = children.Deployment;
  const scale = (replicas: number, setBack?: string): Steps => ({
    ...nothing,
    steps: [
      {
        kind: 'scale',
        uid: deployment === null ? null : uidOf(deployment),
        replicas,
        ...(setBack === undefined ? {} : { setBack }),
      },
    ],
  });
  if (deployment !== null && asleepBy(deployment) !== null) return nothing;
  if (isScaledByOther(memcached, children)) {
    return { ...nothing, conflicts: [scaledByOther(memcached)], isScaledByOther: true };
  }
  const wanted = stepDown?.replicas ?? deploymentReplicas(memcached.spec);
  if (wanted === null) {
    // At 0 an autoscaler does nothing. Where it is new, nobody has stopped it by that.
    const isNew = children.HorizontalPodAutoscaler === null && autoscaler.conflicts.length === 0;
    if (!isNew || deployment === null || replicasOf(deployment) > 0) return nothing;
    return scale(memcached.spec.autoscaling?.minReplicas ?? 1);
  }
  // The API server's own default is 1.
  if ((deployment === null ? 1 : replicasOf(deployment)) === wanted) return nothing;
  // What the spec says now was written before; a change of the spec is none that somebody set back.
  const isSetBack = stepDown === null && status['observedGeneration'] === memcached.generation;
  if (deployment === null || !isSetBack) return scale(wanted);
  const { count, from, mark } = setBackOf(deployment, COUNT_SET_BACK, at);
  return at < from ? { ...nothing, deferred: [{ child: 'Deployment', count, until: from }] } : scale(wanted, mark);
}
