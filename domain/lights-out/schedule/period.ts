/**
 * When a schedule is up and when it is down, by its two crons and its exceptions. Workflow code may import only the
 * types, because the results depend on the platform's time zones and are recorded by activities.
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

/** The input of a period. */
export type Timing = Pick<ScheduleSpec, 'upscale' | 'downscale' | 'timezone' | 'exceptions'>;

/** A change of state at a moment. `exception` is the reason or the dates of the exception that causes it. */
export interface Transition {
  readonly at: EpochMs;
  readonly state: ScheduleState;
  readonly exception: string | null;
}

export interface Period {
  readonly state: ScheduleState;
  /** When the state began; null when neither cron has ever run. */
  readonly since: EpochMs | null;
  /** The reason or the dates of the exception in force. */
  readonly exception: string | null;
  /** The next change of state; null when there is none within ten years. */
  readonly next: Transition | null;
  /** The next runs of the crons themselves. */
  readonly nextUpscale: EpochMs | null;
  readonly nextDownscale: EpochMs | null;
}

/** How far ahead a change of state is searched for: leap days may be eight years apart. */
const HORIZON_MS = 3653 * DAY_MS;

/** The maximum of changes in one result of `transitions`: one every ten minutes for two weeks. */
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

/** The problems of a schedule's crons, time zone and exceptions; empty when all are valid. */
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
 * The state of a schedule at a moment, when it began and when it ends. An exception on the local day overrides the
 * crons. The state therefore begins where the effective state changed, and not where an exception and the crons agree.
 *
 * The beginning is searched for back to `HISTORY_BEGINS`.
 *
 * @throws {RangeError} for a schedule with `timingProblems`, other than a cron that never runs
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
 * The changes of state after a moment and until `until`, in order, at most the first `MAX_TRANSITIONS`. Runs and
 * exceptions that do not change the state are not included.
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
    // The state lasts while an exception forces it, or while the crons agree with it and no exception can force the
    // other one.
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
