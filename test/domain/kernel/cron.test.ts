import { describe, expect, it } from 'vitest';
import { CronProblem, cronProblem, lastRunInUtc, parseCron } from '../../../domain/kernel/cron.ts';
import { DAY_MS } from '../../../domain/kernel/day.ts';
import { runAtOrBefore } from '../../../domain/lights-out/schedule/cron-runs.ts';
import * as fc from '../../kernel/fast-check.ts';

describe('a pattern', () => {
  it.each([
    ['a question mark is a star', '0 6 ? * 1', '0 6 * * 1'],
    ['names are read in any case', '0 6 * jan-MAR Mon-fRi', '0 6 * 1-3 1-5'],
    ['a step without an end goes to the end', '5/20 6 * * *', '5,25,45 6 * * *'],
    ['a step of one from a star is a star', '*/1 6 * * *', '* 6 * * *'],
    ['a range takes a step', '0-30/10 6 * * *', '0,10,20,30 6 * * *'],
    ['a named range takes a step', '0 6 * * MON-FRI/2', '0 6 * * 1,3,5'],
    ['a step that is longer than the field is its first value', '*/100 6 * * *', '0 6 * * *'],
    ['a list may have holes', '0 6 1,,3 * *', '0 6 1,3 * *'],
    ['a list may have the same value twice', '0 6 1,3,1 * *', '0 6 3,1 * *'],
    ['a range from a star is a star', '*-5 6 * * *', '* 6 * * *'],
    ['zeros in front do not count', '00 06 01 01 *', '0 6 1 1 *'],
    ['spaces and tabs around it do not count', '  0\t6  * * * ', '0 6 * * *'],
  ])('%s', (_, text, same) => {
    expect(parseCron(text)).toEqual(parseCron(same));
    expect(cronProblem(text)).toBeNull();
  });

  it.each([
    ['', 'the cron pattern is empty: a cron pattern has five fields'],
    ['6 * * *', 'has 4 fields: a cron pattern has five fields'],
    ['0 0 6 * * *', 'has 6 fields: a cron pattern has five fields'],
    ['0 0 6 * * * 2026', 'has 7 fields: a cron pattern has five fields'],
    ['@daily', 'is a macro, which is not known: a cron pattern has five fields'],
    ['@every 1h', 'is a macro'],
    ['TZ=UTC 0 6 * * *', '"TZ=UTC" is a time zone inside of the cron pattern: leave it out here'],
    ['CRON_TZ=Asia/Tokyo 0 6 * * *', '"CRON_TZ=Asia/Tokyo" is a time zone inside of the cron pattern'],
    ['60 6 * * *', 'the minute "60" is out of bounds: it takes numbers from 0 to 59'],
    ['0 24 * * *', 'the hour "24" is out of bounds: it takes numbers from 0 to 23'],
    ['0 6 0 * *', 'the day of month "0" is out of bounds: it takes numbers from 1 to 31'],
    ['0 6 32 * *', 'the day of month "32" is out of bounds'],
    ['0 6 * 13 *', 'the month "13" is out of bounds: it takes numbers from 1 to 12, or JAN to DEC'],
    ['0 6 * * 7', 'the day of week "7" is out of bounds: it takes numbers from 0 (Sunday) to 6'],
    ['0 6 * * 0-7', 'the day of week "0-7" is out of bounds'],
    ['0 6 L * *', 'the day of month "L" is not understood'],
    ['0 6 15W * *', 'the day of month "15W" is not understood'],
    ['0 6 * * 5L', 'the day of week "5L" is not understood'],
    ['0 6 * * MON#1', 'the day of week "MON#1" is not understood'],
    ['0 6 * * MONDAY', 'the day of week "MONDAY" is not understood'],
    ['0 6 * MON *', 'the month "MON" is not understood'],
    ['0 6 * * +1-FRI#2', 'the day of week "+1-FRI#2" is not understood'],
    ['-5 6 * * *', 'the minute "-5" is not understood'],
    ['0 6 * * FRI-MON', 'the day of week "FRI-MON" ends before it begins: write both parts of it, as FRI-SAT,SUN-MON'],
    ['0 22-6 * * *', 'the hour "22-6" ends before it begins: write both parts of it, as 22-23,0-6'],
    ['*/0 * * * *', 'the minute "*/0" has a step that is not a number from 1 on'],
    ['*/x * * * *', 'the minute "*/x" has a step that is not a number from 1 on'],
    ['1/2/3 * * * *', 'the minute "1/2/3" has more than one step'],
    ['1-2-3 * * * *', 'the minute "1-2-3" has a range with more than two ends'],
    ['0 6 , * *', 'the day of month "," names nothing'],
  ])('%j is rejected with what would be right', (text, message) => {
    expect(() => parseCron(text)).toThrow(CronProblem);
    expect(cronProblem(text)).toContain(message);
  });

  it.each(['0 0 30 2 *', '0 0 31 4,6,9,11 *', '59 23 31 feb *', '0 0 30-31 2 ?'])(
    '%s is rejected because it never comes',
    (text) => {
      expect(cronProblem(text)).toBe(`"${text}" never comes: none of its months has such a day`);
    },
  );

  it('that never comes by its date comes by its weekday, where it names both', () => {
    expect(cronProblem('0 0 30 2 1')).toBeNull();
  });
});

describe('the last run in UTC', () => {
  const field = (from: number, to: number) =>
    fc.oneof(fc.constant('*'), fc.integer({ min: from, max: to }).map(String), fc.constant(`${from}-${to - 1}/3`));
  const pattern = fc
    .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 6))
    .map((fields) => fields.join(' '))
    .filter((text) => cronProblem(text) === null);
  const moment = fc.integer({ min: Date.UTC(1999, 0, 1), max: Date.UTC(2111, 0, 1) });

  it('is that of the cron library, where it is after the moment that is asked from', () => {
    fc.assert(
      fc.property(pattern, moment, fc.integer({ min: 1, max: 40 }), (text, at, days) => {
        const cron = parseCron(text);
        const after = at - days * DAY_MS;
        const run = runAtOrBefore(cron, 'UTC', at);
        expect(lastRunInUtc(cron, at, after)).toBe(run !== null && run > after ? run : null);
      }),
      { numRuns: 300 },
    );
  });

  it('is found over the eight years from one leap day to the next, and for a day that never comes nothing is', () => {
    const leap = parseCron('0 0 29 2 *');
    expect(lastRunInUtc(leap, Date.UTC(2104, 1, 28), 0)).toBe(Date.UTC(2096, 1, 29));
    expect(lastRunInUtc(parseCron('0 0 30 2 *'), Date.UTC(2026, 0, 1), -1e20)).toBeNull();
  });
});
