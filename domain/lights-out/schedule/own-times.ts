/**
 * Times of one workload, or of those of a namespace, that people write into an annotation. They take the place of the
 * patterns and windows of the schedule, within what `spec.ownTimes` allows; its exceptions and calendars hold for them as
 * well. Workflow code must not import this module, because it reads the platform's time zones.
 */
import { cronProblem } from '../../kernel/cron.ts';
import { truncate } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { zoneProblem } from './cron-runs.ts';
import { type Period, periodAt, type Timing } from './period.ts';
import type { ScheduleSpec } from './schedule.ts';

/** What holds for whoever has such an annotation. */
export type OwnPeriod = Pick<Period, 'state' | 'since' | 'level' | 'next'>;

/**
 * The period at a moment by the text of an annotation in a namespace; where that cannot be followed, why, as the end of a
 * sentence.
 */
export type OwnTimesReader = (
  text: string,
  at: { readonly now: EpochMs; readonly namespace: string },
) => OwnPeriod | string;

/** Different texts that are followed of one namespace: each costs as much as a schedule, and any of its people may write some. */
const MOST_TEXTS = 10;
const LONGEST_TEXT = 300;
const SHOWN_LENGTH = 80;
/** A schedule is observed at least so often, in milliseconds. */
const LONGEST_KNOWN_MS = 86_400_000;

const PARTS = ['upscale', 'downscale', 'timezone'] as const;
const FORM =
  'expected "upscale: 0 9 * * 1-5; downscale: 0 22 * * 1-5", and "; timezone: Europe/Berlin" where it is another one';

type Patterns = Pick<ScheduleSpec, 'upscale' | 'downscale'> & { readonly timezone?: string };

/** @returns what is wrong with it, as the end of a sentence, where it cannot be read. */
function readPatterns(text: string): Patterns | string {
  const shown = JSON.stringify(truncate(text, SHOWN_LENGTH));
  if (text.length > LONGEST_TEXT) return `${shown}: expected at most ${LONGEST_TEXT} characters`;
  const found = new Map<string, string>();
  for (const part of text.split(';').filter((each) => each.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*([a-z]+)\s*:(.*)$/s.exec(part) ?? [];
    if (!PARTS.some((known) => known === name) || found.has(name)) return `${shown}: ${FORM}`;
    found.set(name, value.trim());
  }
  const [upscale, downscale, timezone] = PARTS.map((part) => found.get(part));
  if (upscale === undefined || downscale === undefined) return `${shown}: ${FORM}`;
  const problems = [
    timezone === undefined ? null : zoneProblem(timezone),
    ...[upscale, downscale].map((pattern) => cronProblem(pattern)),
  ].filter((problem) => problem !== null);
  if (problems.length > 0) return problems.join('; ');
  return { upscale, downscale, ...(timezone === undefined ? {} : { timezone }) };
}

interface Known {
  readonly period: OwnPeriod | string;
  /** For which moments. */
  readonly from: EpochMs;
  readonly to: EpochMs;
}

/**
 * Reads annotations by one version of a schedule: each text once, until what it says changes.
 *
 * @param timing of the schedule, with its calendars.
 */
export function ownTimesReader(timing: Timing, ownTimes: ScheduleSpec['ownTimes']): OwnTimesReader {
  const known = new Map<string, Known>();
  const textsOf = new Map<string, Set<string>>();
  const read = (text: string, now: EpochMs): Known => {
    const patterns = readPatterns(text);
    if (typeof patterns === 'string') return { period: patterns, from: -Infinity, to: Infinity };
    const period = periodAt({ ...timing, own: { ...patterns, ownTimes } }, now);
    return { period, from: now, to: period.next?.at ?? now + LONGEST_KNOWN_MS };
  };
  return (text, { now, namespace }) => {
    const texts = textsOf.get(namespace) ?? new Set();
    if (!texts.has(text) && texts.size >= MOST_TEXTS) {
      return `${JSON.stringify(truncate(text, SHOWN_LENGTH))}: expected at most ${MOST_TEXTS} different times in one namespace`;
    }
    textsOf.set(namespace, texts.add(text));
    const before = known.get(text);
    if (before !== undefined && before.from <= now && now < before.to) return before.period;
    const made = read(text, now);
    known.set(text, made);
    return made.period;
  };
}
