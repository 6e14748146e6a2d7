import { describe, expect, it } from 'vitest';
import {
  MAX_TRANSITIONS,
  type Period,
  periodAt,
  type Timing,
  timingProblems,
  transitions,
} from '../../../../domain/lights-out/schedule/period.ts';
import type { ScheduleException } from '../../../../domain/lights-out/schedule/schedule.ts';

const at = (text: string): number => Date.parse(text);
const iso = (moment: number | null | undefined): string | null =>
  moment === null || moment === undefined ? null : new Date(moment).toISOString().replace('.000Z', 'Z');

function timing(
  upscale: string,
  downscale: string,
  timezone = 'UTC',
  exceptions: readonly ScheduleException[] = [],
): Timing {
  return { upscale, downscale, timezone, exceptions: [...exceptions] };
}

const OFFICE = timing('0 6 * * 1-5', '0 18 * * 1-5', 'America/New_York');

/** State, beginning and end, as people read them. */
function shown(schedule: Timing, moment: string) {
  const { state, since, next }: Period = periodAt(schedule, at(moment));
  return { state, since: iso(since), until: iso(next?.at) };
}

function changes(schedule: Timing, from: string, to: string): readonly string[] {
  return transitions(schedule, at(from), at(to)).map(
    ({ at: moment, state, exception }) => `${iso(moment)} ${state}${exception === null ? '' : ` (${exception})`}`,
  );
}

describe('the state', () => {
  it.each([
    ['2026-01-13T10:00:00-05:00', 'Up', '2026-01-13T11:00:00Z', '2026-01-13T23:00:00Z'],
    ['2026-01-13T20:00:00-05:00', 'Down', '2026-01-13T23:00:00Z', '2026-01-14T11:00:00Z'],
    ['2026-01-17T12:00:00-05:00', 'Down', '2026-01-16T23:00:00Z', '2026-01-19T11:00:00Z'],
    // Exactly when it wakes, and exactly when it goes to sleep.
    ['2026-01-13T06:00:00-05:00', 'Up', '2026-01-13T11:00:00Z', '2026-01-13T23:00:00Z'],
    ['2026-01-13T18:00:00-05:00', 'Down', '2026-01-13T23:00:00Z', '2026-01-14T11:00:00Z'],
    ['2026-01-13T05:59:59.999-05:00', 'Down', '2026-01-12T23:00:00Z', '2026-01-13T11:00:00Z'],
    ['2026-01-13T06:00:00.999-05:00', 'Up', '2026-01-13T11:00:00Z', '2026-01-13T23:00:00Z'],
  ])('of office hours at %s is %s', (moment, state, since, until) => {
    expect(shown(OFFICE, moment)).toEqual({ state, since, until });
  });

  it('is the same however late it is asked for', () => {
    for (const moment of ['2026-01-16T18:00:00-05:00', '2026-01-17T03:00:00-05:00', '2026-01-19T05:59:59-05:00']) {
      expect(shown(OFFICE, moment)).toEqual({
        state: 'Down',
        since: '2026-01-16T23:00:00Z',
        until: '2026-01-19T11:00:00Z',
      });
    }
  });

  it.each([
    [
      'the days of a month',
      '0 6 1,20 * *',
      '0 6 15 * *',
      '2026-01-13T00:00:00Z',
      'Up',
      '2025-12-20T06:00:00Z',
      '2026-01-15T06:00:00Z',
    ],
    [
      'the seasons',
      '0 6 1 3 *',
      '0 6 1 11 *',
      '2026-08-01T00:00:00Z',
      'Up',
      '2026-03-01T06:00:00Z',
      '2026-11-01T06:00:00Z',
    ],
    [
      'one night in the year',
      '0 0 1 1 *',
      '0 0 31 12 *',
      '2026-12-31T12:00:00Z',
      'Down',
      '2026-12-31T00:00:00Z',
      '2027-01-01T00:00:00Z',
    ],
    [
      'the ends of months',
      '0 6 31 * *',
      '0 6 1 * *',
      '2026-02-28T00:00:00Z',
      'Down',
      '2026-02-01T06:00:00Z',
      '2026-03-31T06:00:00Z',
    ],
    [
      'leap days',
      '0 0 29 2 *',
      '0 0 1 3 *',
      '2026-05-01T00:00:00Z',
      'Down',
      '2024-03-01T00:00:00Z',
      '2028-02-29T00:00:00Z',
    ],
    [
      'leap days over 2100',
      '0 0 29 2 *',
      '0 0 1 3 *',
      '2099-05-01T00:00:00Z',
      'Down',
      '2096-03-01T00:00:00Z',
      '2104-02-29T00:00:00Z',
    ],
    [
      'other days for sleeping than for waking',
      '0 7 * * 1',
      '0 19 * * 5',
      '2026-01-14T03:00:00Z',
      'Up',
      '2026-01-12T07:00:00Z',
      '2026-01-16T19:00:00Z',
    ],
    [
      'a wake that most nights do not have',
      '0 6 * * 1-5',
      '0 18 * * *',
      '2026-01-18T20:00:00Z',
      'Down',
      '2026-01-16T18:00:00Z',
      '2026-01-19T06:00:00Z',
    ],
  ])('is told by %s', (_, up, down, moment, state, since, until) => {
    expect(shown(timing(up, down), moment)).toEqual({ state, since, until });
  });

  it('of two crons that fire together is Down', () => {
    expect(shown(timing('0 6 * * *', '0 6,18 * * *'), '2026-01-15T12:00:00Z').state).toBe('Down');
    // They fire together at 6:00 from Monday to Friday only.
    const weekend = timing('0 6 * * *', '0 6 * * 1-5');
    expect(shown(weekend, '2026-01-17T06:00:00Z')).toEqual({
      state: 'Up',
      since: '2026-01-17T06:00:00Z',
      until: '2026-01-19T06:00:00Z',
    });
    expect(shown(weekend, '2026-01-21T12:00:00Z')).toEqual({
      state: 'Down',
      since: '2026-01-19T06:00:00Z',
      until: '2026-01-24T06:00:00Z',
    });
  });

  it.each([
    ['the same crons', '0 6 * * *', '0 6 * * *'],
    ['the same crons every minute', '* * * * *', '* * * * *'],
    ['a sleep every minute', '0 6 * * 1-5', '* * * * *'],
    ['a sleep at every hour', '0 6 * * 1-5', '0 * * * *'],
    ['a sleep on more days', '30 6 29 2 *', '30 6 * * *'],
  ])('of %s is Down for as far as it is computed', (_, up, down) => {
    for (const zone of ['UTC', 'Europe/Berlin']) {
      expect(shown(timing(up, down, zone), '2026-01-15T12:00:30Z')).toEqual({
        state: 'Down',
        since: '2000-01-01T00:00:00Z',
        until: null,
      });
    }
  });

  it('of two crons that name the same times in other words differs where the clocks change', () => {
    // The open hour comes twice in autumn, the named one does not.
    const schedule = timing('30 */2 * * *', '30 0,2,4,6,8,10,12,14,16,18,20,22 * * *', 'Europe/Berlin');
    expect(shown(schedule, '2026-01-15T12:00:00Z')).toEqual({
      state: 'Down',
      since: '2025-10-26T03:30:00Z',
      until: '2026-10-25T01:30:00Z',
    });
  });

  it('is Up while a cron that says otherwise never comes', () => {
    expect(shown(timing('0 0 30 2 *', '0 0 30 2 *'), '2026-01-15T12:00:00Z')).toEqual({
      state: 'Up',
      since: null,
      until: null,
    });
    expect(shown(timing('0 6 * * *', '0 0 30 2 *'), '2026-01-15T12:00:00Z')).toEqual({
      state: 'Up',
      since: '2000-01-01T00:00:00Z',
      until: null,
    });
    expect(shown(timing('0 0 30 2 *', '0 6 * * *'), '2026-01-15T12:00:00Z').state).toBe('Down');
  });

  it('says the next firing of each cron, also one that changes nothing', () => {
    const { next, nextUpscale, nextDownscale } = periodAt(
      timing('0 * * * *', '0 18 * * *'),
      at('2026-01-15T12:00:00Z'),
    );
    expect([iso(next?.at), iso(nextUpscale), iso(nextDownscale)]).toEqual([
      '2026-01-15T18:00:00Z',
      '2026-01-15T13:00:00Z',
      '2026-01-15T18:00:00Z',
    ]);
  });
});

describe('when the clocks change', () => {
  it.each([
    // Skipped in New York: it wakes at 3:00 and not a day later.
    ['America/New_York', '30 2 * * *', '0 20 * * *', '2026-03-08T12:00:00Z', 'Up', '2026-03-08T07:00:00Z'],
    ['Europe/Berlin', '30 2 * * *', '0 20 * * *', '2026-03-29T01:00:00Z', 'Up', '2026-03-29T01:00:00Z'],
    ['Australia/Lord_Howe', '15 2 * * *', '0 20 * * *', '2026-10-03T15:30:00Z', 'Up', '2026-10-03T15:30:00Z'],
    ['America/Sao_Paulo', '0 0 * * *', '0 20 * * *', '2018-11-04T03:00:00Z', 'Up', '2018-11-04T03:00:00Z'],
    // Twice in autumn: what was put to sleep between the two is not woken by the second.
    ['America/New_York', '15 1 * * *', '45 1 * * *', '2026-11-01T06:30:00Z', 'Down', '2026-11-01T05:45:00Z'],
    ['Europe/Berlin', '15 2 * * *', '45 2 * * *', '2026-10-25T01:30:00Z', 'Down', '2026-10-25T00:45:00Z'],
    // Both are skipped, and come together: Down.
    ['America/New_York', '15 2 * * *', '45 2 * * *', '2026-03-08T08:00:00Z', 'Down', '2026-03-07T07:45:00Z'],
    // The day before was left out.
    ['Pacific/Apia', '0 6 * * *', '0 20 * * *', '2011-12-30T12:00:00Z', 'Down', '2011-12-30T06:00:00Z'],
    ['Africa/Casablanca', '30 2 * * *', '0 20 * * *', '2026-03-22T02:00:00Z', 'Up', '2026-03-22T02:00:00Z'],
    ['Asia/Kathmandu', '0 6 * * *', '0 20 * * *', '2026-03-29T00:15:00Z', 'Up', '2026-03-29T00:15:00Z'],
  ])('in %s, up at %s and down at %s: at %s it is %s since %s', (zone, up, down, moment, state, since) => {
    expect(shown(timing(up, down, zone), moment)).toMatchObject({ state, since });
  });
});

describe('exceptions', () => {
  const holidays: ScheduleException = { from: '12-24', to: '01-02', state: 'Down', reason: 'holidays' };
  const release: ScheduleException = { from: '2026-12-28', state: 'Up', reason: 'release' };
  const berlin = (...exceptions: readonly ScheduleException[]) =>
    timing('0 6 * * 1-5', '0 18 * * 1-5', 'Europe/Berlin', exceptions);

  it('force a state from midnight to midnight, whatever the crons say', () => {
    expect(changes(berlin(release, holidays), '2026-12-23T12:00:00Z', '2027-01-05T00:00:00Z')).toEqual([
      '2026-12-23T17:00:00Z Down',
      '2026-12-27T23:00:00Z Up (release)',
      '2026-12-28T23:00:00Z Down (holidays)',
      '2027-01-04T05:00:00Z Up',
      '2027-01-04T17:00:00Z Down',
    ]);
  });

  it('that force what holds anyway change nothing: it is down since the evening before, until the morning after', () => {
    const schedule = berlin(holidays);
    expect(shown(schedule, '2026-12-26T12:00:00Z')).toEqual({
      state: 'Down',
      since: '2026-12-23T17:00:00Z',
      until: '2027-01-04T05:00:00Z',
    });
    expect(periodAt(schedule, at('2026-12-26T12:00:00Z')).exception).toBe('holidays');
    expect(periodAt(schedule, at('2027-01-03T12:00:00Z')).exception).toBeNull();
  });

  it('that end in working hours give back to the crons', () => {
    const night = timing('0 20 * * *', '0 4 * * *', 'Europe/Berlin', [{ from: '2026-06-10', state: 'Down' }]);
    expect(changes(night, '2026-06-09T12:00:00Z', '2026-06-11T12:00:00Z')).toEqual([
      '2026-06-09T18:00:00Z Up',
      '2026-06-09T22:00:00Z Down (2026-06-10)',
      '2026-06-10T22:00:00Z Up',
      '2026-06-11T02:00:00Z Down',
    ]);
    expect(shown(night, '2026-06-10T23:00:00Z')).toEqual({
      state: 'Up',
      since: '2026-06-10T22:00:00Z',
      until: '2026-06-11T02:00:00Z',
    });
  });

  it('beside one another are one stretch where they force the same', () => {
    const days = [20, 21, 22].map((day): ScheduleException => ({ from: `2026-07-${day}`, state: 'Down' }));
    expect(changes(berlin(...days), '2026-07-20T00:00:00Z', '2026-07-24T00:00:00Z')).toEqual([
      '2026-07-23T04:00:00Z Up',
      '2026-07-23T16:00:00Z Down',
    ]);
    expect(shown(berlin(...days), '2026-07-22T12:00:00Z').since).toBe('2026-07-17T16:00:00Z');
  });

  it('of which an earlier one is over leave the day to the next that covers it', () => {
    const both = berlin({ from: '2026-07-20', state: 'Down' }, { from: '2026-07-20', to: '2026-07-21', state: 'Up' });
    expect(changes(both, '2026-07-19T00:00:00Z', '2026-07-22T00:00:00Z')).toEqual([
      '2026-07-20T22:00:00Z Up (2026-07-20 to 2026-07-21)',
      '2026-07-21T22:00:00Z Down',
    ]);
    expect(shown(both, '2026-07-21T12:00:00Z').since).toBe('2026-07-20T22:00:00Z');
  });

  it('for the whole year leave nothing to change', () => {
    const always = berlin({ from: '01-01', to: '12-31', state: 'Up' });
    expect(shown(always, '2026-07-22T12:00:00Z')).toMatchObject({ state: 'Up', until: null });
    expect(at(shown(always, '2026-07-22T12:00:00Z').since ?? '')).toBeLessThanOrEqual(at('2000-01-01T00:00:00Z'));
    expect(changes(always, '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z')).toEqual([]);
  });

  it('make a schedule sleep of which no cron ever fires', () => {
    const schedule = timing('0 0 30 2 *', '0 0 30 2 *', 'UTC', [{ from: '2026-05-01', state: 'Down' }]);
    expect(shown(schedule, '2026-05-01T12:00:00Z')).toEqual({
      state: 'Down',
      since: '2026-05-01T00:00:00Z',
      until: '2026-05-02T00:00:00Z',
    });
    expect(shown(schedule, '2026-06-01T12:00:00Z')).toEqual({
      state: 'Up',
      since: '2026-05-02T00:00:00Z',
      until: null,
    });
  });
});

describe('the transitions', () => {
  it('are those after the one moment and up to the other', () => {
    expect(changes(OFFICE, '2026-01-16T11:00:00Z', '2026-01-19T11:00:00Z')).toEqual([
      '2026-01-16T23:00:00Z Down',
      '2026-01-19T11:00:00Z Up',
    ]);
  });

  it('are changes only, however often a cron fires', () => {
    expect(changes(timing('* 6-17 * * *', '0 18 * * *'), '2026-01-15T00:00:00Z', '2026-01-17T00:00:00Z')).toEqual([
      '2026-01-15T06:00:00Z Up',
      '2026-01-15T18:00:00Z Down',
      '2026-01-16T06:00:00Z Up',
      '2026-01-16T18:00:00Z Down',
    ]);
    expect(changes(timing('* * * * *', '30 18 * * *'), '2026-01-15T00:00:00Z', '2026-01-16T00:00:00Z')).toEqual([
      '2026-01-15T18:30:00Z Down',
      '2026-01-15T18:31:00Z Up',
    ]);
    expect(changes(timing('0 6 * * *', '* * * * *'), '2026-01-15T00:00:00Z', '2026-01-29T00:00:00Z')).toEqual([]);
  });

  it('of a state that changes every minute are so many and no more', () => {
    const list = transitions(timing('*/2 * * * *', '1-59/2 * * * *'), 0, 14 * 86_400_000);
    expect(list).toHaveLength(MAX_TRANSITIONS);
    expect(list.map(({ at: moment }) => moment)).toEqual(list.map((_, index) => (index + 1) * 60_000));
    expect(list.map(({ state }) => state)).toEqual(list.map((_, index) => (index % 2 === 0 ? 'Down' : 'Up')));
  });
});

describe('what is wrong with the timing of a schedule', () => {
  it('is nothing for one that can be used', () => {
    expect(
      timingProblems(timing('0 6 * * 1-5', '0 18 ? * *', 'Europe/Berlin', [{ from: '05-01', state: 'Up' }])),
    ).toEqual([]);
  });

  it('is said for each field', () => {
    const wrong = timing('@daily', '0 0 30 2 *', 'Mars/Olympus', [
      { from: '2026-12-24', to: '2026-12-23', state: 'Up' },
    ]);
    expect(timingProblems(wrong)).toEqual([
      { field: 'spec.upscale', message: expect.stringContaining('"@daily" is a macro') },
      { field: 'spec.downscale', message: expect.stringContaining('never comes') },
      { field: 'spec.timezone', message: expect.stringContaining('"Mars/Olympus" is not an IANA time zone') },
      { field: 'spec.exceptions[0].to', message: expect.stringContaining('is before "2026-12-24"') },
    ]);
  });

  it('keeps it from having a period', () => {
    expect(() => periodAt(timing('@daily', '0 18 * * *'), 0)).toThrow(RangeError);
    expect(() => periodAt(timing('0 6 * * *', '0 18 * * *', 'Mars/Olympus'), 0)).toThrow(RangeError);
    expect(() => periodAt(timing('0 6 * * *', '0 18 * * *', 'UTC', [{ from: '02-30', state: 'Up' }]), 0)).toThrow(
      RangeError,
    );
  });
});
