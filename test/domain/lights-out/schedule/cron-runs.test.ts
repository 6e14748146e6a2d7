import { describe, expect, it } from 'vitest';
import { isDayOf, parseCron } from '../../../../domain/kernel/cron.ts';
import { DAY_MS } from '../../../../domain/kernel/day.ts';
import { nextRun, previousRun, zoneProblem } from '../../../../domain/lights-out/schedule/cron-runs.ts';

const at = (text: string): number => Date.parse(text);
const iso = (moment: number | null): string | null =>
  moment === null ? null : new Date(moment).toISOString().replace('.000Z', 'Z');

/** The firings from one moment (not included) to another (included), forwards. */
function firings(cron: string, zone: string, from: string, to: string): readonly (string | null)[] {
  const found: (string | null)[] = [];
  for (let run = nextRun(cron, zone, at(from)); run !== null && run <= at(to); run = nextRun(cron, zone, run)) {
    found.push(iso(run));
  }
  return found;
}

/** The same firings, found backwards. */
function firingsBack(cron: string, zone: string, from: string, to: string): readonly (string | null)[] {
  const found: (string | null)[] = [];
  for (
    let run = previousRun(cron, zone, at(to));
    run !== null && run > at(from);
    run = previousRun(cron, zone, run - 1)
  ) {
    found.unshift(iso(run));
  }
  return found;
}

describe('a pattern', () => {
  it.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *', '59 23 31 feb *', '0 0 30-31 2 ?'])('%s never fires', (text) => {
    expect(nextRun(text, 'Europe/Berlin', at('2026-01-01T00:00:00Z'))).toBeNull();
    expect(previousRun(text, 'Europe/Berlin', at('2026-01-01T00:00:00Z'))).toBeNull();
  });

  it('that never comes by its date comes by its weekday, where it names both', () => {
    expect(firings('0 0 30 2 1', 'UTC', '2026-01-01T00:00:00Z', '2026-02-10T00:00:00Z')).toEqual([
      '2026-02-02T00:00:00Z',
      '2026-02-09T00:00:00Z',
    ]);
  });

  it('that never comes costs no search: ten thousand of them are told at once', () => {
    const asked = Array.from({ length: 10_000 }, (_, index) => nextRun('0 0 30 2 *', 'Europe/Berlin', index * 1e9));
    expect(new Set(asked)).toEqual(new Set([null]));
  });

  it('fires on a named date or on a named weekday, and on both where one of them is a star', () => {
    const july = ['2026-07-01T00:00:00Z', '2026-07-15T00:00:00Z'] as const;
    expect(firings('0 6 3 * FRI', 'UTC', ...july)).toEqual(['2026-07-03T06:00:00Z', '2026-07-10T06:00:00Z']);
    expect(firings('0 6 4 * FRI', 'UTC', ...july)).toEqual([
      '2026-07-03T06:00:00Z',
      '2026-07-04T06:00:00Z',
      '2026-07-10T06:00:00Z',
    ]);
    // Every other day is named, a star is not.
    expect(firings('0 6 */5 * FRI', 'UTC', ...july)).toEqual([
      '2026-07-01T06:00:00Z',
      '2026-07-03T06:00:00Z',
      '2026-07-06T06:00:00Z',
      '2026-07-10T06:00:00Z',
      '2026-07-11T06:00:00Z',
    ]);
    expect(firings('0 6 */1 * FRI', 'UTC', ...july)).toEqual(['2026-07-03T06:00:00Z', '2026-07-10T06:00:00Z']);
  });
});

describe('the days of a pattern', () => {
  it.each(['0 6 4 * FRI', '0 6 */5 * FRI', '0 6 * * 1-5', '0 6 1,15 * *', '0 6 31 7,8 MON', '0 6 * 8 *'])(
    'of %s are those on which it fires',
    (text) => {
      const first = Date.UTC(2026, 6, 1) / DAY_MS;
      const days = Array.from({ length: 62 }, (_, index) => first + index);
      const fired = firings(text, 'UTC', '2026-06-30T23:59:59Z', '2026-08-31T23:59:59Z');
      const named = days.filter((day) => isDayOf(parseCron(text), day));
      expect(named.map((day) => iso(day * DAY_MS + 6 * 3_600_000))).toEqual(fired);
    },
  );
});

describe('the last firing', () => {
  it('may be at the moment itself, of which a fraction of a second does not count', () => {
    const six = at('2026-01-15T06:00:00Z');
    expect(previousRun('0 6 * * *', 'UTC', six)).toBe(six);
    expect(previousRun('0 6 * * *', 'UTC', six + 999)).toBe(six);
    expect(iso(previousRun('0 6 * * *', 'UTC', six - 1))).toBe('2026-01-14T06:00:00Z');
  });

  it('and the next one leave no gap: the next is after the moment', () => {
    const six = at('2026-01-15T06:00:00Z');
    expect(nextRun('0 6 * * *', 'UTC', six - 1)).toBe(six);
    expect(iso(nextRun('0 6 * * *', 'UTC', six))).toBe('2026-01-16T06:00:00Z');
  });

  it.each([
    ['0 0 29 2 *', 'UTC', '2026-05-01T00:00:00Z', '2024-02-29T00:00:00Z', '2028-02-29T00:00:00Z'],
    // There is none in 2100.
    ['0 0 29 2 *', 'UTC', '2097-01-01T00:00:00Z', '2096-02-29T00:00:00Z', '2104-02-29T00:00:00Z'],
    ['0 6 1 1 *', 'Asia/Kathmandu', '2026-05-01T00:00:00Z', '2026-01-01T00:15:00Z', '2027-01-01T00:15:00Z'],
    ['0 0 31 * *', 'UTC', '2026-07-01T00:00:00Z', '2026-05-31T00:00:00Z', '2026-07-31T00:00:00Z'],
    ['0 18 30 * *', 'Europe/Berlin', '2026-03-01T00:00:00Z', '2026-01-30T17:00:00Z', '2026-03-30T16:00:00Z'],
    ['0 0 31 12 *', 'Pacific/Apia', '2026-05-01T00:00:00Z', '2025-12-30T11:00:00Z', '2026-12-30T11:00:00Z'],
  ])('of %s in %s at %s is %s, and the next one %s', (cron, zone, moment, previous, next) => {
    expect(iso(previousRun(cron, zone, at(moment)))).toBe(previous);
    expect(iso(nextRun(cron, zone, at(moment)))).toBe(next);
  });
});

describe('when the clocks change', () => {
  /** From, to, and the firings in between. */
  type Row = readonly [what: string, cron: string, zone: string, from: string, to: string, firings: readonly string[]];
  const rows: readonly Row[] = [
    [
      'a time that New York skips in spring comes when it has been skipped',
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00:00Z',
      '2026-03-09T12:00:00Z',
      ['2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
    ],
    [
      'of a list, only the skipped time moves, and to where another is it comes once',
      '30 2,3,14 * * *',
      'America/New_York',
      '2026-03-08T05:00:00Z',
      '2026-03-08T23:00:00Z',
      ['2026-03-08T07:00:00Z', '2026-03-08T07:30:00Z', '2026-03-08T18:30:00Z'],
    ],
    [
      'of every minute of a named hour that is skipped, one comes',
      '* 2 * * *',
      'America/New_York',
      '2026-03-08T05:00:00Z',
      '2026-03-08T23:00:00Z',
      ['2026-03-08T07:00:00Z'],
    ],
    [
      'open hours are skipped with the clock',
      '30 */2 * * *',
      'America/New_York',
      '2026-03-08T05:00:00Z',
      '2026-03-08T11:00:00Z',
      ['2026-03-08T05:30:00Z', '2026-03-08T08:30:00Z', '2026-03-08T10:30:00Z'],
    ],
    [
      'a time that comes twice in New York in autumn counts the first time',
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00:00Z',
      '2026-11-02T12:00:00Z',
      ['2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z'],
    ],
    [
      'an open hour that comes twice counts both times',
      '30 * * * *',
      'America/New_York',
      '2026-11-01T05:00:00Z',
      '2026-11-01T07:30:00Z',
      ['2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z', '2026-11-01T07:30:00Z'],
    ],
    [
      'Berlin skips from two to three',
      '15 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      '2026-03-30T12:00:00Z',
      ['2026-03-29T01:00:00Z', '2026-03-30T00:15:00Z'],
    ],
    [
      'Berlin has the hour after two twice',
      '0,59 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00:00Z',
      '2026-10-25T12:00:00Z',
      ['2026-10-25T00:00:00Z', '2026-10-25T00:59:00Z'],
    ],
    [
      'Lord Howe skips half an hour',
      '15,45 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T12:00:00Z',
      '2026-10-03T20:00:00Z',
      ['2026-10-03T15:30:00Z', '2026-10-03T15:45:00Z'],
    ],
    [
      'Lord Howe has half an hour twice',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-04T12:00:00Z',
      '2026-04-05T12:00:00Z',
      ['2026-04-04T14:45:00Z'],
    ],
    [
      'Sao Paulo skipped midnight',
      '0 0 * * *',
      'America/Sao_Paulo',
      '2018-11-03T12:00:00Z',
      '2018-11-05T12:00:00Z',
      ['2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'],
    ],
    [
      'Sao Paulo had the hour before midnight twice',
      '30 23 * * *',
      'America/Sao_Paulo',
      '2019-02-16T12:00:00Z',
      '2019-02-18T12:00:00Z',
      ['2019-02-17T01:30:00Z', '2019-02-18T02:30:00Z'],
    ],
    [
      'Casablanca goes back for Ramadan and forward after it',
      '30 2 * * *',
      'Africa/Casablanca',
      '2026-02-14T12:00:00Z',
      '2026-02-16T12:00:00Z',
      ['2026-02-15T01:30:00Z', '2026-02-16T02:30:00Z'],
    ],
    [
      'Casablanca skips an hour after Ramadan',
      '30 2 * * *',
      'Africa/Casablanca',
      '2026-03-21T12:00:00Z',
      '2026-03-23T12:00:00Z',
      ['2026-03-22T02:00:00Z', '2026-03-23T01:30:00Z'],
    ],
    [
      'Apia left out 30 December 2011, and what was due on it',
      '0 6 * * *',
      'Pacific/Apia',
      '2011-12-29T00:00:00Z',
      '2012-01-01T00:00:00Z',
      ['2011-12-29T16:00:00Z', '2011-12-30T16:00:00Z', '2011-12-31T16:00:00Z'],
    ],
    [
      'Kathmandu is a quarter of an hour off',
      '0 6 * * *',
      'Asia/Kathmandu',
      '2026-03-28T12:00:00Z',
      '2026-03-30T00:00:00Z',
      ['2026-03-29T00:15:00Z'],
    ],
  ];

  it.each(rows)('%s', (_, cron, zone, from, to, expected) => {
    expect(firings(cron, zone, from, to)).toEqual(expected);
    expect(firingsBack(cron, zone, from, to)).toEqual(expected);
  });

  it('the hours that are all named are open', () => {
    expect(parseCron('30 0-23 * * *').isFixed).toBe(false);
    expect(parseCron('30 0-22 * * *').isFixed).toBe(true);
    expect(parseCron('30 */6 * * *').isFixed).toBe(false);
    expect(parseCron('30 2/12 * * *').isFixed).toBe(true);
  });
});

describe('a time zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'US/Eastern'])(
    '%s is known',
    (zone) => {
      expect(zoneProblem(zone)).toBeNull();
    },
  );

  it.each(['', 'Local', 'Mars/Olympus', '+02:00', 'UTC+2', 'Europe/Berlin '])('%j is none', (zone) => {
    expect(zoneProblem(zone)).toBe(`"${zone}" is not an IANA time zone such as "Europe/Berlin" or "UTC"`);
  });
});

describe('many patterns', () => {
  it('are told apart, however many there are', () => {
    const minutes = Array.from({ length: 300 }, (_, index) => index);
    const runs = () => minutes.map((index) => nextRun(`${index % 60} ${Math.floor(index / 60)} * * *`, 'UTC', 0));
    const expected = minutes.map((index) => (index === 0 ? 86_400_000 : index * 60_000));
    expect(runs()).toEqual(expected);
    expect(runs()).toEqual(expected);
  });
});
