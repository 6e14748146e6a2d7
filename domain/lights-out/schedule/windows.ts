/**
 * The periods of a schedule with windows: it is down while its own patterns or those of a window say so, and the least that
 * is in force is kept. Workflow code must not import this module, because it reads the platform's time zones.
 */
import { DAY_MS } from '../../kernel/day.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  type CronPair,
  cronPair,
  cronStateAt,
  cronStateSince,
  HISTORY_BEGINS,
  nextCronChange,
} from './cron-history.ts';
import { type Exceptions, forcedAt, nextEdge, previousEdge } from './exceptions.ts';
import { leastOf, type Level } from './level.ts';
import type { ScheduleState } from './names.ts';
import type { ScheduleSpec, ScheduleWindow } from './schedule.ts';

interface PatternsWithLevel {
  readonly pair: CronPair;
  readonly level: Level;
}

export interface Windows {
  /** The schedule's own first. */
  readonly all: readonly [PatternsWithLevel, ...PatternsWithLevel[]];
  readonly exceptions: Exceptions;
  /** The schedule, where these are somebody's own times, and what they may do beside it. Absent: they are the schedule's. */
  readonly beside?: { readonly schedule: Windows; readonly ownTimes: 'wakeLonger' | 'sleepLonger' };
}

/** Somebody's own patterns; without a time zone they are of the schedule's. */
export interface OwnPatterns extends Pick<ScheduleSpec, 'upscale' | 'downscale' | 'ownTimes'> {
  readonly timezone?: string;
}

/** What holds at a moment. */
export interface StateWithLevel {
  readonly state: ScheduleState;
  readonly exception: string | null;
  /** Absent while up. */
  readonly level?: Level;
}

/** Moments in a row at which nothing changes after all; each costs a millisecond. What comes later is found on a later day. */
const MOST_STEPS = 400;
/** The same for somebody's own times beside the schedule, of which there may be many. */
const MOST_STEPS_BESIDE = 50;
/** What has held for longer counts as begun when history does: a schedule may be down for ever, at one level or another. */
const LONGEST_MS = 30 * DAY_MS;

/** @throws {RangeError} for patterns with problems. */
export function readWindows(
  own: PatternsWithLevel,
  windows: readonly ScheduleWindow[],
  exceptions: Exceptions,
): Windows {
  const { zone } = own.pair;
  const others = windows.map((window) => ({
    pair: cronPair(window.upscale, window.downscale, zone),
    level: levelOf(window),
  }));
  return { all: [own, ...others], exceptions };
}

/** Somebody's own times, beside the schedule. @throws {RangeError} for patterns with problems. */
export function windowsOf({ upscale, downscale, timezone, ownTimes }: OwnPatterns, schedule: Windows): Windows {
  if (ownTimes === 'ignore') return schedule;
  const [{ pair, level }] = schedule.all;
  const own = { pair: cronPair(upscale, downscale, timezone ?? pair.zone), level };
  const { exceptions } = schedule;
  return { all: [own], exceptions, ...(ownTimes === 'any' ? {} : { beside: { schedule, ownTimes } }) };
}

function levelOf({ replicas, percent }: ScheduleWindow): Level {
  const isNothing = replicas === 0 || percent === 0;
  return {
    ...(replicas === undefined ? {} : { replicas }),
    ...(percent === undefined ? {} : { percent }),
    ofWindow: true,
    ...(isNothing ? {} : { runsCronJobs: true }),
  };
}

export function stateAt(windows: Windows, at: EpochMs): StateWithLevel {
  const own = ownStateAt(windows, at);
  if (windows.beside === undefined) return own;
  const { schedule, ownTimes } = windows.beside;
  const its = stateAt(schedule, at);
  if (own.state === 'Up' && its.state === 'Up') return own;
  if (own.state === its.state) {
    // Who may only wake longer keeps no less than the schedule does.
    return ownTimes === 'wakeLonger' ? its : { ...own, level: leastOf([own.level ?? {}, its.level ?? {}]) };
  }
  return (own.state === 'Up') === (ownTimes === 'wakeLonger') ? own : its;
}

function ownStateAt({ all, exceptions }: Windows, at: EpochMs): StateWithLevel {
  const forced = forcedAt(exceptions, at);
  if (forced !== null) {
    const { state, label: exception } = forced;
    // A day off is like the schedule's own nights.
    return state === 'Up' ? { state, exception } : { state, exception, level: leastOf([all[0].level]) };
  }
  const down = all.filter(({ pair }) => cronStateAt(pair, at) === 'Down');
  if (down.length === 0) return { state: 'Up', exception: null };
  return { state: 'Down', exception: null, level: leastOf(down.map(({ level }) => level)) };
}

function isSameState(a: StateWithLevel, b: StateWithLevel): boolean {
  return a.state === b.state && isSameLevel(a.level, b.level);
}

function isSameLevel(a: Level = {}, b: Level = {}): boolean {
  return (['replicas', 'percent', 'ofWindow', 'runsCronJobs'] as const).every((part) => a[part] === b[part]);
}

/** What changes after a moment and until another; of patterns that change without an effect, not all are followed. */
export function* stateChanges(
  windows: Windows,
  after: EpochMs,
  until: EpochMs,
): Generator<StateWithLevel & { readonly at: EpochMs }, void> {
  let now = stateAt(windows, after);
  let idle = 0;
  for (let at = nextCandidate(windows, after, until); at <= until && idle < mostSteps(windows); idle += 1) {
    const next = stateAt(windows, at);
    if (!isSameState(now, next)) {
      yield { ...next, at };
      idle = 0;
    }
    now = next;
    at = nextCandidate(windows, at, until);
  }
}

/** All patterns that have a say. */
function pairsOf({ all, beside }: Windows): readonly PatternsWithLevel[] {
  return beside === undefined ? all : [...all, ...beside.schedule.all];
}

function mostSteps({ beside }: Windows): number {
  return beside === undefined ? MOST_STEPS : MOST_STEPS_BESIDE;
}

function nextCandidate(windows: Windows, after: EpochMs, until: EpochMs): EpochMs {
  const edge = nextEdge(windows.exceptions, after) ?? Infinity;
  // What is forced does not depend on patterns.
  if (forcedAt(windows.exceptions, after) !== null) return edge;
  const changes = pairsOf(windows).map(
    ({ pair }) => nextCronChange(pair, cronStateAt(pair, after), after, until) ?? Infinity,
  );
  return Math.min(...changes, edge);
}

/** Since when the state at a moment has held, and since when its level; null when no pattern has ever run. */
export function stateSince(
  windows: Windows,
  now: EpochMs,
): { readonly since: EpochMs | null; readonly levelSince: EpochMs | null } {
  const present = stateAt(windows, now);
  let levelSince: EpochMs | null = null;
  for (let [at, steps] = [now, 0]; ; steps += 1) {
    const begin = previousCandidate(windows, at);
    if (begin === null) return { since: null, levelSince };
    if (begin < now - LONGEST_MS || steps === mostSteps(windows))
      return { since: HISTORY_BEGINS, levelSince: levelSince ?? HISTORY_BEGINS };
    const before = stateAt(windows, begin - 1);
    if (!isSameState(before, present)) levelSince ??= begin;
    if (before.state !== present.state) return { since: begin, levelSince: levelSince ?? begin };
    at = begin - 1;
  }
}

function previousCandidate(windows: Windows, at: EpochMs): EpochMs | null {
  const edge = previousEdge(windows.exceptions, at);
  if (forcedAt(windows.exceptions, at) !== null) return edge;
  const begins = [...pairsOf(windows).map(({ pair }) => cronStateSince(pair, at)), edge].filter(
    (begin) => begin !== null,
  );
  return begins.length === 0 ? null : Math.max(...begins);
}
