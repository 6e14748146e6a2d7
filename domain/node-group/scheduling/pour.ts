import { canChange } from './misfit.ts';
import type { Packing } from './packing.ts';
import type { PodClass } from './packed.ts';
import { isSimple } from './pod-class.ts';
import { leastOf } from './rules.ts';
import type { Slot } from './packed.ts';

/**
 * What pods that come to nodes can change for the better for these: as long as it is the same, a node that none of them fitted takes
 * none of them later. For each spread constraint the least that a domain has, which only ever makes room as it rises; for each of the
 * affinity's topologies how many pods it is for.
 */
export function chancesOf({ spread, affinity }: PodClass): readonly number[] {
  if (spread.length === 0 && affinity === null) return [];
  return [
    ...spread.map(({ constraint, tally }) => leastOf(constraint, tally)),
    ...(affinity?.tallies.map(({ total }) => total) ?? []),
  ];
}

/**
 * Places so many pods of a class on the nodes, the first node that fits first, and answers how many found a place. Pods that are
 * spread go where the fewest of them are.
 */
export function pour(
  packing: Packing,
  pods: PodClass,
  count: number,
  slots: readonly Slot[],
  placed?: (slot: Slot, count: number) => void,
): number {
  return isSimple(pods) || (pods.spread.length === 0 && pods.affinity === null)
    ? pourOnce(packing, pods, count, slots, placed)
    : pourEvenly(packing, pods, count, slots, placed);
}

/** Tries each node once, for pods that a node which they do not fit now will not fit later either. */
function pourOnce(
  packing: Packing,
  pods: PodClass,
  count: number,
  slots: readonly Slot[],
  placed: ((slot: Slot, count: number) => void) | undefined,
): number {
  let left = count;
  for (const slot of slots) {
    if (left === 0) break;
    if (slot.isClosed) continue;
    let here = 0;
    while (here < left && packing.misfit(pods, slot) === null) {
      packing.place(pods, slot);
      here += 1;
    }
    if (here > 0) placed?.(slot, here);
    left -= here;
  }
  return count - left;
}

/** Tries the nodes that are left anew for each pod, because a placed pod may make room for the next one. */
function pourEvenly(
  packing: Packing,
  pods: PodClass,
  count: number,
  slots: readonly Slot[],
  placed: ((slot: Slot, count: number) => void) | undefined,
): number {
  let candidates = slots.filter(({ isClosed }) => !isClosed);
  for (let done = 0; done < count; done += 1) {
    const { best, full } = emptiest(packing, pods, candidates);
    if (full.size > 0) candidates = candidates.filter((slot) => !full.has(slot));
    if (best === null) return done;
    packing.place(pods, best);
    placed?.(best, 1);
  }
  return count;
}

/** The first node in the domain with the fewest pods of the first spread constraint, and those that are of no use any more. */
function emptiest(
  packing: Packing,
  pods: PodClass,
  candidates: readonly Slot[],
): { readonly best: Slot | null; readonly full: ReadonlySet<Slot> } {
  const full = new Set<Slot>();
  const tally = pods.spread[0]?.tally;
  let best: Slot | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const slot of candidates) {
    const misfit = packing.misfit(pods, slot);
    if (misfit !== null) {
      if (!canChange(misfit)) full.add(slot);
      continue;
    }
    const here = tally?.at(slot) ?? 0;
    if (here < fewest) {
      best = slot;
      fewest = here;
    }
    if (tally === undefined || here <= tally.least) break;
  }
  return { best, full };
}
