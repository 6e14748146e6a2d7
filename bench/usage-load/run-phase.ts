import { setTimeout as sleep } from 'node:timers/promises';
import { type Distribution, distributionOf } from './percentiles.ts';
import { type Change, chargedByAdmission, type OperationKind, type Phase } from './plan.ts';
import type { Side } from './side.ts';

/** How the changes of a phase went to a cluster. */
export interface Making {
  /** Changes a second that were answered, from the first one due to the last answer. */
  readonly rate: number;
  /** Milliseconds that changes were begun after they were due: the earlier one of the namespace was not answered yet, or this program was late. */
  readonly late: Distribution | null;
  readonly failed: number;
  /** The error of the first change that failed. */
  readonly failure?: string;
}

/** Milliseconds from the answer to a change to a status that is true for it. */
export interface Lags {
  /** Of what lowers the usage: this is the controllers' work. */
  readonly controllers: Distribution | null;
  /** Of what raises it: admission charges it beforehand, and the status is true at once unless others' changes are not counted yet. */
  readonly admission: Distribution | null;
  readonly byKind: Readonly<Partial<Record<OperationKind, Distribution>>>;
  /** Changes after which no status was true until the end of the run. */
  readonly never: number;
}

/** Makes the changes of a phase on all clusters at once, each at its time whether or not the earlier ones are answered. */
export async function makeChanges(sides: readonly Side[], { changes }: Phase): Promise<ReadonlyMap<Side, Making>> {
  const started = performance.now();
  const made = new Map(
    sides.map((side) => [side, { late: [] as number[], endedAt: started, failures: [] as unknown[] }]),
  );
  const underWay: Promise<void>[] = [];
  for (const change of changes) {
    const wait = started + change.dueMs - performance.now();
    if (wait > 0) await sleep(wait);
    for (const side of sides) {
      const kept = made.get(side);
      if (kept === undefined) continue;
      const done = side.make(change).then(
        ({ begunAt }) => {
          kept.late.push(begunAt - started - change.dueMs);
          kept.endedAt = performance.now();
        },
        (error: unknown) => {
          kept.failures.push(error);
        },
      );
      underWay.push(done);
    }
  }
  await Promise.all(underWay);
  return new Map(
    [...made].map(([side, { late, endedAt, failures }]) => [
      side,
      {
        rate: (late.length * 1000) / (endedAt - started),
        late: distributionOf(late),
        failed: failures.length,
        ...(failures.length === 0 ? {} : { failure: String(failures[0]) }),
      },
    ]),
  );
}

/** The lags of the changes of a phase, as far as they are known. */
export function lagsOf({ book }: Pick<Side, 'book'>, changes: readonly Change[]): Lags {
  const existing = changes.flatMap(({ change, operation: { kind } }) => {
    const lag = book.lagOf(change);
    return lag === undefined ? [] : [{ kind, lag }];
  });
  const of = (isWanted: (kind: OperationKind) => boolean): Distribution | null =>
    distributionOf(existing.filter(({ kind }) => isWanted(kind)).map(({ lag }) => lag));
  const kinds = [...new Set(existing.map(({ kind }) => kind))].toSorted();
  return {
    controllers: of((kind) => !chargedByAdmission.has(kind)),
    admission: of((kind) => chargedByAdmission.has(kind)),
    byKind: Object.fromEntries(kinds.map((name) => [name, of((kind) => kind === name)])),
    never: changes.length - existing.length,
  };
}
