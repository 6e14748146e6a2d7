import { describe, expect, it } from 'vitest';
import { type ConformanceCase, NotApplicable } from '../adapter.ts';
import { lightsOutPeriodKinds } from './period.ts';
import { refusedCron, refusedSchedule, sensiblePeriod } from './deviations.ts';

function evaluate(testCase: ConformanceCase) {
  const { agrees, deviation } = lightsOutPeriodKinds[testCase.kind]?.(testCase) ?? {};
  return { agrees, deviation };
}

const dialect = (expr: string, upstream: string, croner = 'accept') =>
  evaluate({ kind: 'cron-dialect', input: { expr }, expected: { upstream, croner } });

const night = { upscale: '0 6 * * *', downscale: '0 18 * * *', timezone: 'UTC', now: '2026-01-15T20:00:00Z' };
const period = (expected: unknown, input: object = night) => evaluate({ kind: 'period', input, expected });

describe('a case about a cron', () => {
  it('agrees where the pattern is taken or refused as it says', () => {
    expect(dialect('0 6 * * 1', 'accept')).toEqual({ agrees: true, deviation: undefined });
    expect(dialect('0 6 * * 1', 'reject')).toEqual({ agrees: false, deviation: undefined });
    expect(dialect('0 6 * * 7', 'reject')).toEqual({ agrees: true, deviation: undefined });
  });

  it('disagrees where the pattern means something else than it says', () => {
    expect(dialect('0 6 1,,3 * *', 'accept = 1,3').agrees).toBe(true);
    expect(dialect('0 6 1,,3 * *', 'accept = 1,2').agrees).toBe(false);
    expect(dialect('5/15 * * * *', 'accept (5/15 = 5-59/15)').agrees).toBe(true);
    expect(dialect('5/15 * * * *', 'accept (5/15 = 6-59/15)').agrees).toBe(false);
  });

  it('is about a refusal where what the operator takes cannot work', () => {
    expect(dialect('CRON_TZ=Asia/Tokyo 0 6 * * *', 'accept')).toEqual({ agrees: true, deviation: 'refused-cron' });
    expect(dialect('0 0 30 2 *', 'accept (never fires)')).toEqual({ agrees: true, deviation: 'refused-cron' });
    expect(dialect('0 6 * * *', 'accept (never fires)')).toEqual({ agrees: false, deviation: 'refused-cron' });
    expect(refusedCron.applies({ expr: '0 6 * * 1' }, { upstream: 'accept', croner: 'accept' })).toBe(false);
  });
});

describe('a case about a period', () => {
  it('is compared in every field that it names', () => {
    expect(
      period({ state: 'Down', lastDown: '2026-01-15T19:00:00+01:00', nextUp: '2026-01-16T06:00:00Z' }).agrees,
    ).toBe(true);
    expect(period({ state: 'Down', lastDown: '2026-01-14T18:00:00Z' }).agrees).toBe(false);
    expect(period({ state: 'Up' }).agrees).toBe(false);
  });

  it('expects what is sensible, which is a deviation only where the operator says something else', () => {
    const down = { state: 'Down' };
    expect(period({ upstream: down, sensible: down })).toEqual({ agrees: true, deviation: undefined });
    expect(period({ upstream: { state: 'Up' }, sensible: down })).toEqual({ agrees: true, deviation: 'whole-history' });
    expect(period({ upstream: down, sensible: { state: 'Up' } })).toEqual({
      agrees: false,
      deviation: 'whole-history',
    });
    expect(sensiblePeriod.applies({}, down)).toBe(false);
  });

  it('expects a refusal where that is sensible', () => {
    const refused = { upstream: { state: 'Up' }, sensible: { reject: true } };
    expect(period(refused, { ...night, upscale: 'TZ=UTC 0 6 * * *' })).toEqual({
      agrees: true,
      deviation: 'refused-cron',
    });
    expect(period(refused)).toEqual({ agrees: false, deviation: 'refused-cron' });
    expect(refusedSchedule.applies({}, { upstream: {}, sensible: { state: 'Up' } })).toBe(false);
  });

  it('may expect an error of a cron or a time zone that cannot be used, and the next moments as a status has them', () => {
    expect(period({ error: true }, { ...night, timezone: 'Nowhere/Land' }).agrees).toBe(true);
    expect(period({ error: true }, { ...night, upscale: 'at six' }).agrees).toBe(true);
    expect(period({ error: true }).agrees).toBe(false);
    expect(period({ error: false, nextUpscaleTime: '2026-01-16T07:00:00+01:00' }).agrees).toBe(true);
    expect(period({ state: 'Down' }, { ...night, timezone: '' }).agrees).toBe(true);
    expect(() => period({ moon: 'full' })).toThrow(NotApplicable);
  });

  it('takes a schedule without a time zone as one in UTC, and may have exceptions', () => {
    const { timezone: _, ...noZone } = night;
    expect(period({ state: 'Down', nextUp: '2026-01-16T06:00:00Z' }, noZone).agrees).toBe(true);
    const holiday = { ...night, exceptions: [{ from: '01-15', state: 'Up' }] };
    expect(period({ state: 'Up', next: '2026-01-16T00:00:00Z' }, holiday).agrees).toBe(true);
  });
});
