import { describe, expect, it } from 'vitest';
import { ownTimesReader } from '../../../../domain/lights-out/schedule/own-times.ts';
import type { ScheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';

const at = (text: string): number => Date.parse(text);
const when = (text: string) => ({ now: at(text), namespace: 'team-a' });
const nights = { upscale: '0 6 * * *', downscale: '0 22 * * *', timezone: 'UTC', exceptions: [], downscaleReplicas: 1 };
const LATE = 'upscale: 0 9 * * *; downscale: 0 20 * * *';

function stateOf(text: string, moment: string, ownTimes: ScheduleSpec['ownTimes'] = 'any'): unknown {
  const period = ownTimesReader(nights, ownTimes)(text, when(moment));
  return typeof period === 'string' ? period : period.state;
}

describe('times of their own', () => {
  it('are followed in place of those of the schedule, with what that keeps', () => {
    const read = ownTimesReader(nights, 'any');
    expect(read(LATE, when('2026-11-24T07:00:00Z'))).toMatchObject({
      state: 'Down',
      since: at('2026-11-23T20:00:00Z'),
      level: { replicas: 1 },
      next: { at: at('2026-11-24T09:00:00Z'), state: 'Up' },
    });
    expect(read(LATE, when('2026-11-24T09:00:00Z'))).toMatchObject({ state: 'Up' });
    expect(read(LATE, when('2026-11-24T07:00:00Z'))).toMatchObject({ state: 'Down' });
  });

  it('may have a time zone of their own, but have the days off of the schedule', () => {
    const text = `${LATE}; timezone: Asia/Tokyo`;
    expect(stateOf(text, '2026-11-24T00:30:00Z')).toBe('Up');
    const strike = { ...nights, exceptions: [{ from: '2026-11-24', state: 'Down' as const }] };
    expect(ownTimesReader(strike, 'any')(text, when('2026-11-24T00:30:00Z'))).toMatchObject({
      state: 'Down',
      exception: '2026-11-24',
    });
  });

  it.each([
    // Up by themselves and down by the schedule, down by themselves and up by the schedule, down by both.
    ['any', 'Up', 'Down', 'Down'],
    ['wakeLonger', 'Up', 'Up', 'Down'],
    ['sleepLonger', 'Down', 'Down', 'Down'],
    ['ignore', 'Down', 'Up', 'Down'],
  ] as const)('are within what the schedule allows: %s', (ownTimes, early, morning, night) => {
    const text = 'upscale: 0 5 * * *; downscale: 0 20 * * *';
    const moments = ['2026-11-24T05:30:00Z', '2026-11-24T21:00:00Z', '2026-11-24T23:00:00Z'];
    expect(moments.map((moment) => stateOf(text, moment, ownTimes))).toEqual([early, morning, night]);
  });

  it('keep no less than the schedule does where they may only wake longer, and the least of both where they may sleep longer', () => {
    const lunch = { ...nights, windows: [{ downscale: '0 12 * * *', upscale: '0 14 * * *', percent: 50 }] };
    const text = 'upscale: 0 13 * * *; downscale: 0 11 * * *';
    const levelOf = (ownTimes: ScheduleSpec['ownTimes']) => {
      const period = ownTimesReader(lunch, ownTimes)(text, when('2026-11-24T12:30:00Z'));
      return typeof period === 'string' ? period : period.level;
    };
    expect(levelOf('wakeLonger')).toMatchObject({ percent: 50, ofWindow: true });
    expect(levelOf('sleepLonger')).toEqual({ replicas: 1, percent: 50, since: at('2026-11-24T12:00:00Z') });
  });

  it.each([
    ['', '"": expected "upscale: '],
    ['0 9 * * *', 'expected "upscale: 0 9'],
    ['upscale: 0 9 * * *', 'expected "upscale: 0 9'],
    [`${LATE}; replicas: 3`, 'expected "upscale: 0 9'],
    [`${LATE}; upscale: 0 9 * * *`, 'expected "upscale: 0 9'],
    [`${LATE}; timezone: Mars/Olympus`, '"Mars/Olympus" is not an IANA time zone'],
    ['upscale: @daily; downscale: 0 20 * * *', '"@daily" is a macro'],
    ['upscale: 0 9 30 2 *; downscale: 0 20 * * *', 'never comes'],
    ['x'.repeat(301), 'expected at most 300 characters'],
  ])('say of %j what is wrong', (text, problem) => {
    expect(stateOf(text, '2026-11-24T12:00:00Z')).toContain(problem);
  });

  it('are followed of ten different ones in a namespace at most, so that nobody keeps a schedule busy', () => {
    const read = ownTimesReader(nights, 'any');
    const now = at('2026-11-24T12:00:00Z');
    const text = (minute: number): string => `upscale: ${minute} 9 * * *; downscale: 0 20 * * *`;
    const all = Array.from({ length: 11 }, (_, minute) => read(text(minute), { now, namespace: 'team-a' }));
    expect(all.filter((period) => typeof period === 'string')).toEqual([
      expect.stringContaining('at most 10 different times in one namespace'),
    ]);
    expect(read(text(0), { now, namespace: 'team-a' })).toBe(all[0]);
    expect(read(text(10), { now, namespace: 'team-b' })).toMatchObject({ state: 'Up' });
  });
});
