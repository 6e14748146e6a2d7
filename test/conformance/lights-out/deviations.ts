/**
 * The rules by which Headroom differs from the operator that the lights-out cases were taken from, as far as they are about
 * time. The reasons: test/cases/deviations.md.
 */
import * as z from 'zod';
import type { Deviation } from '../adapter.ts';

const moment = z.string().nullable();

/** What a case may ask of a period. */
export const askedOfPeriod = z
  .strictObject({
    state: z.string(),
    since: moment,
    next: moment,
    lastUp: moment,
    lastDown: moment,
    nextUp: moment,
    nextDown: moment,
    nextUpscale: moment,
    nextDownscale: moment,
    nextUpscaleTime: moment,
    nextDownscaleTime: moment,
    reject: z.boolean(),
    error: z.boolean(),
  })
  .partial();

/** What a case expects that was run on the operator: what that answered, and what would have been right, worked out by hand. */
export const probed = z.strictObject({
  upstream: z.record(z.string(), z.unknown()).default({}),
  sensible: askedOfPeriod,
});

const isRefused = (expected: unknown) => probed.safeParse(expected).data?.sensible.reject === true;

/** A schedule that the operator takes although one of its crons cannot work. */
export const refusedSchedule: Deviation<unknown> = {
  name: 'refused-cron',
  applies: (_, expected) => isRefused(expected),
  expected: () => ({ reject: true }),
};

/** What the operator gets wrong: crons that fire seldom, and days on which the clocks change. */
export const sensiblePeriod: Deviation<unknown> = {
  name: 'whole-history',
  applies: (_, expected) => {
    const { data } = probed.safeParse(expected);
    if (data === undefined || isRefused(expected)) return false;
    return Object.entries(data.sensible).some(([key, value]) => value !== data.upstream[key]);
  },
  expected: (_, expected) => probed.parse(expected).sensible,
};

export const dialect = z.strictObject({
  upstream: z.string(),
  croner: z.string().default(''),
  sensible: z.string().optional(),
});

/** What the operator takes although it cannot work: a time zone in the pattern, a macro, and what never comes. */
export const refusedCron: Deviation<{ readonly expr: string }> = {
  name: 'refused-cron',
  applies: ({ expr }, expected) => {
    const { upstream, croner, sensible } = dialect.parse(expected);
    const neverComes = [upstream, croner].some((words) => /never|null|no run/i.test(words));
    return (
      upstream.startsWith('accept') && (sensible === 'reject' || neverComes || /^\s*(?:@|(?:CRON_)?TZ=)/i.test(expr))
    );
  },
  expected: () => ({ upstream: 'reject' }),
};
