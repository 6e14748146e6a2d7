/** Annotations of people on a schedule, a Namespace or a workload: overrides and priority. */
import { truncate } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { DELETES_VOLUMES, PRIORITY, SLEEP_UNTIL, WAKE_UNTIL } from '../schedule/names.ts';

/** RFC 3339 with a zone. */
const MOMENT = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2}(?:\.\d+)?)([Zz]|[+-]\d{2}:\d{2})$/;
/** What `readMoment` understands, as the end of a sentence that begins with "expected". */
export const MOMENT_FORM = 'a moment with its zone, such as 2026-11-20T22:00:00Z';
/** The bounds that the schema has for priorities. */
const PRIORITY_LIMIT = 1_000_000;
const SHOWN_LENGTH = 60;

type Annotations = Readonly<Record<string, string>>;

/** The moment of an RFC 3339 text; null when it is invalid: without a zone, or with a day that does not exist. */
export function readMoment(text: string): EpochMs | null {
  const [, day = '', time = '', zone = ''] = MOMENT.exec(text.trim()) ?? [];
  const at = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  if (Number.isNaN(at)) return null;
  // Date.parse takes 30 February for 2 March.
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day) ? at : null;
}

/** An integer with an absolute value of at most a million, as a schedule's priorities; null for any other text. */
export function readPriority(text: string): number | null {
  const value = /^[+-]?\d{1,7}$/.test(text.trim()) ? Number(text) : Number.NaN;
  return Math.abs(value) <= PRIORITY_LIMIT ? value : null;
}

export interface AnnotatedOverrides {
  /** The end of the override; null when there is none or it is over. */
  readonly wakeUntil: EpochMs | null;
  readonly sleepUntil: EpochMs | null;
  /** The end of the last wake override if it is over and its annotation is still there. */
  readonly wokeUntil: EpochMs | null;
  /** A sentence for each invalid annotation. */
  readonly problems: readonly string[];
}

function problem(key: string, value: string, expected: string): string {
  return `the annotation ${key} is ${JSON.stringify(truncate(value, SHOWN_LENGTH))}, and is ignored: expected ${expected}`;
}

/** The overrides of an object's annotations at a moment. Invalid annotations count as absent. */
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

/** A sentence for each invalid annotation of a workload, including its priority. */
export function annotationProblems(annotations: Annotations, now: EpochMs): readonly string[] {
  const text = annotations[PRIORITY];
  const isBad = text !== undefined && readPriority(text) === null;
  const expected = `an integer between -${PRIORITY_LIMIT} and ${PRIORITY_LIMIT}`;
  const volumes = annotations[DELETES_VOLUMES];
  return [
    ...overridesOf(annotations, now).problems,
    ...(isBad ? [problem(PRIORITY, text, expected)] : []),
    ...(volumes === undefined || /^(?:true|false)$/.test(volumes.trim())
      ? []
      : [problem(DELETES_VOLUMES, volumes, 'true or false')]),
  ];
}
