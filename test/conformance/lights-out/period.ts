/** The cases of LightsOut about time: the period that its crons make, and which crons are understood. */
import * as z from 'zod';
import { type Cron5, CronProblem, cronProblem, parseCron } from '../../../domain/kernel/cron.ts';
import { nextRun, previousRun } from '../../../domain/lights-out/schedule/cron-runs.ts';
import { periodAt, timingProblems } from '../../../domain/lights-out/schedule/period.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameJson } from '../compare.ts';
import { askedOfPeriod, dialect, probed, refusedCron, refusedSchedule, sensiblePeriod } from './deviations.ts';

/** None, and an empty one, is UTC. */
const timezone = z
  .string()
  .default('')
  .transform((zone) => (zone === '' ? 'UTC' : zone));

const periodInput = z.strictObject({
  upscale: z.string(),
  downscale: z.string(),
  timezone,
  now: z.iso.datetime({ offset: true }),
  exceptions: z
    .array(
      z.strictObject({
        from: z.string(),
        to: z.string().optional(),
        state: z.enum(['Up', 'Down']),
        reason: z.string().optional(),
      }),
    )
    .default([]),
});
type PeriodInput = z.infer<typeof periodInput>;

const moment = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** What a case may ask about, in its words; a refused schedule has no period. */
function periodOf({ upscale, downscale, timezone, now, exceptions }: PeriodInput): unknown {
  const timing = {
    upscale,
    downscale,
    timezone,
    exceptions: exceptions.map(({ from, to, state, reason }) => ({
      from,
      state,
      ...(to === undefined ? {} : { to }),
      ...(reason === undefined ? {} : { reason }),
    })),
  };
  const problems = timingProblems(timing);
  if (problems.length > 0) return { reject: true, error: true, problems };
  const at = Date.parse(now);
  const period = periodAt(timing, at);
  const [nextUp, nextDown] = [moment(nextRun(upscale, timezone, at)), moment(nextRun(downscale, timezone, at))];
  return {
    reject: false,
    error: false,
    state: period.state,
    since: moment(period.since),
    next: moment(period.next?.at ?? null),
    lastUp: moment(previousRun(upscale, timezone, at)),
    lastDown: moment(previousRun(downscale, timezone, at)),
    nextUp,
    nextDown,
    // As a status has them.
    nextUpscale: nextUp,
    nextDownscale: nextDown,
    nextUpscaleTime: nextUp,
    nextDownscaleTime: nextDown,
  };
}

/** Every key of what is expected, moments as moments. */
function samePeriod(expected: unknown, got: unknown): boolean {
  const record = z.record(z.string(), z.unknown()).parse(got);
  const { data } = probed.safeParse(expected);
  return Object.entries(z.record(z.string(), z.unknown()).parse(data?.sensible ?? expected)).every(([key, value]) => {
    const read = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return sameJson(Number.isNaN(read) ? value : moment(read), record[key]);
  });
}

const dialectInput = z.strictObject({ expr: z.string(), timezone });

/** The pattern that the words of an answer name: `accept = 1,3` and `accept (N/s = N-59/s)` for one field, else none. */
const MEANING = /^accept \(?(?:(\S+) )?= ([^\s)]+)/;

/** Whether a pattern means what its case says, where that is a pattern itself: the same, with one field written so. */
function meansIt(expr: string, cron: Cron5, words: string): boolean {
  const [, from, to] = MEANING.exec(words) ?? [];
  const fields = expr.trim().split(/\s+/);
  const rewritten = fields.flatMap((field, index) => {
    if (to === undefined || (from !== undefined && !field.includes(from))) return [];
    const written = fields.with(index, from === undefined ? to : field.replace(from, to)).join(' ');
    const other = parsed(written);
    return other === null ? [] : [other];
  });
  return rewritten.length === 0 || rewritten.some((other) => sameJson(other, cron));
}

function parsed(text: string): Cron5 | null {
  try {
    return parseCron(text);
  } catch (error) {
    if (error instanceof CronProblem) return null;
    throw error;
  }
}

/** `accept` or `reject`, and whether the meaning is the one that the case names. */
function dialectOf({ expr }: z.infer<typeof dialectInput>, { upstream: words }: z.infer<typeof dialect>): unknown {
  const problem = cronProblem(expr);
  if (problem !== null) return { verdict: 'reject', problem };
  return { verdict: 'accept', meansIt: meansIt(expr, parseCron(expr), words) };
}

function sameVerdict(expected: unknown, got: unknown): boolean {
  const { upstream } = dialect.parse(expected);
  const { verdict, meansIt: same = true } = z
    .object({ verdict: z.string(), meansIt: z.boolean().optional() })
    .parse(got);
  return upstream.startsWith(verdict) && same;
}

export const lightsOutPeriodKinds: Readonly<Record<string, Adapter>> = {
  period: adapter(periodInput, z.union([probed, askedOfPeriod]), periodOf, samePeriod, [
    refusedSchedule,
    sensiblePeriod,
  ]),
  'cron-dialect': adapter(dialectInput, dialect, dialectOf, sameVerdict, [refusedCron]),
};
