/** Whether the pods of a node would fit the other ones: what scaling down asks. */
import type { FitResult } from './misfit.ts';
import { explainFit } from './explain.ts';
import type { Packing } from './packing.ts';
import type { Placeable } from './pod-class.ts';
import { pour } from './pour.ts';
import type { Slot } from './slot.ts';

export type FitElsewhere =
  | { readonly kind: 'fits' }
  | {
      readonly kind: 'unfit';
      /** The pod that fits nowhere, as it was given. */
      readonly pod: Placeable;
      /** Why the node that was nearest does not take it. */
      readonly why: Extract<FitResult, { kind: 'misfit' }>;
    };

/**
 * Takes the node out of the packing with everything on it, and places the pods that must be evicted on nodes that exist and are
 * open. It stays so where all of them fit, so that the next node is asked about with this one gone; otherwise the packing is as it
 * was. What was kept is undone by `packing.rollback(mark)` of a mark that was taken before.
 *
 * Place pending pods in the packing first (`clusterPacking`), then what fits stays fitting together with them. It costs one look
 * at each node for each class of pods: thousands of nodes can be asked about in one pass.
 *
 * @param mustMove pods of the node that have to be evicted; those of DaemonSets and mirror pods go with the node.
 */
export function podsFitElsewhere(packing: Packing, node: string, mustMove: readonly Placeable[]): FitElsewhere {
  const slot = packing.slotOf(node);
  if (slot === undefined) throw new Error(`the packing has no node ${node}`);
  const mark = packing.mark();
  packing.close(slot);
  const open = packing.slots.filter(({ origin, isClosed }) => origin === 'existing' && !isClosed);
  for (const pod of mustMove) {
    const pods = packing.classOf({ ...pod, deletesAt: null });
    if (pour(packing, pods, 1, open) === 1) continue;
    const why = nearest(packing, pod, open);
    packing.rollback(mark);
    return { kind: 'unfit', pod, why };
  }
  return { kind: 'fits' };
}

/** Of all nodes, the misfit that came closest: one that free resources or other pods decide, before one of labels and taints. */
function nearest(packing: Packing, pod: Placeable, open: readonly Slot[]): Extract<FitResult, { kind: 'misfit' }> {
  const pods = packing.classOf({ ...pod, deletesAt: null });
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
