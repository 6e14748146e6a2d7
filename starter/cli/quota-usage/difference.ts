/** Where the status of quotas says something else than is true. */
import { setTimeout } from 'node:timers/promises';
import { formatQuantity, isSameAmount, quantityOrNull, subtractQuantities } from '../../../domain/kernel/quantity.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import type { Unmeasured } from '../../../domain/quota-usage/calculate.ts';

/** One number of a quota's status that is not true. */
export interface Difference {
  /** The list of the status that it stands in. Admission goes by both. */
  readonly field: 'used' | 'hard';
  readonly resource: string;
  /** The number of the status; null where it has none. */
  readonly shown: string | null;
  /** What was counted; of `hard` what the spec says, null where it says nothing. */
  readonly counted: string | null;
  /** What the status says beyond that, negative where it says less; null where one of them is. */
  readonly difference: string | null;
}

/** One look at a quota: what its status says, and what was counted. */
export interface CountSnapshot {
  readonly namespace: string;
  readonly quota: string;
  readonly uid: string;
  readonly hard: ResourceList;
  readonly status: { readonly hard: ResourceList; readonly used: ResourceList };
  /** Every limit that could be counted. */
  readonly counted: ResourceList;
  readonly unmeasured: readonly Unmeasured[];
}

export interface QuotaDifferences {
  readonly namespace: string;
  readonly quota: string;
  readonly uid: string;
  readonly differences: readonly Difference[];
}

/** What was found: what is wrong, and what could not be told. */
export interface Confirmed {
  readonly wrong: readonly QuotaDifferences[];
  /** Quotas that went on changing, so that what is wrong could not be told from what is late. */
  readonly restless: readonly QuotaDifferences[];
}

export function differencesOf({ hard, status, counted }: CountSnapshot): readonly Difference[] {
  const limits = [...new Set([...Object.keys(hard), ...Object.keys(status.hard)])].toSorted();
  return [
    ...limits.flatMap((resource) => compare('hard', resource, status.hard[resource], hard[resource])),
    ...Object.keys(counted)
      .toSorted()
      .flatMap((resource) => compare('used', resource, status.used[resource], counted[resource])),
  ];
}

function compare(
  field: Difference['field'],
  resource: string,
  shown: string | undefined,
  counted: string | undefined,
): readonly Difference[] {
  if (shown !== undefined && counted !== undefined && isSameAmount(shown, counted)) return [];
  const [amount, truth] = [quantityOrNull(shown ?? ''), quantityOrNull(counted ?? '')];
  const difference = amount === null || truth === null ? null : formatQuantity(subtractQuantities(amount, truth));
  return [{ field, resource, shown: shown ?? null, counted: counted ?? null, difference }];
}

/** When to look again, in milliseconds. */
export interface Patience {
  readonly everyMs: number;
  /** A difference that persisted for so long is wrong and not late. */
  readonly stillForMs: number;
  /** After so long, differences that keep changing are given up. */
  readonly atMostMs: number;
}

export const patience: Patience = { everyMs: 500, stillForMs: 2000, atMostMs: 30_000 };

interface Watched {
  readonly snapshot: CountSnapshot;
  readonly difference: Difference;
  readonly since: number;
}

/**
 * Checks every quota with a difference again until each difference is gone or persisted: a pod is charged some moments
 * before it is listed, and is still charged some moments after it was deleted.
 *
 * @param first the result of the first check. @param again checks these quotas once more; a quota that is gone is
 *   omitted.
 */
export async function confirm(
  first: readonly CountSnapshot[],
  again: (snapshots: readonly CountSnapshot[]) => Promise<readonly CountSnapshot[]>,
  { everyMs, stillForMs, atMostMs }: Patience = patience,
  clock: { now(): number; sleep(ms: number): Promise<unknown> } = { now: () => performance.now(), sleep: setTimeout },
): Promise<Confirmed> {
  const began = clock.now();
  let watched = watch(first, new Map(), began);
  const restless = (): readonly Watched[] =>
    [...watched.values()].filter(({ since }) => clock.now() - since < stillForMs);
  while (restless().length > 0 && clock.now() - began < atMostMs) {
    await clock.sleep(everyMs);
    const snapshots = new Set([...watched.values()].map(({ snapshot }) => snapshot));
    watched = watch(await again([...snapshots]), watched, clock.now());
  }
  const late = new Set(restless());
  return {
    wrong: byQuota([...watched.values()].filter((entry) => !late.has(entry))),
    restless: byQuota([...late]),
  };
}

/** What is different now, and since when it is the same difference. */
function watch(
  snapshots: readonly CountSnapshot[],
  before: ReadonlyMap<string, Watched>,
  now: number,
): ReadonlyMap<string, Watched> {
  return new Map(
    snapshots.flatMap((snapshot) =>
      differencesOf(snapshot).map((difference): [string, Watched] => {
        const key = `${snapshot.uid} ${difference.field} ${difference.resource}`;
        const previous = before.get(key);
        const isSame = JSON.stringify(previous?.difference) === JSON.stringify(difference);
        return [key, { snapshot, difference, since: isSame && previous !== undefined ? previous.since : now }];
      }),
    ),
  );
}

function byQuota(watched: readonly Watched[]): readonly QuotaDifferences[] {
  const grouped = Map.groupBy(watched, ({ snapshot }) => snapshot.uid);
  return [...grouped.values()]
    .flatMap((same): QuotaDifferences[] => {
      const [first] = same;
      if (first === undefined) return [];
      const { namespace, quota, uid } = first.snapshot;
      return [{ namespace, quota, uid, differences: same.map(({ difference }) => difference) }];
    })
    .toSorted((a, b) => (`${a.namespace}/${a.quota}` < `${b.namespace}/${b.quota}` ? -1 : 1));
}
