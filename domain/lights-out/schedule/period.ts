/**
 * When a schedule is up and when it is down, by its two crons and its exceptions. Workflow code may import only the
 * types, because the results depend on the platform's time zones and are recorded by activities.
 */
import { cronProblem } from '../../kernel/cron.ts';
import { DAY_MS } from '../../kernel/day.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { runAfter, zoneProblem } from './cron-runs.ts';
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
import type { Level } from './level.ts';
import type { ScheduleState } from './names.ts';
import type { ScheduleProblem } from './schedule-problem.ts';
import type { ScheduleSpec } from './schedule.ts';
import {
  type OwnPatterns,
  readWindows,
  stateAt,
  stateChanges,
  stateSince,
  type Windows,
  windowsOf,
} from './windows.ts';

/** The input of a period. */
export type Timing = Pick<ScheduleSpec, 'upscale' | 'downscale' | 'timezone' | 'exceptions'> &
  Partial<Pick<ScheduleSpec, 'windows' | 'downscaleReplicas'>> & {
    /** Patterns that take the place of the schedule's own, within what it allows. */
    readonly own?: OwnPatterns;
  };

/**
 * A change at a moment: of the state, or of what is kept while down. `exception` is the reason or the dates of the exception
 * that causes it.
 */
export interface Transition {
  readonly at: EpochMs;
  readonly state: ScheduleState;
  readonly exception: string | null;
  /** What is kept from then on. Only of a schedule with windows, while down. */
  readonly level?: Level;
}

export interface Period {
  readonly state: ScheduleState;
  /** When the state began; null when neither cron has ever run. */
  readonly since: EpochMs | null;
  /** The reason or the dates of the exception in force. */
  readonly exception: string | null;
  /** What is kept now, and since when. Only of a schedule with windows, while down; any other keeps `downscaleReplicas`. */
  readonly level?: Level & { readonly since: EpochMs | null };
  /** The next change; null when there is none within ten years. */
  readonly next: Transition | null;
  /** The next runs of the crons themselves. */
  readonly nextUpscale: EpochMs | null;
  readonly nextDownscale: EpochMs | null;
}

/** How far ahead a change of state is searched for: leap days may be eight years apart. */
const HORIZON_MS = 3653 * DAY_MS;

/** The maximum of changes in one result of `transitions`: ten a day for a year. */
export const MAX_TRANSITIONS = 3_660;

interface ReadTiming {
  readonly pair: CronPair;
  readonly exceptions: Exceptions;
  /** Null for a schedule without windows. */
  readonly windows: Windows | null;
}

function read({
  upscale,
  downscale,
  timezone,
  exceptions: written,
  windows = [],
  downscaleReplicas,
  own,
}: Timing): ReadTiming {
  const unknownZone = zoneProblem(timezone);
  if (unknownZone !== null) throw new RangeError(unknownZone);
  const [pair, exceptions] = [cronPair(upscale, downscale, timezone), readExceptions(written, timezone)];
  if (windows.length === 0 && own === undefined) return { pair, exceptions, windows: null };
  const level = { replicas: downscaleReplicas ?? 0 };
  const schedule = readWindows({ pair, level }, windows, exceptions);
  return { pair, exceptions, windows: own === undefined ? schedule : windowsOf(own, schedule) };
}

/** The problems of a schedule's crons, time zone and exceptions; empty when all are valid. */
export function timingProblems({
  upscale,
  downscale,
  timezone,
  exceptions,
  windows = [],
}: Timing): readonly ScheduleProblem[] {
  const problems = [
    { field: 'spec.upscale', message: cronProblem(upscale) },
    { field: 'spec.downscale', message: cronProblem(downscale) },
    { field: 'spec.timezone', message: zoneProblem(timezone) },
    ...windows.flatMap((window, index) =>
      (['upscale', 'downscale'] as const).map((pattern) => ({
        field: `spec.windows[${index}].${pattern}`,
        message: cronProblem(window[pattern]),
      })),
    ),
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
  const { pair, exceptions, windows } = read(timing);
  const at = Math.floor(now / 1000) * 1000;
  const runs = {
    nextUpscale: runAfter(pair.up, pair.zone, at),
    nextDownscale: runAfter(pair.down, pair.zone, at),
  };
  if (windows !== null) return { ...windowedPeriodAt(windows, at), ...runs };
  const forced = forcedAt(exceptions, at);
  const [next = null] = changes({ pair, exceptions }, at, at + HORIZON_MS);
  return {
    state: forced?.state ?? cronStateAt(pair, at),
    since: effectiveSince({ pair, exceptions }, at),
    exception: forced?.label ?? null,
    next,
    ...runs,
  };
}

function windowedPeriodAt(windows: Windows, at: EpochMs): Omit<Period, 'nextUpscale' | 'nextDownscale'> {
  const { state, exception, level } = stateAt(windows, at);
  const { since, levelSince } = stateSince(windows, at);
  const [next = null] = stateChanges(windows, at, at + HORIZON_MS);
  return { state, since, exception, next, ...(level === undefined ? {} : { level: { ...level, since: levelSince } }) };
}

/**
 * The changes of state after a moment and until `until`, in order, at most the first `MAX_TRANSITIONS`. Runs and
 * exceptions that do not change the state are not included.
 *
 * @throws {RangeError} as `periodAt`
 */
export function transitions(timing: Timing, after: EpochMs, until: EpochMs): readonly Transition[] {
  const found: Transition[] = [];
  const timings = read(timing);
  const { windows } = timings;
  for (const change of windows === null ? changes(timings, after, until) : stateChanges(windows, after, until)) {
    found.push(change);
    if (found.length === MAX_TRANSITIONS) break;
  }
  return found;
}

function* changes(
  { pair, exceptions }: Pick<ReadTiming, 'pair' | 'exceptions'>,
  after: EpochMs,
  until: EpochMs,
): Generator<Transition, void> {
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

function effectiveSince({ pair, exceptions }: Pick<ReadTiming, 'pair' | 'exceptions'>, now: EpochMs): EpochMs | null {
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
