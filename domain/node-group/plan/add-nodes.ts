/** Adds nodes for pods that found no place: the best offer first, one node at a time, or many alike at once. */
import type { Slot } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import { isSimple } from '../scheduling/pod-class.ts';
import { chancesOf, pour } from '../scheduling/pour.ts';
import { openTo } from './evidence-against.ts';
import { bestOffer, type Trial } from './best-offer.ts';
import { type PlannedNodes, addNode } from './planned-nodes.ts';
import { isTooFull, type Unplaced, UnplacedInOrder } from './unplaced.ts';

/** Adds nodes until nothing that is left is helped by one more. */
export function addNodes(
  plannedNodes: PlannedNodes,
  unplaced: readonly Unplaced[],
  placed: (of: Unplaced, slot: Slot, count: number) => void,
): void {
  const { packing } = plannedNodes;
  let withRoom: readonly Slot[] = packing.slots.slice();
  let waiting = new UnplacedInOrder(unplaced);
  for (;;) {
    waiting = waiting.shortened();
    const best = bestOffer(plannedNodes, waiting);
    if (best === null) return;
    const before = packing.slots.length;
    for (let alike = timesAlike(plannedNodes, best); alike > 0; alike -= 1) {
      const slot = addNode(plannedNodes, best.offer);
      for (const [each, count] of best.taken) put(packing, each, count, [slot], placed);
    }
    // A new node can make room on others for pods that are spread or go with others; small ones fill what is left.
    const fresh = packing.slots.slice(before);
    withRoom = [...withRoom, ...fresh].filter((slot) => !isTooFull(slot, waiting.least[0] ?? []));
    const again = best.offer.group.exclusive ? waiting.works : waiting.tied;
    for (const each of again) {
      if (each.left > 0 && !isSimple(each.work.pods)) retry(packing, each, withRoom, fresh, placed);
    }
  }
}

/** Looks for places on all nodes, or on the new ones alone where nothing has changed for the better on the others. */
export function retry(
  packing: Packing,
  unplaced: Unplaced,
  all: readonly Slot[],
  fresh: readonly Slot[],
  placed: (of: Unplaced, slot: Slot, count: number) => void,
): void {
  const chances = chancesOf(unplaced.work.pods);
  const isSame = unplaced.failed?.every((chance, index) => chance === chances[index]) === true;
  put(packing, unplaced, unplaced.left, isSame ? fresh : all, placed);
  unplaced.failed = chancesOf(unplaced.work.pods);
}

function put(
  packing: Packing,
  unplaced: Unplaced,
  count: number,
  slots: readonly Slot[],
  placed: (of: Unplaced, slot: Slot, count: number) => void,
): void {
  const { pods, against } = unplaced.work;
  pour(packing, pods, count, openTo(slots, against), (slot, here) => {
    unplaced.left -= here;
    placed(unplaced, slot, here);
  });
}

/** Pods that no rule ties to others fill one node after the other in the same way. */
function timesAlike({ rosters, added }: PlannedNodes, { offer, taken }: Trial): number {
  const roster = rosters.find(({ group }) => group === offer.group);
  let times = Math.max(1, (roster?.room ?? 0) - (added.get(offer.group.name) ?? 0));
  for (const [{ work, left }, count] of taken) {
    if (!isSimple(work.pods) || work.pods.countedBy.length > 0) return 1;
    times = Math.min(times, Math.max(1, Math.floor(left / count)));
  }
  return times;
}
