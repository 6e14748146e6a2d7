import { describe, expect, it } from 'vitest';
import { formatOffset, previewOf } from '../../../../domain/lights-out/schedule/preview.ts';
import type { Timing } from '../../../../domain/lights-out/schedule/period.ts';

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(text);

/** Up from 7 to 20 on working days. */
const office = (timezone: string, exceptions: Timing['exceptions'] = []): Timing => ({
  upscale: '0 7 * * 1-5',
  downscale: '0 20 * * 1-5',
  timezone,
  exceptions,
});

describe('a preview', () => {
  it('has each change at the local hour, and the true length of the night in which the clocks go forward', () => {
    const { period, rows, down, downShare } = previewOf(
      office('Europe/Berlin'),
      at('2026-03-27T12:00:00+01:00'),
      at('2026-03-31T12:00:00+02:00'),
    );
    expect(period).toMatchObject({ state: 'Up', since: at('2026-03-27T07:00:00+01:00') });
    expect(rows).toEqual([
      {
        at: at('2026-03-27T19:00:00Z'),
        local: '2026-03-27T20:00:00+01:00',
        state: 'Down',
        exception: null,
        exceptions: [],
        lasts: 58 * HOUR,
        clockChanges: [],
      },
      {
        at: at('2026-03-30T05:00:00Z'),
        local: '2026-03-30T07:00:00+02:00',
        state: 'Up',
        exception: null,
        exceptions: [],
        lasts: 13 * HOUR,
        clockChanges: [{ at: at('2026-03-29T01:00:00Z'), before: 60, after: 120 }],
      },
      {
        at: at('2026-03-30T18:00:00Z'),
        local: '2026-03-30T20:00:00+02:00',
        state: 'Down',
        exception: null,
        exceptions: [],
        lasts: 11 * HOUR,
        clockChanges: [],
      },
      {
        at: at('2026-03-31T05:00:00Z'),
        local: '2026-03-31T07:00:00+02:00',
        state: 'Up',
        exception: null,
        exceptions: [],
        // To its real end, which is after that of the preview.
        lasts: 13 * HOUR,
        clockChanges: [],
      },
    ]);
    expect(down).toBe(69 * HOUR);
    // Four days by the calendar, of which one has 23 hours.
    expect(downShare).toBe(69 / 95);
  });

  it('counts the hour that comes twice in New York as two', () => {
    const { rows } = previewOf(
      office('America/New_York'),
      at('2026-10-30T12:00:00-04:00'),
      at('2026-11-02T12:00:00-05:00'),
    );
    expect(rows.map(({ local, state, lasts }) => [local, state, lasts])).toEqual([
      ['2026-10-30T20:00:00-04:00', 'Down', 60 * HOUR],
      ['2026-11-02T07:00:00-05:00', 'Up', 13 * HOUR],
    ]);
    expect(rows[1]?.clockChanges).toEqual([{ at: at('2026-11-01T06:00:00Z'), before: -240, after: -300 }]);
  });

  it('begins within a state, and a change right at its end is not in it', () => {
    const { period, rows, down } = previewOf(office('UTC'), at('2026-11-21T10:00:00Z'), at('2026-11-23T07:00:00Z'));
    expect(period.state).toBe('Down');
    expect(rows).toEqual([]);
    expect(down).toBe(45 * HOUR);
  });

  it('has changes of the clocks after the last change of state, too', () => {
    const { rows, clockChanges } = previewOf(
      office('Europe/Berlin'),
      at('2026-10-23T12:00:00+02:00'),
      at('2026-10-25T12:00:00+01:00'),
    );
    expect(rows).toHaveLength(1);
    expect(clockChanges).toEqual([{ at: at('2026-10-25T01:00:00Z'), before: 120, after: 60 }]);
  });

  it('finds the clocks of zones that change by half an hour, or not by the hour of the day', () => {
    const changes = (zone: string) => {
      const { rows, clockChanges } = previewOf(office(zone), at('2026-01-01T00:00:00Z'), at('2027-01-01T00:00:00Z'));
      return [...rows.flatMap((row) => row.clockChanges), ...clockChanges];
    };
    expect(changes('Australia/Lord_Howe')).toEqual([
      { at: at('2026-04-04T15:00:00Z'), before: 660, after: 630 },
      { at: at('2026-10-03T15:30:00Z'), before: 630, after: 660 },
    ]);
    expect(changes('Asia/Kolkata')).toEqual([]);
  });

  it('says by which exception a state is, and which ones hold in it without having changed it', () => {
    const timing = office('Europe/Berlin', [
      { from: '12-25', to: '12-26', state: 'Down', reason: 'Christmas' },
      { from: '2026-12-23', state: 'Up', reason: 'late night' },
    ]);
    const preview = previewOf(timing, at('2026-12-23T12:00:00+01:00'), at('2026-12-28T12:00:00+01:00'));
    expect(preview.exceptions).toEqual(['late night']);
    expect(
      preview.rows.map(({ local, state, exception, exceptions }) => [local, state, exception, exceptions]),
    ).toEqual([
      ['2026-12-24T00:00:00+01:00', 'Down', null, []],
      ['2026-12-24T07:00:00+01:00', 'Up', null, []],
      // The 25th is a Friday, which is not woken.
      ['2026-12-24T20:00:00+01:00', 'Down', null, ['Christmas']],
      ['2026-12-28T07:00:00+01:00', 'Up', null, []],
    ]);
  });

  it('is cut at the last change that one answer has, and its share is of what is left', () => {
    const restless = { ...office('UTC'), upscale: '* * * * *', downscale: '*/10 * * * *' };
    const from = at('2026-04-07T00:00:00Z');
    const { rows, until, isCut, downShare } = previewOf(restless, from, from + 30 * 24 * HOUR);
    expect({ isCut, end: until === (rows.at(-1)?.at ?? 0) + (rows.at(-1)?.lasts ?? 0) }).toEqual({
      isCut: true,
      end: true,
    });
    expect(downShare).toBeCloseTo(0.1, 3);
  });
});

describe('an offset', () => {
  it.each([
    [0, '+00:00'],
    [60, '+01:00'],
    [-210, '-03:30'],
    [630, '+10:30'],
  ])('of %i minutes is %s', (minutes, text) => {
    expect(formatOffset(minutes)).toBe(text);
  });
});
