/** Pods of nodes that leave: they will need places elsewhere, on which nobody else may count. */
import type { Pod } from '../model/pod.ts';
import { hardestFirst } from '../scheduling/hardest-first.ts';
import type { PodClass } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import { pour } from '../scheduling/pour.ts';

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
