/** Drains by the product's own rules, against an API server that has its own: a node is deleted when its drain says that it is empty. */
import { DisruptionBudgets } from '../../../../domain/node-group/drain/disruption-budgets.ts';
import { haltBefore } from '../../../../domain/node-group/drain/halt.ts';
import {
  afterLook,
  DRAIN_TIMEOUT_MS,
  type DrainLook,
  type DrainProgress,
  type EvictionAnswer,
  evictionsDue,
} from '../../../../domain/node-group/drain/drain-progress.ts';
import { markPatch } from '../../../../domain/node-group/drain/marks.ts';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Removal } from '../../../../domain/node-group/model/plan.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { type BudgetSpec, budgetOf, evictionOf } from './api-server.ts';

export interface Drain {
  readonly removal: Removal;
  /** The VPSieNode that must be ready first; null for none. */
  readonly replacement: string | null;
  readonly began: number;
  progress: DrainProgress | null;
}

/** What a drain does to the cluster. */
export interface DrainedCluster {
  readonly at: number;
  readonly nodes: readonly Node[];
  readonly machines: readonly Machine[];
  readonly pods: readonly Pod[];
  readonly budgets: readonly BudgetSpec[];
  evicted(pod: Pod, grace: number): void;
}

export type DrainStep = 'goes-on' | 'empty' | 'undone';

/** The node with the marks of its drain. */
export function marked(node: Node, at: number): Node {
  const { metadata } = markPatch(node, `node-drain/test/${node.uid}`, at);
  const annotations = Object.fromEntries(
    Object.entries(metadata.annotations).map(([key, value]) => [key, value ?? '']),
  );
  return { ...node, isCordoned: true, annotations: { ...node.annotations, ...annotations } };
}

export function unmarked(node: Node): Node {
  return { ...node, isCordoned: false, annotations: {} };
}

/** One look at the node, and the evictions that are due. */
export function drainOn(drain: Drain, cluster: DrainedCluster): DrainStep {
  const { removal, replacement, began, progress } = drain;
  const { at, machines } = cluster;
  const node = cluster.nodes.find(({ name }) => name === removal.node);
  if (node === undefined) return 'undone';
  if (replacement !== null && progress === null) {
    const machine = machines.find(({ name }) => name === replacement);
    if (machine === undefined || machine.isDeleting) return 'undone';
    if (machine.phase !== 'Ready') return 'goes-on';
  }
  const target = { group: removal.group, node: removal.node };
  const own = machines.filter(({ group }) => group === removal.group);
  const isByItself = removal.reason !== 'Requested';
  const pods = cluster.pods.filter((pod) => pod.node === node.name);
  const look: DrainLook = {
    at,
    drainBegan: began,
    isNodeReady: node.ready.status === 'True',
    halt: isByItself ? haltBefore(target, cluster.nodes, own, at) : null,
    pods,
    budgets: new DisruptionBudgets(cluster.budgets.map((spec) => budgetOf(spec, cluster.pods))),
    reason: removal.reason,
    timeoutMs: DRAIN_TIMEOUT_MS,
    progress,
    takenBack: 0,
  };
  const answers = new Map<string, EvictionAnswer>();
  for (const { pod, grace } of evictionsDue(look)) {
    // What was evicted before has changed the numbers of the budgets.
    const there = cluster.pods.find(({ uid }) => uid === pod.uid);
    if (there === undefined) continue;
    const answer = evictionOf(there, cluster.budgets, cluster.pods);
    answers.set(pod.uid, answer);
    if (answer.kind === 'evicted') cluster.evicted(there, grace ?? there.gracePeriodSeconds);
  }
  const verdict = afterLook(look, answers);
  if (verdict.kind === 'blocked') return 'undone';
  if (verdict.kind === 'empty') return 'empty';
  drain.progress = verdict.progress;
  return 'goes-on';
}
