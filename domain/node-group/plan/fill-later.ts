/**
 * Which of a plan's nodes kube-scheduler should fill last. It spreads pods over all nodes, in an order of its own: those that could go
 * anywhere would be where others need the room, such as large ones and those of one zone, for which no place would be left.
 */
import { ownValue } from '../../kernel/record.ts';
import type { InstanceType, NodeGroup } from '../model/node-group.ts';
import type { NewNodes } from '../model/plan.ts';
import { LATEST } from '../rules/fill-later.ts';
import { matchesNode, untolerated } from '../scheduling/node-selection.ts';
import type { PodClass } from '../scheduling/packed.ts';
import { promisedLabels } from './cluster-packing.ts';

/** Nodes of one group and type that are to come, and what they are planned for. */
export interface Filled {
  readonly group: Pick<NodeGroup, 'labels' | 'taints' | 'expander'>;
  readonly type: Pick<InstanceType, 'id' | 'labels' | 'allocatable'>;
  readonly count: number;
  readonly pods: ReadonlySet<PodClass>;
}

/**
 * A pod has as much choice as it may use of all these nodes, and a node as those of its pods that have least; nodes with less are later. Each
 * step has an equal share of all nodes, by their CPUs, and those with the same choice are filled together. It is done for groups that go by
 * price: what pods would rather have, such as to be spread over zones, counts less for kube-scheduler then.
 *
 * @returns of each, from 0 for those that are filled first up to `LATEST`.
 */
export function fillLater(filled: readonly Filled[]): readonly number[] {
  const sized = filled.map((each) => ({ ...each, size: each.count * (ownValue(each.type.allocatable, 'cpu') ?? 0) }));
  const total = sized.reduce((sum, { size }) => sum + size, 0);
  const choices = new Map<string, number>();
  const choiceOf = ({ constraints }: PodClass): number => {
    const { nodeSelector, nodeAffinity, tolerations, requests } = constraints;
    const key = JSON.stringify([nodeSelector, nodeAffinity, tolerations, requests]);
    const choice = choices.get(key) ?? sized.reduce((sum, each) => sum + each.size * openTo(constraints, each), 0);
    choices.set(key, choice);
    return choice;
  };
  const least = sized.map(({ pods }) => [...pods].reduce((min, each) => Math.min(min, choiceOf(each)), total));
  const later = filled.map(() => 0);
  let before = 0;
  for (const choice of [...new Set(least)].toSorted((a, b) => b - a)) {
    const alike = sized.flatMap((_, at) => (least[at] === choice ? [at] : []));
    const size = alike.reduce((sum, at) => sum + (sized[at]?.size ?? 0), 0);
    const step = before === 0 ? 0 : Math.min(LATEST, Math.floor(((before + size / 2) / total) * (LATEST + 1)));
    for (const at of alike) later[at] = sized[at]?.group.expander === 'price' ? step : 0;
    before += size;
  }
  return later;
}

/** The share of the node that such pods can use; less of it where there is room for few, since one other pod takes that of a whole one. */
function openTo(constraints: PodClass['constraints'], { group, type }: Filled): number {
  const labels = { ...promisedLabels(type), ...group.labels };
  if (!matchesNode(constraints, labels, '') || untolerated(constraints.tolerations, group.taints) !== null) return 0;
  const shares = Object.entries(constraints.requests).map(
    ([resource, amount]) => amount / (ownValue(type.allocatable, resource) ?? 0),
  );
  const share = Math.max(0, ...shares.filter((each) => each > 0));
  if (share === 0 || share > 1) return Number(share === 0);
  return Math.floor(1 / share) * share * (1 - share);
}

/**
 * Groups in the order in which they are woken, as far as that is in anybody's hands: whoever is woken first asks for its machines first. A group
 * goes by those of its nodes that are filled first.
 */
export function firstFilledFirst<T extends { readonly name: string }>(
  groups: readonly T[],
  newNodes: readonly Pick<NewNodes, 'group' | 'fillLater'>[],
): readonly T[] {
  const later = new Map<string, number>();
  for (const { group, fillLater: own = 0 } of newNodes) later.set(group, Math.min(own, later.get(group) ?? own));
  return groups.toSorted((a, b) => (later.get(a.name) ?? 0) - (later.get(b.name) ?? 0));
}
