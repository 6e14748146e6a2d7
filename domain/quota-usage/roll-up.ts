/** What the owner of a cluster's quota statuses has written, minute by minute, for people. */
import { listText } from '../kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../kernel/time.ts';

/** The writes of one minute. JSON only. */
export interface WrittenMinute {
  /** When it began. */
  readonly at: EpochMs;
  readonly writes: number;
  /** Writes by namespace, of those with the most; `writes` has all. */
  readonly namespaces: Readonly<Record<string, number>>;
  /** The longest time from a change to the status that knows it, with the quota as `<namespace>/<quota>`. */
  readonly worst: { readonly lagMs: number; readonly quota: string };
}

/** The writes of a run of the roll-up, bounded. JSON only. */
export interface RollUp {
  readonly version: 1;
  readonly writes: number;
  /** The last ones with writes, the oldest first. */
  readonly minutes: readonly WrittenMinute[];
}

export const emptyRollUp: RollUp = { version: 1, writes: 0, minutes: [] };

/** A minute names so many namespaces. */
const NAMESPACES = 20;
/** So many minutes are kept, and so many of them are shown one by one. */
const MINUTES = 60;
const SHOWN_MINUTES = 10;

/** Adds a write to the minute that has begun. */
export function noteWrite(
  minute: WrittenMinute | null,
  { namespace, quota, lagMs, at }: { namespace: string; quota: string; lagMs: number; at: EpochMs },
): WrittenMinute {
  const { writes = 0, namespaces = {}, worst = null } = minute ?? {};
  return {
    at: minute?.at ?? at,
    writes: writes + 1,
    namespaces: { ...namespaces, [namespace]: (namespaces[namespace] ?? 0) + 1 },
    worst: worst === null || lagMs > worst.lagMs ? { lagMs, quota: `${namespace}/${quota}` } : worst,
  };
}

/** The minute with the namespaces that have the most writes only. */
export function boundedMinute(minute: WrittenMinute): WrittenMinute {
  return { ...minute, namespaces: Object.fromEntries(most(minute.namespaces, NAMESPACES)) };
}

export function addMinutes(rollUp: RollUp, minutes: readonly WrittenMinute[]): RollUp {
  return {
    ...rollUp,
    writes: rollUp.writes + minutes.reduce((sum, { writes }) => sum + writes, 0),
    minutes: [...rollUp.minutes, ...minutes].slice(-MINUTES),
  };
}

/** The roll-up in words: a sentence, and a line for each of the last minutes and for the busiest namespaces. */
export function rollUpText({ writes, minutes }: RollUp): {
  readonly detail: string;
  readonly facts: readonly string[];
} {
  const namespaces: Record<string, number> = {};
  for (const [namespace, count] of minutes.flatMap((minute) => Object.entries(minute.namespaces))) {
    namespaces[namespace] = (namespaces[namespace] ?? 0) + count;
  }
  const busiest = most(namespaces, SHOWN_MINUTES).map(([namespace, count]) => `${namespace} ${count}`);
  return {
    detail: `The owner has written ${writesText(writes)}. In the last ${minutes.length} minutes with writes ${worstText(minutes)}.`,
    facts: [
      ...(busiest.length === 0 ? [] : [`most in these minutes: ${listText(busiest)}`]),
      ...minutes
        .slice(-SHOWN_MINUTES)
        .toReversed()
        .map((minute) => `${formatInstant(minute.at)}: ${writesText(minute.writes)}, ${worstText([minute])}`),
    ],
  };
}

function writesText(writes: number): string {
  return writes === 1 ? '1 status' : `${writes} statuses`;
}

function worstText(minutes: readonly WrittenMinute[]): string {
  const [worst] = minutes.map((minute) => minute.worst).toSorted((a, b) => b.lagMs - a.lagMs);
  return worst === undefined ? 'none was late' : `the latest was ${worst.lagMs} ms behind (${worst.quota})`;
}

/** The entries with the greatest numbers, the greatest first. */
function most(numbers: Readonly<Record<string, number>>, count: number): readonly (readonly [string, number])[] {
  return Object.entries(numbers)
    .toSorted(([a, left], [b, right]) => right - left || (a < b ? -1 : 1))
    .slice(0, count);
}
