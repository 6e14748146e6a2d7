/** The days on which exceptions and calendars hold, and what each of them changes. */
import type { EpochMs } from '../../kernel/time.ts';
import { type Exceptions, forcedAt, nextEdge, readExceptions } from './exceptions.ts';
import type { ScheduleState } from './names.ts';
import { periodAt, type Timing, transitions } from './period.ts';

/** Days in a row on which one exception holds. */
export interface ChangedDays {
  readonly from: EpochMs;
  /** The moment after the last of them. */
  readonly until: EpochMs;
  readonly state: ScheduleState;
  readonly label: string;
  /** Milliseconds in which the patterns alone would say otherwise. */
  readonly changed: number;
}

/** In order; those that are under way at one of the ends are only counted from there, or up to there. */
export function changedDays(timing: Timing, from: EpochMs, until: EpochMs): readonly ChangedDays[] {
  const patterns = { ...timing, exceptions: [] };
  return spansOf(readExceptions(timing.exceptions, timing.timezone), from, until).map((span) => ({
    ...span,
    changed: span.until - span.from - timeIn(span.state, patterns, span),
  }));
}

type Span = Omit<ChangedDays, 'changed'>;

function spansOf(exceptions: Exceptions, from: EpochMs, until: EpochMs): readonly Span[] {
  const spans: Span[] = [];
  for (let at = from; at < until; ) {
    const end = Math.min(nextEdge(exceptions, at) ?? until, until);
    const forced = forcedAt(exceptions, at);
    if (forced !== null) {
      const { state, label } = forced;
      const last = spans.at(-1);
      // Another exception below it may have begun or ended.
      if (last !== undefined && last.until === at && last.state === state && last.label === label) {
        spans[spans.length - 1] = { ...last, until: end };
      } else spans.push({ from: at, until: end, state, label });
    }
    at = end;
  }
  return spans;
}

/** Milliseconds of a span that the patterns are in a state. */
function timeIn(state: ScheduleState, patterns: Timing, { from, until }: Span): number {
  const begin = { state: periodAt(patterns, from).state, at: from };
  return [begin, ...transitions(patterns, from, until)].reduce((sum, change, index, all) => {
    const end = all[index + 1]?.at ?? until;
    return change.state === state ? sum + end - change.at : sum;
  }, 0);
}
