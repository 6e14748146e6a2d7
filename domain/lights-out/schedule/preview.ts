/** What a schedule will do between two moments: its changes of state, their durations, and clock changes. */
import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import { type Exceptions, forcedAt, nextEdge, readExceptions } from './exceptions.ts';
import { offsetAt } from './local-day.ts';
import { MAX_TRANSITIONS, type Period, periodAt, type Timing, type Transition, transitions } from './period.ts';

/** A clock change of a zone: from `at` on it has another offset. Offsets are minutes east of UTC. */
export interface ClockChange {
  readonly at: EpochMs;
  readonly before: number;
  readonly after: number;
}

/** A period of time in one state. */
interface PreviewRow extends Transition {
  /** `at` in the schedule's zone: `2026-03-29T07:00:00+02:00`. */
  readonly local: string;
  /**
   * Milliseconds until the next change, even after the end of the preview; null when there is none within ten years.
   */
  readonly lasts: number | null;
  /**
   * All exceptions in force during the row: an exception that agrees with the state begins no row but may delay the
   * next.
   */
  readonly exceptions: readonly string[];
  /** Clock changes since the previous row. */
  readonly clockChanges: readonly ClockChange[];
}

export interface Preview {
  readonly from: EpochMs;
  /** As requested, or the last included change if there were more than the maximum. */
  readonly until: EpochMs;
  readonly isCut: boolean;
  /** The period at `from`, and the exceptions in force from then on. */
  readonly period: Period;
  readonly exceptions: readonly string[];
  /** Changes of state after `from` and before `until`. */
  readonly rows: readonly PreviewRow[];
  /** After the last row. */
  readonly clockChanges: readonly ClockChange[];
  /** Milliseconds of the preview in state Down, and their share from 0 to 1. */
  readonly down: number;
  readonly downShare: number;
}

/** A workflow must not call it, because it reads the platform's time zones. `from` must be before `to`. */
export function previewOf(timing: Timing, from: EpochMs, to: EpochMs): Preview {
  const zone = timing.timezone;
  const period = periodAt(timing, from);
  const found = transitions(timing, from, to);
  const isCut = found.length >= MAX_TRANSITIONS;
  const until = isCut ? (found.at(-1)?.at ?? to) : to;
  const changes = found.filter(({ at }) => at < until);
  const last = changes.at(-1);
  const after = last === undefined ? null : (periodAt(timing, last.at).next?.at ?? null);
  const clocks = clockChanges(zone, from, until);
  const between = (begin: EpochMs, end: EpochMs) => clocks.filter(({ at }) => at > begin && at <= end);
  const exceptions = readExceptions(timing.exceptions, zone);
  const rows = changes.map((change, index): PreviewRow => {
    const next = changes[index + 1]?.at ?? after;
    return {
      ...change,
      local: localTime(change.at, minutesEast(zone, change.at)),
      lasts: next === null ? null : next - change.at,
      exceptions: exceptionsIn(exceptions, change.at, next ?? until),
      clockChanges: between(changes[index - 1]?.at ?? from, change.at),
    };
  });
  const down = downTime([{ state: period.state, at: from }, ...changes], until);
  return {
    from,
    until,
    isCut,
    period,
    exceptions: exceptionsIn(exceptions, from, changes[0]?.at ?? until),
    rows,
    clockChanges: between(last?.at ?? from, until),
    down,
    downShare: down / (until - from),
  };
}

/** The labels of the exceptions in force between two moments, without repetitions. */
function exceptionsIn(exceptions: Exceptions, from: EpochMs, until: EpochMs): readonly string[] {
  const labels = new Set<string>();
  for (let at: EpochMs | null = from; at !== null && at < until; at = nextEdge(exceptions, at)) {
    const forced = forcedAt(exceptions, at);
    if (forced !== null) labels.add(forced.label);
  }
  return [...labels];
}

function downTime(changes: readonly Pick<Transition, 'state' | 'at'>[], until: EpochMs): number {
  return changes.reduce((sum, { state, at }, index) => {
    const end = changes[index + 1]?.at ?? until;
    return state === 'Down' ? sum + end - at : sum;
  }, 0);
}

/** Search step: no zone changes its clocks twice within a day. */
const STEP_MS = 86_400_000;

/** All clock changes of a zone after `from` and until `until`. */
function clockChanges(zone: string, from: EpochMs, until: EpochMs): readonly ClockChange[] {
  const changes: ClockChange[] = [];
  let [start, before] = [from, minutesEast(zone, from)];
  while (start < until) {
    const end = Math.min(start + STEP_MS, until);
    const after = minutesEast(zone, end);
    if (after !== before) changes.push({ at: firstWith(zone, after, start, end), before, after });
    [start, before] = [end, after];
  }
  return changes;
}

/** The first minute after `start` with the offset that `end` has: zones change at whole minutes. */
function firstWith(zone: string, offset: number, start: EpochMs, end: EpochMs): EpochMs {
  let low = Math.floor(start / MINUTE_MS);
  let high = Math.ceil(end / MINUTE_MS);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (minutesEast(zone, middle * MINUTE_MS) === offset) high = middle;
    else low = middle;
  }
  return high * MINUTE_MS;
}

function minutesEast(zone: string, at: EpochMs): number {
  return offsetAt(zone, at) / MINUTE_MS;
}

function localTime(at: EpochMs, offset: number): string {
  return `${new Date(at + offset * MINUTE_MS).toISOString().slice(0, 19)}${formatOffset(offset)}`;
}

/** `+02:00` for minutes east of UTC. */
export function formatOffset(offset: number): string {
  const two = (amount: number): string => String(Math.floor(amount)).padStart(2, '0');
  const size = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}
