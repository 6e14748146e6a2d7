/** kube-scheduler: which pods it looks at and when, where it places them, and what it writes about the others. */
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { explainFit } from '../../../../domain/node-group/scheduling/explain.ts';
import { snapshotOf } from '../../../../domain/node-group/scheduling/fits.ts';
import type { Packing } from '../../../../domain/node-group/scheduling/packing.ts';
import { boundTo } from '../builders.ts';

/** Its `podMaxInUnschedulablePodsDuration`: a pod is looked at again after so long, whatever happens. */
const FLUSHED_MS = 300_000;

/** What the pods of a node ask for. */
export function askedOf(pods: readonly Pod[], node: string, resource: string): number {
  return pods.reduce((sum, pod) => sum + (pod.node === node ? (pod.requests[resource] ?? 0) : 0), 0);
}

interface SchedulerOptions {
  readonly random: () => number;
  /** What no model knows: a plugin of its own places none of these. */
  readonly refuses: (pod: Pod) => boolean;
}

/** One pod after the other: of the nodes that fit, the one with most left of its CPU. */
export class KubeScheduler {
  readonly #options: SchedulerOptions;
  /** When it looked at each pod that waits, by UID. */
  #looked = new Map<string, number>();
  /** The nodes as they were, by name, and the UIDs of the pods that were on one. */
  #nodes = new Map<string, string>();
  #bound = new Set<string>();

  constructor(options: SchedulerOptions) {
    this.#options = options;
  }

  /** All pods: those that it looked at with a node, or with why they have none. */
  run(state: ClusterState): Pod[] {
    const { at, nodes, pods } = state;
    const changed = nodes.filter((node) => this.#nodes.get(node.name) !== signatureOf(node));
    const there = new Set(pods.map(({ uid }) => uid));
    const hasRoom = [...this.#bound].some((uid) => !there.has(uid));
    this.#nodes = new Map(nodes.map((node) => [node.name, signatureOf(node)]));
    const open = nodes.filter(({ ready }) => ready.status === 'True');
    const packing = snapshotOf({ ...state, nodes: open });
    const free = new Map(
      open.map(({ name, allocatable }) => [name, (allocatable['cpu'] ?? 0) - askedOf(pods, name, 'cpu')]),
    );
    const looked = new Map<string, number>();
    const after = pods.map((pod) => {
      if (pod.node !== null) return pod;
      const last = this.#looked.get(pod.uid) ?? Number.NEGATIVE_INFINITY;
      const isDue = hasRoom || at - last >= FLUSHED_MS || this.#isHelped(pod, packing, changed);
      looked.set(pod.uid, isDue ? at : last);
      if (!isDue) return pod;
      const misfits = nodes.map((node) => [node.name, this.#misfit(pod, packing, node)] as const);
      const [best] = misfits
        .filter(([, misfit]) => misfit === null)
        .toSorted(([a], [b]) => (free.get(b) ?? 0) - (free.get(a) ?? 0));
      if (best === undefined)
        return refused(
          pod,
          misfits.map(([, misfit]) => misfit ?? ''),
          at,
        );
      const [name] = best;
      const slot = packing.slotOf(name);
      if (slot !== undefined) packing.place(packing.classOf(pod), slot);
      free.set(name, (free.get(name) ?? 0) - (pod.requests['cpu'] ?? 0));
      return boundTo(name, pod);
    });
    this.#looked = looked;
    this.#bound = new Set(after.filter(({ node }) => node !== null).map(({ uid }) => uid));
    return after;
  }

  /** Its queueing hints: a node that came, or changed, is a reason to look at a pod that fits it, and at some others. */
  #isHelped(pod: Pod, packing: Packing, changed: readonly Node[]): boolean {
    if (changed.length === 0) return false;
    return this.#options.random() < 0.5 || changed.some((node) => this.#misfit(pod, packing, node) === null);
  }

  #misfit(pod: Pod, packing: Packing, { name, ready }: Node): string | null {
    if (ready.status !== 'True') return 'node(s) had untolerated taint(s)';
    const slot = packing.slotOf(name);
    if (slot === undefined) return 'node(s) were not found';
    const fit = explainFit(packing, packing.classOf(pod), slot);
    if (fit.kind === 'misfit') return fit.by;
    return this.#options.refuses(pod) ? 'node(s) were not liked' : null;
  }
}

function signatureOf({ uid, ready, taints, isCordoned, allocatable, labels }: Node): string {
  return JSON.stringify([uid, ready.status, taints, isCordoned, allocatable, labels]);
}

/** The condition is written when it says something else than before, and its own time is when the pod was first refused. */
function refused(pod: Pod, misfits: readonly string[], at: number): Pod {
  const counts = Map.groupBy(misfits, (misfit) => misfit);
  const why = [...counts].map(([misfit, { length }]) => `${length} ${misfit}`).toSorted();
  const message = `0/${misfits.length} nodes are available: ${why.join(', ')}.`;
  if (pod.unscheduled?.message === message) return pod;
  const since = pod.unscheduled?.since ?? at;
  return { ...pod, unscheduled: { reason: 'Unschedulable', message, since, writtenAt: at } };
}
