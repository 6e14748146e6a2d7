import { describe, expect, it } from 'vitest';
import {
  exceptionProblems,
  forcedAt,
  nextEdge,
  previousEdge,
  readExceptions,
} from '../../../../domain/lights-out/schedule/exceptions.ts';
import type { ScheduleException } from '../../../../domain/lights-out/schedule/schedule.ts';

const at = (text: string): number => Date.parse(text);
const iso = (moment: number | null): string | null =>
  moment === null ? null : new Date(moment).toISOString().replace('.000Z', 'Z');

const down = (from: string, to?: string): ScheduleException => ({
  from,
  state: 'Down',
  ...(to === undefined ? {} : { to }),
});

/** When exceptions begin to force something, and when they are over, from one moment to another. */
function forcedSpans(exceptions: readonly ScheduleException[], zone: string, from: string, to: string) {
  const read = readExceptions(exceptions, zone);
  const spans: (readonly [from: string | null, label: string | null])[] = [];
  for (let edge = nextEdge(read, at(from)); edge !== null && edge <= at(to); edge = nextEdge(read, edge)) {
    expect(previousEdge(read, edge)).toBe(edge);
    const label = forcedAt(read, edge)?.label ?? null;
    expect(forcedAt(read, edge - 1)?.label ?? null).toBe(spans.at(-1)?.[1] ?? forcedAt(read, at(from))?.label ?? null);
    spans.push([iso(edge), label]);
  }
  return spans;
}

describe('an exception', () => {
  it('holds from the local midnight of its first day to the one after its last', () => {
    expect(
      forcedSpans([down('2026-12-24', '2026-12-26')], 'Europe/Berlin', '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z'),
    ).toEqual([
      ['2026-12-23T23:00:00Z', '2026-12-24 to 2026-12-26'],
      ['2026-12-26T23:00:00Z', null],
    ]);
  });

  it('without a last day holds for one day', () => {
    expect(forcedSpans([down('2026-05-01')], 'UTC', '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z')).toEqual([
      ['2026-05-01T00:00:00Z', '2026-05-01'],
      ['2026-05-02T00:00:00Z', null],
    ]);
  });

  it('without a year comes every year, over new year too', () => {
    const spans = forcedSpans([down('12-24', '01-02')], 'UTC', '2026-06-01T00:00:00Z', '2028-06-01T00:00:00Z');
    expect(spans).toEqual([
      ['2026-12-24T00:00:00Z', '12-24 to 01-02'],
      ['2027-01-03T00:00:00Z', null],
      ['2027-12-24T00:00:00Z', '12-24 to 01-02'],
      ['2028-01-03T00:00:00Z', null],
    ]);
  });

  it('is named by its reason, where it has one', () => {
    const [holiday] = readExceptions([{ ...down('05-01'), reason: 'Labour Day' }], 'UTC').all;
    expect(holiday?.label).toBe('Labour Day');
    const [nameless] = readExceptions([{ ...down('05-01'), reason: '' }], 'UTC').all;
    expect(nameless?.label).toBe('05-01');
  });

  it('that is the first of two counts', () => {
    const both: readonly ScheduleException[] = [
      { ...down('2026-12-24'), state: 'Up', reason: 'release' },
      { ...down('12-20', '12-31'), reason: 'holidays' },
    ];
    expect(forcedSpans(both, 'UTC', '2026-12-01T00:00:00Z', '2027-02-01T00:00:00Z')).toEqual([
      ['2026-12-20T00:00:00Z', 'holidays'],
      ['2026-12-24T00:00:00Z', 'release'],
      ['2026-12-25T00:00:00Z', 'holidays'],
      ['2027-01-01T00:00:00Z', null],
    ]);
  });

  it('on a leap day comes in leap years only', () => {
    const read = readExceptions([down('02-29')], 'UTC');
    const days = [2024, 2025, 2026, 2027, 2028].flatMap((year) =>
      [`${year}-02-28`, `${year}-03-01`, ...(year % 4 === 0 ? [`${year}-02-29`] : [])].filter(
        (day) => forcedAt(read, at(`${day}T12:00:00Z`)) !== null,
      ),
    );
    expect(days).toEqual(['2024-02-29', '2028-02-29']);
  });

  it('to a leap day ends with February in other years, and from one begins with March', () => {
    const to = readExceptions([down('02-20', '02-29')], 'UTC');
    expect(iso(nextEdge(to, at('2026-02-25T00:00:00Z')))).toBe('2026-03-01T00:00:00Z');
    expect(iso(nextEdge(to, at('2028-02-25T00:00:00Z')))).toBe('2028-03-01T00:00:00Z');
    const from = readExceptions([down('02-29', '03-10')], 'UTC');
    expect(iso(nextEdge(from, at('2026-02-25T00:00:00Z')))).toBe('2026-03-01T00:00:00Z');
    expect(forcedAt(from, at('2026-03-01T00:00:00Z'))?.state).toBe('Down');
    expect(iso(nextEdge(from, at('2028-02-25T00:00:00Z')))).toBe('2028-02-29T00:00:00Z');
  });

  it('of one state can be looked for alone', () => {
    const read = readExceptions([down('05-01'), { ...down('07-01'), state: 'Up' }], 'UTC');
    expect(iso(nextEdge(read, at('2026-01-01T00:00:00Z'), 'Up'))).toBe('2026-07-01T00:00:00Z');
    expect(iso(previousEdge(read, at('2026-12-01T00:00:00Z'), 'Down'))).toBe('2026-05-02T00:00:00Z');
  });

  it('that is over for good has no edge any more, and none at all is never in force', () => {
    const read = readExceptions([down('2026-05-01')], 'UTC');
    expect(nextEdge(read, at('2026-05-02T00:00:00Z'))).toBeNull();
    expect(previousEdge(read, at('2026-04-30T23:59:59Z'))).toBeNull();
    const none = readExceptions([], 'UTC');
    expect([forcedAt(none, 0), nextEdge(none, 0), previousEdge(none, 0)]).toEqual([null, null, null]);
  });
});

describe('a day', () => {
  it.each([
    // The clocks of Sao Paulo went from 23:59:59 to 1:00, and from the next midnight back to 23:00.
    [
      'begins when midnight has been skipped',
      'America/Sao_Paulo',
      '2018-11-04',
      '2018-11-04T03:00:00Z',
      '2018-11-05T02:00:00Z',
    ],
    [
      'begins after the second hour before it',
      'America/Sao_Paulo',
      '2019-02-17',
      '2019-02-17T03:00:00Z',
      '2019-02-18T03:00:00Z',
    ],
    ['is 25 hours long in autumn', 'Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    ['is 23 hours long in spring', 'America/New_York', '2026-03-08', '2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'],
    [
      'is 23 and a half hours long on Lord Howe',
      'Australia/Lord_Howe',
      '2026-10-04',
      '2026-10-03T13:30:00Z',
      '2026-10-04T13:00:00Z',
    ],
    [
      'begins with the first of two midnights',
      'America/Havana',
      '2026-11-01',
      '2026-11-01T04:00:00Z',
      '2026-11-02T05:00:00Z',
    ],
    // One minute after midnight they went back to 23:01 of the day before.
    ['that has begun stays', 'America/St_Johns', '2010-11-07', '2010-11-07T02:30:00Z', '2010-11-08T03:30:00Z'],
    [
      'is a quarter of an hour off in Kathmandu',
      'Asia/Kathmandu',
      '2026-01-01',
      '2025-12-31T18:15:00Z',
      '2026-01-01T18:15:00Z',
    ],
  ])('%s (%s, %s)', (_, zone, day, from, to) => {
    expect(forcedSpans([down(day)], zone, '2000-01-01T00:00:00Z', '2030-01-01T00:00:00Z')).toEqual([
      [from, day],
      [to, null],
    ]);
    const read = readExceptions([down(day)], zone);
    for (let moment = at(from); moment < at(to); moment += 60_000) expect(forcedAt(read, moment)).not.toBeNull();
  });

  it.each([
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00Z'],
    ['Pacific/Kwajalein', '1993-08-21', '1993-08-21T12:00:00Z'],
  ])('that %s left out (%s) forces nothing, alone', (zone, day, moment) => {
    const read = readExceptions([down(day)], zone);
    expect(forcedAt(read, at(moment))).toBeNull();
    expect(forcedAt(read, at(moment) - 1)).toBeNull();
    expect(nextEdge(read, at(moment) - 1)).toBe(at(moment));
    expect(nextEdge(read, at(moment))).toBeNull();
    expect(previousEdge(read, at(moment))).toBe(at(moment));
  });

  it('that a zone left out is no hole in a range', () => {
    expect(
      forcedSpans([down('2011-12-29', '2011-12-31')], 'Pacific/Apia', '2011-01-01T00:00:00Z', '2013-01-01T00:00:00Z'),
    ).toEqual([
      ['2011-12-29T10:00:00Z', '2011-12-29 to 2011-12-31'],
      ['2011-12-31T10:00:00Z', null],
    ]);
  });
});

describe('what is wrong with exceptions', () => {
  it('is nothing for days that exist, in one form and in order', () => {
    const fine = [
      down('2028-02-29'),
      down('02-29'),
      down('12-24', '01-02'),
      down('05-01', '05-01'),
      down('2026-12-24', '2027-01-02'),
    ];
    expect(exceptionProblems(fine)).toEqual([]);
  });

  it.each([
    [down('02-30'), 'from', '"02-30" is not a day: write one that exists, as 2026-12-24, or as 12-24 for every year'],
    [down('2026-02-29'), 'from', '"2026-02-29" is not a day'],
    [down('04-30', '04-31'), 'to', '"04-31" is not a day'],
    [down('0000-00-00'), 'from', '"0000-00-00" is not a day'],
    [down('0026-12-24'), 'from', '"0026-12-24" is not a day'],
    [
      down('12-24', '2026-12-26'),
      'to',
      '"2026-12-26" has another form than "12-24": write both with the year, or both',
    ],
    [down('2026-12-24', '12-26'), 'to', '"12-26" has another form than "2026-12-24"'],
    [down('2026-12-24', '2026-12-23'), 'to', '"2026-12-23" is before "2026-12-24"'],
  ] as const)('is said with its place: %j', (exception, end, message) => {
    const problems = exceptionProblems([down('05-01'), exception]);
    expect(problems).toEqual([{ field: `spec.exceptions[1].${end}`, message: expect.stringContaining(message) }]);
  });

  it('is said for both ends', () => {
    expect(exceptionProblems([down('02-30', '02-31')]).map(({ field }) => field)).toEqual([
      'spec.exceptions[0].from',
      'spec.exceptions[0].to',
    ]);
  });

  it('keeps them from being read', () => {
    expect(() => readExceptions([down('02-30')], 'UTC')).toThrow(RangeError);
  });
});
