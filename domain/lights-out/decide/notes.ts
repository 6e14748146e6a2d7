/** What an observation has to say of the workloads that are left as they are. */
import type { KeepReason } from '../workload/evaluation.ts';

export interface Note {
  /** `workloadName`, or `Namespace team-a`. */
  readonly workload: string;
  readonly reason: KeepReason;
  /** One sentence for people. */
  readonly detail: string;
}

export const NOTES_LIMIT = 50;
/** Which come first where there are too many: what people did is never behind what merely is so. */
const FIRST: readonly KeepReason[] = [
  'ChangedByPerson',
  'MarkLost',
  'MarkDiffers',
  'BadAnnotation',
  'NotApproved',
  'OwnerUnclear',
  'DeletesVolumes',
  'AnnotationsFull',
  'Contested',
  'Grace',
  'OwnedByOther',
];

/** Collects them; every one is counted, whether or not there is more to say of it. */
export class Notes {
  readonly #all: Note[] = [];
  readonly counts: Partial<Record<KeepReason, number>> = {};

  add(workload: string, reason: KeepReason, detail: string | undefined): void {
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
    if (detail !== undefined) this.#all.push({ workload, reason, detail });
  }

  get total(): number {
    return this.#all.length;
  }

  /** In order, as many as fit. */
  get first(): readonly Note[] {
    return this.#all
      .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.workload < b.workload ? -1 : a.workload > b.workload ? 1 : 0))
      .slice(0, NOTES_LIMIT);
  }
}

function rankOf({ reason }: Note): number {
  const rank = FIRST.indexOf(reason);
  return rank === -1 ? FIRST.length : rank;
}
