/** Whether the pods of a node would fit the other ones: what scaling down asks. */
import type { FitResult } from './misfit.ts';
import { explainFit } from './explain.ts';
import { hardestFirst } from './hardest-first.ts';
import type { Packing } from './packing.ts';
import type { Placeable } from './pod-class.ts';
import { pour } from './pour.ts';
import type { PodClass, Slot } from './packed.ts';

export type FitElsewhere =
  | { readonly kind: 'fits' }
  | {
      readonly kind: 'unfit';
      /** The pod that fits nowhere, as it was given; null for one that was to go to this node from elsewhere. */
      readonly pod: Placeable | null;
      /** Why the node that was nearest does not take it. */
      readonly why: Extract<FitResult, { kind: 'misfit' }>;
    };

/** The pods that are bound to a node. */
export interface PodsOfNode {
  /** Those that have to be evicted. */
  readonly evicted: readonly Placeable[];
  /** Those that go with the node, such as pods of DaemonSets and mirror pods. */
  readonly goWithNode: readonly Placeable[];
}

/**
 * Takes the node out of the packing, and places what was on it on nodes that exist and are open: the pods that must be evicted,
 * and those that the packing has put there, as they are pending or come from a node that was asked about before. It stays so where
 * all of them fit, so that the next node is asked about with this one gone; otherwise the packing is as it was. What was kept is
 * undone by `packing.rollback(mark)` of a mark that was taken before.
 *
 * Place pending pods in the packing first (`clusterPacking`), then what fits stays fitting together with them. It costs one look
 * at each node for each class of pods: thousands of nodes can be asked about in one pass.
 *
 * @param openTo of these nodes, those that the pods may be counted on; absent: all.
 * @throws Error for a node that the packing does not have.
 */
export function podsFitElsewhere(
  packing: Packing,
  node: string,
  { evicted, goWithNode }: PodsOfNode,
  openTo: (pods: PodClass, slots: readonly Slot[]) => readonly Slot[] = (_, slots) => slots,
): FitElsewhere {
  const slot = packing.slotOf(node);
  if (slot === undefined) throw new Error(`the packing has no node ${node}`);
  const toMove = new Map(slot.pods);
  for (const pod of goWithNode) {
    const pods = packing.classOf(pod);
    toMove.set(pods, (toMove.get(pods) ?? 0) - 1);
  }
  const mark = packing.mark();
  packing.close(slot);
  const open = packing.slots.filter(({ origin, isClosed }) => origin === 'existing' && !isClosed);
  for (const [pods, count] of [...toMove].toSorted(([a], [b]) => hardestFirst(a, b))) {
    if (count <= 0 || pour(packing, pods, count, openTo(pods, open)) === count) continue;
    const why = nearest(packing, pods, openTo(pods, open));
    packing.rollback(mark);
    return { kind: 'unfit', pod: evicted.find((pod) => packing.classOf(pod) === pods) ?? null, why };
  }
  return { kind: 'fits' };
}

/** Of all nodes, the misfit that came closest: one that free resources or other pods decide, before one of labels and taints. */
function nearest(packing: Packing, pods: PodClass, open: readonly Slot[]): Extract<FitResult, { kind: 'misfit' }> {
  if (pods.setAside !== null) return { kind: 'misfit', by: 'TooManyTerms', detail: pods.setAside.why };
  let best: Extract<FitResult, { kind: 'misfit' }> | null = null;
  for (const slot of open) {
    const result = explainFit(packing, pods, slot);
    if (result.kind === 'fits') continue;
    if (best === null || (isOfLabels(best.by) && !isOfLabels(result.by))) best = result;
    if (!isOfLabels(best.by)) break;
  }
  return best ?? { kind: 'misfit', by: 'Resources', detail: 'there is no other node' };
}

function isOfLabels(by: string): boolean {
  return by === 'NodeSelector' || by === 'Taint' || by === 'Cordoned' || by === 'VolumeElsewhere';
}
