/** Reads a LightsOutSchedule from a cluster or a file with the same rules everywhere. */
import { truncate } from '../../kernel/sentence.ts';
import { isRecord } from '../../kernel/record.ts';
import { z } from 'zod';
import { DURATION_FORM } from '../../kernel/duration.ts';
import type { ScheduleProblem } from './schedule-problem.ts';
import { scheduleProblems } from './problems.ts';
import { type ScheduleSpec, type ScheduleStatus, scheduleSpec, scheduleStatus } from './schedule.ts';

export { scheduleWarnings } from './warnings.ts';

export interface ReadSchedule {
  /** Null when there are problems. */
  readonly spec: ScheduleSpec | null;
  readonly problems: readonly ScheduleProblem[];
  readonly status: ScheduleStatus;
}

/**
 * Reads a complete object, any part of which may be missing. Unknown fields are ignored. Of a status with invalid
 * fields, such as another tool's, the valid fields are read. Never throws.
 */
export function readSchedule(object: unknown): ReadSchedule {
  const whole = withoutNulls(object);
  const { spec: written, status } = isRecord(whole) ? whole : {};
  const { spec, problems } = readSpec(withDefaultZone(written));
  return { spec: problems.length === 0 ? spec : null, problems, status: readStatus(status) };
}

function readSpec(written: unknown): { spec: ScheduleSpec | null; problems: readonly ScheduleProblem[] } {
  const { data, error } = scheduleSpec.safeParse(written);
  if (error !== undefined) {
    return { spec: null, problems: error.issues.map((issue) => problemOf(issue, written)) };
  }
  return { spec: data, problems: scheduleProblems(data) };
}

/** An empty time zone counts as absent, as in the first implementation and the webhook. */
function withDefaultZone(written: unknown): unknown {
  if (!isRecord(written) || written['timezone'] !== '') return written;
  const { timezone: _, ...rest } = written;
  return rest;
}

function readStatus(written: unknown): ScheduleStatus {
  return readable(scheduleStatus, written) ?? {};
}

/** The valid part of a value by its type; undefined when there is none. */
function readable<T>(type: z.core.$ZodType<T>, value: unknown): T | undefined;
function readable(type: unknown, value: unknown): unknown {
  if (value === undefined || !(type instanceof z.ZodType)) return undefined;
  const { success, data } = type.safeParse(value);
  if (success) return data;
  if (type instanceof z.ZodOptional) return readable(type.unwrap(), value);
  if (type instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item) => readable(type.element, item)).filter((item) => item !== undefined);
  }
  if (type instanceof z.ZodObject && isRecord(value)) {
    const parts = Object.entries(type.shape).map(([name, part]) => [name, readable(part, value[name])] as const);
    return type.safeParse(Object.fromEntries(parts.filter(([, part]) => part !== undefined))).data;
  }
  return undefined;
}

/** What is valid for a field, by its name: the end of a sentence that begins with "expected". */
const FORMS: Readonly<Record<string, string>> = {
  upscale: 'a cron pattern of five fields, such as "0 6 * * 1-5"',
  downscale: 'a cron pattern of five fields, such as "0 18 * * 1-5"',
  timezone: 'an IANA time zone, such as Europe/Berlin',
  namespaces: 'the name of a namespace: lower-case letters, digits and dashes',
  excludeNamespaces: 'the name of a namespace: lower-case letters, digits and dashes',
  calendars: 'the name of a ConfigMap: lower-case letters, digits, dashes and dots',
  delayBetweenBatches: DURATION_FORM,
  readinessTimeout: DURATION_FORM,
  newWorkloadGrace: DURATION_FORM,
  prewarm: DURATION_FORM,
  from: 'a day, such as 2026-12-24, or 12-24 for every year',
  to: 'a day, such as 2026-12-24, or 12-24 for every year',
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function problemOf(issue: z.core.$ZodIssue, written: unknown): ScheduleProblem {
  const field = fieldOf(issue.path);
  const value = valueAt(written, issue.path);
  const expected = `expected ${expectation(issue)}`;
  return { field, message: value === undefined ? `missing: ${expected}` : `${shown(value)}: ${expected}` };
}

function expectation(issue: z.core.$ZodIssue): string {
  const form = FORMS[String(issue.path.findLast((part) => typeof part === 'string'))];
  switch (issue.code) {
    case 'invalid_type':
      if (issue.path.length === 0) return 'at least upscale, downscale and namespaces';
      return (issue.expected === 'string' ? form : undefined) ?? TYPES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return `${issue.values.length > 1 ? 'one of ' : ''}${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? (form ?? 'a text that is not empty') : `at least ${issue.minimum}`;
    case 'too_big':
      return `at most ${issue.maximum}${SIZES[issue.origin] ?? ''}`;
    default:
      return form ?? issue.message;
  }
}

const SIZES: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

/** `spec.exceptions[2].to`; a name that is not a plain path element, such as a label, is quoted. */
function fieldOf(path: readonly PropertyKey[]): string {
  const parts = path.map((part) => {
    if (typeof part === 'number') return `[${part}]`;
    return /^\w+$/.test(String(part)) ? `.${String(part)}` : `[${JSON.stringify(String(part))}]`;
  });
  return `spec${parts.join('')}`;
}

function valueAt(written: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined),
    written,
  );
}

/** Enough characters to recognize the value. */
const MAX_SHOWN = 80;

function shown(value: unknown): string {
  return truncate(JSON.stringify(value) ?? String(value), MAX_SHOWN);
}

/** A null in a file counts as absent, as in the API server. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isRecord(value)) return value;
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  return Object.fromEntries(parts.map(([key, part]) => [key, withoutNulls(part)]));
}
