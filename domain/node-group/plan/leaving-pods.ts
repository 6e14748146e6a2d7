/** Pods of nodes that leave: they will need places elsewhere, on which nobody else may count. */
import { podsToEvict } from '../drain/pods-to-evict.ts';
import type { Pod } from '../model/pod.ts';
import { hardestFirst } from '../scheduling/hardest-first.ts';
import type { PodClass } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import { pour } from '../scheduling/pour.ts';

/**
 * Pods on nodes that leave in whose place others will want room: those that are to be evicted, and of those that end already the ones whose
 * successor does not exist yet, as a StatefulSet makes it only when they are gone. That may take their whole grace period.
 */
export function podsToCome(pods: readonly Pod[]): readonly Pod[] {
  return podsToEvict(pods).filter(({ deletesAt, owner }) => deletesAt === null || owner?.kind === 'StatefulSet');
}

/** Places them on what is there and what comes, as far as they fit. */
export function placeLeaving(packing: Packing, pods: readonly Pod[]): void {
  const counts = new Map<PodClass, number>();
  for (const pod of pods) {
    const of = packing.classOf(pod);
    counts.set(of, (counts.get(of) ?? 0) + 1);
  }
  for (const [of, count] of [...counts].toSorted(([a], [b]) => hardestFirst(a, b))) {
    pour(packing, of, count, packing.slots);
  }
}
