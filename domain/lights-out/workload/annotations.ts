/** What people write on a schedule, a Namespace or a workload: how long it is awake or asleep, and its priority. */
import { truncate } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { PRIORITY, SLEEP_UNTIL, WAKE_UNTIL } from '../schedule/names.ts';

/** RFC 3339 with a zone. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([Zz]|[+-]\d{2}:\d{2})$/;
/** What `readMoment` understands, as the end of a sentence that begins with "expected". */
export const MOMENT_FORM = 'a moment with its zone, such as 2026-11-20T22:00:00Z';
/** The bounds that the schema has for priorities. */
const PRIORITY_LIMIT = 1_000_000;
const SHOWN_LENGTH = 60;

type Annotations = Readonly<Record<string, string>>;

/** The moment of an RFC 3339 text; null where it is none: without a zone, or a day that no calendar has. */
export function readMoment(text: string): EpochMs | null {
  const [, day = '', time = '', zone = ''] = MOMENT.exec(text.trim()) ?? [];
  const at = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(at)) return null;
  // Date.parse takes 30 February for 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? at : null;
}

/** An integer within a million, as the priorities of a schedule are; null for any other text. */
export function readPriority(text: string): number | null {
  const value = /^[+-]?\d{1,7}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return Math.abs(value) <= PRIORITY_LIMIT ? value : null;
}

export interface AnnotatedOverrides {
  /** Until when it is awake or asleep; null where nothing says so, or no longer. */
  readonly wakeUntil: EpochMs | null;
  readonly sleepUntil: EpochMs | null;
  /** When it was awake last, where that is over and the annotation still says so. */
  readonly wokeUntil: EpochMs | null;
  /** Of annotations that cannot be read: a sentence each. */
  readonly problems: readonly string[];
}

function problem(key: string, value: string, expected: string): string {
  return `the annotation ${key} is ${JSON.stringify(truncate(value, SHOWN_LENGTH))}, and is ignored: expected ${expected}`;
}

/** What an object's annotations say about its being awake or asleep at a moment. One that cannot be read counts as absent. */
export function overridesOf(annotations: Annotations, now: EpochMs): AnnotatedOverrides {
  const moments = [WAKE_UNTIL, SLEEP_UNTIL].map((key) => {
    const text = annotations[key];
    return { key, text, at: text === undefined ? null : readMoment(text) };
  });
  const [wake = null, sleep = null] = moments.map(({ at }) => at);
  return {
    wakeUntil: wake !== null && wake > now ? wake : null,
    sleepUntil: sleep !== null && sleep > now ? sleep : null,
    wokeUntil: wake !== null && wake <= now ? wake : null,
    problems: moments.flatMap(({ key, text, at }) =>
      text !== undefined && at === null ? [problem(key, text, MOMENT_FORM)] : [],
    ),
  };
}

/** Every annotation of a workload that cannot be read, its priority included: a sentence each. */
export function annotationProblems(annotations: Annotations, now: EpochMs): readonly string[] {
  const text = annotations[PRIORITY];
  const isBad = text !== undefined && readPriority(text) === null;
  const expected = `an integer between -${PRIORITY_LIMIT} and ${PRIORITY_LIMIT}`;
  return [...overridesOf(annotations, now).problems, ...(isBad ? [problem(PRIORITY, text, expected)] : [])];
}
