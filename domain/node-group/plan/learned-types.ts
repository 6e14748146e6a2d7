/**
 * What the nodes of an instance type have turned out to be. A pod that fits what the provider promises and not what came would
 * otherwise ask for one node after the other, none of which it can use.
 */
import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { InstanceType, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Pod, Taint } from '../model/pod.ts';
import type { Amounts } from '../../kernel/amounts.ts';
import { podsOnNode } from '../scale-down/pod-safety.ts';
import { addAmounts } from '../../kernel/amounts.ts';
import { FRESH_TAINT, isBasic, isComing, promisedLabels, withoutStartup } from './cluster-packing.ts';
import { byText } from './pending.ts';

/** Of the newest node of an instance type of a group. */
interface Lesson {
  readonly at: EpochMs;
  /** What the provider promised then: a lesson about another promise says nothing. */
  readonly promise: string;
  readonly allocatable: Amounts;
  readonly taints: readonly Taint[];
  readonly missingLabels: readonly string[];
}

/** By `<group> <instance type>`. */
export type Lessons = Readonly<Record<string, Lesson>>;

/** A lesson is forgotten so long after the last node of its kind has gone, in milliseconds; then one node may try again. */
const REMEMBERED_MS = 86_400_000;
/** Taints that say how a node is at the moment, or that it is to go, and nothing about the next one. */
const PASSING_TAINT =
  /^(?:node\.kubernetes\.io\/|karpenter\.sh\/|ToBeDeletedByClusterAutoscaler|DeletionCandidateOfClusterAutoscaler)/;

/** The types of each group as their nodes are, and what is to be remembered once the nodes have gone. */
export function learnTypes(
  state: ClusterState,
  before: Lessons,
): { readonly instanceTypes: ClusterState['instanceTypes']; readonly lessons: Lessons } {
  const newest = newestNodes(state);
  const groups = new Set(state.groups.map(({ name }) => name));
  // The provider may tell no types for a moment: what was learned of them is kept.
  const lessons = Object.fromEntries(
    Object.entries(before).filter(
      ([key, { at }]) => groups.has(key.slice(0, key.indexOf(' '))) && state.at - at < REMEMBERED_MS,
    ),
  );
  const instanceTypes: Record<string, readonly InstanceType[]> = {};
  for (const group of state.groups.toSorted((a, b) => byText(a.name, b.name))) {
    instanceTypes[group.name] = (state.instanceTypes[group.name] ?? []).map((type) => {
      const key = `${group.name} ${type.id}`;
      const lesson = learned(group, type, newest.get(key), { state, before: lessons[key] });
      if (lesson === null) return type;
      lessons[key] = lesson;
      const { allocatable, taints, missingLabels } = lesson;
      return { ...type, allocatable, learned: { taints, missingLabels } };
    });
  }
  return { instanceTypes, lessons };
}

interface Newest {
  /** Ready, with everything that is put on it. */
  settled: Node | null;
  /** Registered, and perhaps not complete. */
  joining: Node | null;
}

/** Nodes that leave lose what is on them, and are no example any more. */
function newestNodes({ nodes, machines, leaving }: ClusterState): ReadonlyMap<string, Newest> {
  const gone = new Set(leaving);
  const byName = new Map(
    nodes.filter(({ name, isDeleting }) => !isDeleting && !gone.has(name)).map((node) => [node.name, node]),
  );
  const newest = new Map<string, Newest>();
  for (const machine of machines) {
    const node = machine.node === null ? undefined : byName.get(machine.node);
    if (node === undefined || (node.allocatable['cpu'] ?? 0) === 0) continue;
    const key = `${machine.group} ${machine.instanceType}`;
    const found = newest.get(key) ?? { settled: null, joining: null };
    if (!isComing(machine)) continue;
    if (machine.phase === 'Ready') found.settled = newer(found.settled, node);
    else found.joining = newer(found.joining, node);
    newest.set(key, found);
  }
  return newest;
}

function newer(a: Node | null, b: Node): Node {
  if (a === null) return b;
  return (a.createdAt - b.createdAt || byText(a.name, b.name)) > 0 ? a : b;
}

function learned(
  group: NodeGroup,
  type: InstanceType,
  newest: Newest | undefined,
  { state, before }: { readonly state: ClusterState; readonly before: Lesson | undefined },
): Lesson | null {
  const promise = JSON.stringify([type.allocatable, type.labels]);
  const { settled = null, joining = null } = newest ?? {};
  const known = before?.promise === promise ? before : null;
  let lesson = settled === null ? known : { at: state.at, promise, ...lessonOf(group, type, settled, state.pods) };
  if (joining !== null && (settled === null || joining.createdAt > settled.createdAt)) {
    const basics = Object.entries(joining.allocatable).filter(([resource]) => isBasic(resource));
    const allocatable = { ...(lesson?.allocatable ?? type.allocatable), ...Object.fromEntries(basics) };
    const { taints = [], missingLabels = [] } = lesson ?? {};
    lesson = { at: state.at, promise, allocatable, taints, missingLabels };
  }
  return lesson;
}

function lessonOf(
  group: NodeGroup,
  type: InstanceType,
  node: Node,
  pods: readonly Pod[],
): Pick<Lesson, 'allocatable' | 'taints' | 'missingLabels'> {
  const isOwn = ({ key, effect }: Taint): boolean =>
    group.taints.some((taint) => taint.key === key && taint.effect === effect);
  return {
    allocatable: withoutStatic(node, pods),
    taints: withoutStartup(node.taints, group).filter(
      (taint) => !isOwn(taint) && !FRESH_TAINT.test(taint.key) && !PASSING_TAINT.test(taint.key),
    ),
    missingLabels: Object.entries(promisedLabels(type))
      .filter(([key, value]) => node.labels[key] !== value && !Object.hasOwn(group.labels, key))
      .map(([key]) => key),
  };
}

/** Pods that the kubelet makes by itself are on the next node as well. */
function withoutStatic({ name, allocatable }: Node, pods: readonly Pod[]): Amounts {
  const { goWithNode } = podsOnNode(pods.filter((pod) => pod.node === name));
  const own = goWithNode.filter(({ owner, deletesAt }) => owner?.kind !== 'DaemonSet' && deletesAt === null);
  const taken = own.reduce<Amounts>((sum, { requests }) => addAmounts(sum, { ...requests, pods: 1 }), {});
  return Object.fromEntries(
    Object.entries(allocatable).map(([resource, amount]) => [resource, Math.max(0, amount - (taken[resource] ?? 0))]),
  );
}
