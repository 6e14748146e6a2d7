/**
 * When a schedule is up and when it is down, from the history of its two crons, and from its exceptions. Only code outside of
 * workflows may import more than the types of this: what it says depends on the platform's time zones, and is recorded.
 */
import type { EpochMs } from '../../kernel/time.ts';
import { cronProblem, runAfter, zoneProblem } from './cron.ts';
import {
  type CronPair,
  cronPair,
  cronStateAt,
  cronStateSince,
  HISTORY_BEGINS,
  nextCronChange,
} from './cron-history.ts';
import {
  exceptionProblems,
  type Exceptions,
  forcedAt,
  isCovered,
  nextEdge,
  previousEdge,
  readExceptions,
} from './exceptions.ts';
import { DAY_MS } from './local-day.ts';
import type { ScheduleState } from './names.ts';
import type { ScheduleProblem } from './schedule-problem.ts';
import type { ScheduleSpec } from './schedule.ts';

/** What the period is computed from. */
export type Timing = Pick<ScheduleSpec, 'upscale' | 'downscale' | 'timezone' | 'exceptions'>;

/** A change of state at a moment. `exception` has the reason of the exception that makes it, or its dates. */
export interface Transition {
  readonly at: EpochMs;
  readonly state: ScheduleState;
  readonly exception: string | null;
}

export interface Period {
  readonly state: ScheduleState;
  /** When the state began; null where neither cron has ever fired. */
  readonly since: EpochMs | null;
  /** Of the exception that holds now: its reason, or its dates. */
  readonly exception: string | null;
  /** The next change of state; null when there is none within ten years. */
  readonly next: Transition | null;
  /** The next moments that the crons themselves name. */
  readonly nextUpscale: EpochMs | null;
  readonly nextDownscale: EpochMs | null;
}

/** How far ahead a change of state is looked for: two leap days of a pattern may be eight years apart. */
const HORIZON_MS = 3653 * DAY_MS;

/** The most changes of one answer of `transitions`: one every ten minutes for two weeks. */
export const MAX_TRANSITIONS = 2_016;

interface ReadTiming {
  readonly pair: CronPair;
  readonly exceptions: Exceptions;
}

function read({ upscale, downscale, timezone, exceptions }: Timing): ReadTiming {
  const unknownZone = zoneProblem(timezone);
  if (unknownZone !== null) throw new RangeError(unknownZone);
  return { pair: cronPair(upscale, downscale, timezone), exceptions: readExceptions(exceptions, timezone) };
}

/** What is wrong with the crons, the time zone and the exceptions of a schedule; empty when all of it can be used. */
export function timingProblems({ upscale, downscale, timezone, exceptions }: Timing): readonly ScheduleProblem[] {
  const problems = [
    { field: 'spec.upscale', message: cronProblem(upscale, timezone) },
    { field: 'spec.downscale', message: cronProblem(downscale, timezone) },
    { field: 'spec.timezone', message: zoneProblem(timezone) },
  ];
  return [
    ...problems.flatMap(({ field, message }) => (message === null ? [] : [{ field, message }])),
    ...exceptionProblems(exceptions),
  ];
}

/**
 * The state of a schedule at a moment, when it began and when it ends. The state is the effective one: an exception on the
 * local day, else the crons, so it begins where either of them changed it, and not where one took over from the other.
 *
 * The beginning is looked for back to `HISTORY_BEGINS`.
 *
 * @throws {RangeError} for a schedule of which `timingProblems` finds something wrong, other than that a cron never comes
 */
export function periodAt(timing: Timing, now: EpochMs): Period {
  const { pair, exceptions } = read(timing);
  const at = Math.floor(now / 1000) * 1000;
  const forced = forcedAt(exceptions, at);
  const [next = null] = changes({ pair, exceptions }, at, at + HORIZON_MS);
  return {
    state: forced?.state ?? cronStateAt(pair, at),
    since: effectiveSince({ pair, exceptions }, at),
    exception: forced?.label ?? null,
    next,
    nextUpscale: runAfter(pair.up, pair.zone, at),
    nextDownscale: runAfter(pair.down, pair.zone, at),
  };
}

/**
 * The changes of state after a moment and not after `until`, in order, at most the first `MAX_TRANSITIONS`. A firing that
 * changes nothing is none, and neither is an exception that forces what the crons say anyway.
 *
 * @throws {RangeError} as `periodAt`
 */
export function transitions(timing: Timing, after: EpochMs, until: EpochMs): readonly Transition[] {
  const found: Transition[] = [];
  for (const change of changes(read(timing), after, until)) {
    found.push(change);
    if (found.length === MAX_TRANSITIONS) break;
  }
  return found;
}

function* changes({ pair, exceptions }: ReadTiming, after: EpochMs, until: EpochMs): Generator<Transition, void> {
  const cronChangeAfter = (at: EpochMs) => nextCronChange(pair, byCron, at, until) ?? Infinity;
  let byCron = cronStateAt(pair, after);
  let cronChange = cronChangeAfter(after);
  let forced = forcedAt(exceptions, after);
  let state = forced?.state ?? byCron;
  for (let from = after; ; ) {
    // The state holds as long as an exception forces it, and as long as the crons make it and none may force the other.
    const other = otherThan(state);
    const forcedUntil = forced === null ? from : (nextEdge(exceptions, from) ?? Infinity);
    const isMade = byCron === state && !isCovered(exceptions, from, other);
    const madeUntil = isMade ? Math.min(cronChange, nextEdge(exceptions, from, other) ?? Infinity) : from;
    const at = Math.max(forcedUntil, madeUntil);
    if (at > until) return;
    if (cronChange <= at) {
      byCron = cronChange === at ? otherThan(byCron) : cronStateAt(pair, at);
      cronChange = cronChangeAfter(at);
    }
    forced = forcedAt(exceptions, at);
    from = at;
    const stateNow = forced?.state ?? byCron;
    if (stateNow === state) continue;
    state = stateNow;
    yield { at, state, exception: forced?.label ?? null };
  }
}

function otherThan(state: ScheduleState): ScheduleState {
  return state === 'Up' ? 'Down' : 'Up';
}

function effectiveSince({ pair, exceptions }: ReadTiming, now: EpochMs): EpochMs | null {
  const state = forcedAt(exceptions, now)?.state ?? cronStateAt(pair, now);
  let since: EpochMs | null = null;
  let at = now;
  for (;;) {
    const forced = forcedAt(exceptions, at);
    const byCron = cronStateAt(pair, at);
    if ((forced?.state ?? byCron) !== state) return since;
    // As above, the other way.
    const other = otherThan(state);
    const forcedSince = forced === null ? at : previousEdge(exceptions, at);
    const isMade = byCron === state && !isCovered(exceptions, at, other);
    const madeSince = isMade ? latest(cronStateSince(pair, at), previousEdge(exceptions, at, other)) : at;
    if (forcedSince === null || madeSince === null) return null;
    since = Math.min(forcedSince, madeSince);
    if (since <= HISTORY_BEGINS) return since;
    at = since - 1;
  }
}

function latest(a: EpochMs | null, b: EpochMs | null): EpochMs | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
