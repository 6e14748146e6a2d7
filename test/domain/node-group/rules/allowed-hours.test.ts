import { describe, expect, it } from 'vitest';
import {
  isHourInWindow,
  nextAllowedMoment,
  readAllowedHours,
} from '../../../../domain/node-group/rules/allowed-hours.ts';

const at = (hour: number, minute = 0): number => Date.UTC(2026, 0, 5, hour, minute);

describe('the hours in which nodes may be taken away', () => {
  it('begin with the first one and end before the last one, also over midnight', () => {
    const day = { start: 9, end: 17 };
    expect([8, 9, 16, 17].map((hour) => isHourInWindow(hour, day))).toEqual([false, true, true, false]);
    const night = { start: 22, end: 2 };
    expect([21, 22, 1, 2, 12].map((hour) => isHourInWindow(hour, night))).toEqual([false, true, true, false, false]);
  });

  it('are none where they end as they start', () => {
    expect([0, 9, 23].some((hour) => isHourInWindow(hour, { start: 9, end: 9 }))).toBe(false);
    expect(nextAllowedMoment([{ start: 540, end: 540 }], at(9))).toBeNull();
  });

  it.each([
    ['22:00-02:30', [{ start: 1320, end: 150 }]],
    ['22-2', [{ start: 1320, end: 120 }]],
    [
      '9-12, 13:15-24:00',
      [
        { start: 540, end: 720 },
        { start: 795, end: 1440 },
      ],
    ],
    ['at night', null],
    ['25-2', null],
    ['22:60-2', null],
    ['', null],
  ])('are read from %j', (text, windows) => {
    expect(readAllowedHours(text)).toEqual(windows);
  });

  it('are said to begin when they next do', () => {
    const windows = readAllowedHours('22:30-2,12-13') ?? [];
    expect(nextAllowedMoment(windows, at(1, 59))).toBe(at(1, 59));
    expect(nextAllowedMoment(windows, at(2))).toBe(at(12));
    expect(nextAllowedMoment(windows, at(13))).toBe(at(22, 30));
    expect(nextAllowedMoment(readAllowedHours('9-10') ?? [], at(10))).toBe(at(9) + 86_400_000);
  });
});
