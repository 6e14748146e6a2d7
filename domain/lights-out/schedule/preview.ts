/** What a schedule would do from one moment to another: its changes of state, how long each holds, and where clocks change. */
import type { EpochMs } from '../../kernel/time.ts';
import { type Exceptions, forcedAt, nextEdge, readExceptions } from './exceptions.ts';
import { offsetAt } from './local-day.ts';
import { MAX_TRANSITIONS, type Period, periodAt, type Timing, type Transition, transitions } from './period.ts';

/** Clocks of a zone go forward or back: from `at` on, the offset is another one. Offsets are minutes east of UTC. */
export interface ClockChange {
  readonly at: EpochMs;
  readonly before: number;
  readonly after: number;
}

/** A stretch of time in one state. */
interface PreviewRow extends Transition {
  /** `at` in the schedule's zone: `2026-03-29T07:00:00+02:00`. */
  readonly local: string;
  /** Milliseconds until the next change, also where that is after the preview; null where none is within ten years. */
  readonly lasts: number | null;
  /** Every exception that holds in it: one that forces what holds anyway begins no row, and keeps the next from beginning. */
  readonly exceptions: readonly string[];
  /** Changes of the clocks after the row before, up to the beginning of this one. */
  readonly clockChanges: readonly ClockChange[];
}

export interface Preview {
  readonly from: EpochMs;
  /** As asked for, or the last change where there are more than one answer has. */
  readonly until: EpochMs;
  readonly isCut: boolean;
  /** What holds at `from`, and the exceptions of that state from then on. */
  readonly period: Period;
  readonly exceptions: readonly string[];
  /** Changes of state after `from` and before `until`. */
  readonly rows: readonly PreviewRow[];
  /** After the last row. */
  readonly clockChanges: readonly ClockChange[];
  /** Milliseconds of the preview that are down, and their share of it, from 0 to 1. */
  readonly down: number;
  readonly downShare: number;
}

/** It reads the zones of the platform, so a workflow must not call it. `from` is before `to`. */
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

/** What the exceptions that hold from one moment to another are called, each once. */
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

const MS_PER_MINUTE = 60_000;
/** No zone has changed its clocks there and back within a day. */
const STEP_MS = 86_400_000;

/** Every change of a zone's clocks after `from`, up to `until`. */
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

/** The first minute after `start` with this offset, which `end` has: zones change theirs at a whole minute. */
function firstWith(zone: string, offset: number, start: EpochMs, end: EpochMs): EpochMs {
  let low = Math.floor(start / MS_PER_MINUTE);
  let high = Math.ceil(end / MS_PER_MINUTE);
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (minutesEast(zone, middle * MS_PER_MINUTE) === offset) high = middle;
    else low = middle;
  }
  return high * MS_PER_MINUTE;
}

function minutesEast(zone: string, at: EpochMs): number {
  return offsetAt(zone, at) / MS_PER_MINUTE;
}

function localTime(at: EpochMs, offset: number): string {
  return `${new Date(at + offset * MS_PER_MINUTE).toISOString().slice(0, 19)}${formatOffset(offset)}`;
}

/** `+02:00`, of minutes east of UTC. */
export function formatOffset(offset: number): string {
  const two = (amount: number): string => String(Math.floor(amount)).padStart(2, '0');
  const size = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(size / 60)}:${two(size % 60)}`;
}
