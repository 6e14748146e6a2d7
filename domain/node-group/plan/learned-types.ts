/**
 * What the nodes of an instance type have turned out to be. A pod that fits what the provider promises and not what came would
 * otherwise ask for one node after the other, none of which it can use. All live nodes of the type say so together: what is known of one
 * of ten is about that one. It is forgotten with the last one: what stays is that it came in vain (`in-vain.ts`).
 */
import { addAmounts, type Amounts } from '../../kernel/amounts.ts';
import { ownValue } from '../../kernel/record.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { InstanceType, NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import type { Pod, Taint } from '../model/pod.ts';
import { isLater } from '../rules/fill-later.ts';
import { attachedTo } from './attached.ts';
import { FRESH_TAINT, isBasic, promisedLabels, withoutStartup } from './cluster-packing.ts';
import { type Examples, examplesOf, staticPodsOf } from './live-nodes.ts';
import { typeKey } from './type-key.ts';
import { podsByNode } from './pods-by-node.ts';

/** Taints that say how a node is at the moment, or that it is to go, and nothing about the next one. */
export const PASSING_TAINT =
  /^(?:node\.kubernetes\.io\/|karpenter\.sh\/|ToBeDeletedByClusterAutoscaler|DeletionCandidateOfClusterAutoscaler)/;

/** What nodes of a type have, and what all of them have or lack besides. */
interface Learned {
  readonly allocatable: Amounts;
  readonly learned: NonNullable<InstanceType['learned']>;
}

/** The types of each group as their nodes are. */
export function learnTypes(state: ClusterState): ClusterState['instanceTypes'] {
  const examples = examplesOf(state);
  const byNode = podsByNode(state.pods);
  const attachLimits = new Map(state.attachLimits.map(({ node, limits }) => [node, limits]));
  const typesOf = (group: NodeGroup): readonly InstanceType[] =>
    (ownValue(state.instanceTypes, group.name) ?? []).map((type) => {
      const found = examples.get(typeKey(group.name, type.id));
      if (found === undefined) return type;
      const known = learned(group, type, found, byNode);
      const besides = attachedTo(found, byNode, attachLimits);
      return { ...type, ...known, learned: { ...known.learned, ...besides } };
    });
  return Object.fromEntries(state.groups.map((group) => [group.name, typesOf(group)]));
}

function learned(
  group: NodeGroup,
  type: InstanceType,
  { settled, joining }: Examples,
  byNode: ReadonlyMap<string, readonly Pod[]>,
): Learned {
  const shown = settled.map((node) => withoutStatic(node, byNode.get(node.name) ?? []));
  const basics = joining.map(({ allocatable }) => basicsOf(allocatable));
  const devices = shown.length === 0 ? [type.allocatable] : shown;
  const allocatable = {
    ...combined(devices, Math.max),
    ...combined([...shown, ...basics].map(basicsOf), Math.min),
  };
  if (settled.length === 0) return { allocatable, learned: { taints: [], missingLabels: [] } };
  const lasting = settled.map((node) => lastingTaints(group, node));
  const taints =
    lasting[0]?.filter((taint) => lasting.every((other) => other.some((each) => isSame(each, taint)))) ?? [];
  const missingLabels = Object.entries(promisedLabels(type))
    .filter(([key]) => !Object.hasOwn(group.labels, key))
    .filter(([key, value]) => settled.every(({ labels }) => ownValue(labels, key) !== value))
    .map(([key]) => key);
  return { allocatable, learned: { taints, missingLabels } };
}

/** Combines the amounts of each resource that any of them has, such as by their maximum. */
function combined(all: readonly Amounts[], of: (...values: number[]) => number): Amounts {
  const resources = new Set(all.flatMap((amounts) => Object.keys(amounts)));
  return Object.fromEntries(
    [...resources].map((resource) => [resource, of(...all.map((amounts) => ownValue(amounts, resource) ?? 0))]),
  );
}

/**
 * What the kubelet says by itself, of which the next node may have as little as any. A device may be missing because its plugin has
 * failed: the next node has as many as the best one.
 */
function basicsOf(amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([resource]) => isBasic(resource)));
}

/** Taints that neither the group puts on its nodes nor time takes off. */
function lastingTaints(group: NodeGroup, { taints }: Node): readonly Taint[] {
  const isOwn = ({ key, effect }: Taint): boolean =>
    group.taints.some((taint) => taint.key === key && taint.effect === effect);
  return withoutStartup(taints, group).filter(
    (taint) => !isOwn(taint) && !isLater(taint) && !FRESH_TAINT.test(taint.key) && !PASSING_TAINT.test(taint.key),
  );
}

function isSame(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect && (a.value ?? '') === (b.value ?? '');
}

/** Without what the kubelet makes by itself, which is on the next node as well. */
function withoutStatic(node: Node, pods: readonly Pod[]): Amounts {
  const taken = staticPodsOf(node, pods).reduce<Amounts>(
    (sum, { requests }) => addAmounts(sum, { ...requests, pods: 1 }),
    {},
  );
  return Object.fromEntries(
    Object.entries(node.allocatable).map(([resource, amount]) => [
      resource,
      Math.max(0, amount - (ownValue(taken, resource) ?? 0)),
    ]),
  );
}
