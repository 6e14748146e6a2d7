import { describe, expect, it } from 'vitest';
import {
  calendarDays,
  type Calendars,
  readCalendar,
  timingWith,
} from '../../../../domain/lights-out/schedule/calendar.ts';
import { changedDays } from '../../../../domain/lights-out/schedule/changed-days.ts';
import { periodAt } from '../../../../domain/lights-out/schedule/period.ts';

const at = (text: string): number => Date.parse(text);
const HOUR = 3_600_000;
const office = {
  upscale: '0 7 * * 1-5',
  downscale: '0 19 * * 1-5',
  timezone: 'Europe/Berlin',
  exceptions: [],
  calendars: ['holidays'],
};

function calendarsOf(text: string): Calendars {
  return new Map([['holidays', readCalendar('holidays', { 'days.yaml': text })]]);
}

const problemsOf = (text: string): readonly string[] => readCalendar('holidays', { 'days.yaml': text }).problems;

describe('a calendar', () => {
  it('is read from every key, in their order, and a day without a state is down', () => {
    const { days, problems } = readCalendar('holidays', {
      '2027.yaml': '- {from: 2027-03-26, to: 2027-03-29, reason: Easter}',
      'fixed.yaml': '- from: 12-24\n  state: Up\n',
      '2026.yaml': '',
    });
    expect(problems).toEqual([]);
    expect(days).toEqual([
      { from: '2027-03-26', to: '2027-03-29', reason: 'Easter', state: 'Down' },
      { from: '12-24', state: 'Up' },
    ]);
  });

  it.each([
    ['a: [b', 'ConfigMap holidays, days.yaml: this is not YAML: '],
    ['from: 2026-12-24', 'ConfigMap holidays, days.yaml: {"from":"2026-12-24"}: expected a list of days such as'],
    ['- hello', 'ConfigMap holidays, days.yaml, entry 1: "hello": expected from (2026-12-24,'],
    ['- {to: 2026-12-24}', 'entry 1: no from: expected from (2026-12-24,'],
    ['- {from: 12-24}\n- {from: 2026-02-30}', 'entry 2: "2026-02-30" is not a day: write one that exists'],
    ['- {from: 2026-12-26, to: 2026-12-24}', 'entry 1: "2026-12-24" is before "2026-12-26"'],
    ['- {from: 2026-12-24, to: 12-26}', 'entry 1: "12-26" has another form than "2026-12-24"'],
    ['- {from: 2026-12-24, too: 2026-12-26}', 'entry 1: too "2026-12-26": expected from'],
    ['- {from: 12-24, state: down}', 'entry 1: state "down": expected from'],
    ['', 'ConfigMap holidays: no days: expected a list of days such as'],
  ])('says of %j what is wrong with it, and where', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  it('keeps the days that can be read beside those that cannot', () => {
    const { days } = readCalendar('holidays', { 'a.yaml': '- {from: 12-24}\n- {from: 13-24}', 'b.yaml': '{' });
    expect(days).toEqual([{ from: '12-24', state: 'Down' }]);
  });

  it('names some of many problems, and holds the first thousand of too many days', () => {
    expect(problemsOf(Array.from({ length: 30 }, () => '- x').join('\n'))).toHaveLength(11);
    const many = readCalendar('holidays', {
      'a.yaml': Array.from({ length: 1_001 }, () => '- {from: 12-24}').join('\n'),
    });
    expect(many.days).toHaveLength(1_000);
    expect(many.problems).toEqual([expect.stringContaining('1001 days, of which the first 1000 hold')]);
  });

  it('is not unfolded without bounds', () => {
    const laughs = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefghi'
        .split('')
        .map(
          (key, index) => `${key}: &${key} [${Array.from({ length: 9 }, () => `*${'abcdefgh'[index]}`).join(', ')}]`,
        ),
    ];
    expect(problemsOf(laughs.join('\n'))).toEqual([expect.stringContaining('this cannot be read')]);
  });
});

describe('a schedule with calendars', () => {
  it('goes by its own exceptions first, then by its calendars, and names the calendar', () => {
    const calendars = calendarsOf('- {from: 12-24, to: 12-26, reason: Christmas}');
    const release = { ...office, exceptions: [{ from: '2026-12-24', state: 'Up' as const, reason: 'release' }] };
    const christmasEve = at('2026-12-24T12:00:00+01:00');
    expect(periodAt(timingWith(office, calendarDays(office, calendars)), christmasEve)).toMatchObject({
      state: 'Down',
      exception: 'Christmas (holidays)',
      since: at('2026-12-23T19:00:00+01:00'),
      next: { at: at('2026-12-28T07:00:00+01:00'), state: 'Up' },
    });
    expect(periodAt(timingWith(release, calendarDays(release, calendars)), christmasEve)).toMatchObject({
      state: 'Up',
      exception: 'release',
    });
  });

  it('has a digest of what they say, and says which are missing', () => {
    const [a, b] = ['- {from: 12-24}', '- {from: 12-25}'].map((text) => calendarDays(office, calendarsOf(text)));
    expect(a?.digest).not.toBe(b?.digest);
    expect(calendarDays(office, calendarsOf('- {from: 12-24}'))).toEqual(a);
    expect(calendarDays({ calendars: [] }, calendarsOf(''))).toBeNull();
    expect(calendarDays(office, new Map())?.problems).toEqual([
      "there is no ConfigMap holidays with the label lightsout.techsupport.mk/calendar in Headroom's namespace",
    ]);
  });

  it('shows of a year which days change something, and by how much', () => {
    const days = '- {from: 12-24, to: 12-26, reason: Christmas}\n- {from: 2027-10-03}\n- {from: 2027-02-06, state: Up}';
    const timing = timingWith(office, calendarDays(office, calendarsOf(days)));
    const year = changedDays(timing, at('2026-11-26T12:00:00+01:00'), at('2027-11-26T12:00:00+01:00'));
    expect(year.map(({ from, until, state, label, changed }) => [from, until - from, state, label, changed])).toEqual([
      [at('2026-12-24T00:00:00+01:00'), 72 * HOUR, 'Down', 'Christmas (holidays)', 24 * HOUR],
      [at('2027-02-06T00:00:00+01:00'), 24 * HOUR, 'Up', '2027-02-06 (holidays)', 24 * HOUR],
      [at('2027-10-03T00:00:00+02:00'), 24 * HOUR, 'Down', '2027-10-03 (holidays)', 0],
    ]);
  });

  it('counts days that are under way from the beginning of what is asked, up to its end', () => {
    const timing = timingWith(
      office,
      calendarDays(office, calendarsOf('- {from: 12-21, to: 12-25}\n- {from: 12-23, reason: other}')),
    );
    const span = changedDays(timing, at('2026-12-22T12:00:00+01:00'), at('2026-12-24T08:00:00+01:00'));
    expect(span.map(({ from, until, changed }) => [from, until, changed / HOUR])).toEqual([
      [at('2026-12-22T12:00:00+01:00'), at('2026-12-24T08:00:00+01:00'), 20],
    ]);
  });
});
