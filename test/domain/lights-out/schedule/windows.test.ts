import { describe, expect, it } from 'vitest';
import { leastOf, levelText, replicasAt } from '../../../../domain/lights-out/schedule/level.ts';
import { periodAt, type Timing, transitions } from '../../../../domain/lights-out/schedule/period.ts';
import { previewOf } from '../../../../domain/lights-out/schedule/preview.ts';
import { scheduleProblems } from '../../../../domain/lights-out/schedule/problems.ts';
import { scheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';

const at = (text: string): number => Date.parse(text);
const MINUTE = 60_000;
const nights = { upscale: '0 6 * * *', downscale: '0 22 * * *', timezone: 'UTC', exceptions: [] };
const lunch = { downscale: '0 12 * * 1-5', upscale: '0 14 * * 1-5', percent: 50 };
const evening = { downscale: '0 19 * * *', upscale: '0 23 * * *', replicas: 1 };
const office: Timing = { ...nights, windows: [lunch, evening] };

/** `Down to 50 % at Mon 12:00`. */
function shown(timing: Timing, from: string, to: string): string[] {
  return transitions(timing, at(from), at(to)).map(({ at: when, state, level }) => {
    const kept = level === undefined ? '' : ` to ${levelText(level) ?? 'nothing'}`;
    return `${new Date(when).toISOString().slice(5, 16)} ${state}${kept}`;
  });
}

describe('what is kept', () => {
  it('is the least of what is in force, and never more than there was', () => {
    expect([0, 1, 3, 4].map((original) => replicasAt({ percent: 50 }, original))).toEqual([0, 1, 2, 2]);
    expect(replicasAt({ replicas: 5 }, 3)).toBe(3);
    expect(replicasAt({ replicas: 2, percent: 10 }, 30)).toBe(2);
    expect(replicasAt({ replicas: 4, percent: 10 }, 30)).toBe(3);
    expect(replicasAt({}, 7)).toBe(7);
    expect(
      leastOf([{ replicas: 3 }, { percent: 50, runsCronJobs: true }, { replicas: 1, runsCronJobs: true }]),
    ).toEqual({
      replicas: 1,
      percent: 50,
    });
    expect(leastOf([{ percent: 50, runsCronJobs: true }])).toEqual({ percent: 50, runsCronJobs: true });
  });

  it('is said in words', () => {
    const levels = [
      { replicas: 1 },
      { percent: 50 },
      { replicas: 2, percent: 50 },
      { replicas: 0 },
      { replicas: 0, percent: 9 },
    ];
    expect(levels.map(levelText)).toEqual(['1 replica', '50 %', '2 replicas and at most 50 %', null, null]);
  });
});

describe('a schedule with windows', () => {
  it('changes at each of their ends, also from one count to another without waking', () => {
    expect(shown(office, '2026-11-23T07:00:00Z', '2026-11-24T12:00:00Z')).toEqual([
      '11-23T12:00 Down to 50 %',
      '11-23T14:00 Up',
      '11-23T19:00 Down to 1 replica',
      '11-23T22:00 Down to nothing',
      '11-24T06:00 Up',
      '11-24T12:00 Down to 50 %',
    ]);
  });

  it('has since when it sleeps, and since when it keeps what it keeps', () => {
    expect(periodAt(office, at('2026-11-23T22:30:00Z'))).toEqual({
      state: 'Down',
      since: at('2026-11-23T19:00:00Z'),
      exception: null,
      level: { replicas: 0, since: at('2026-11-23T22:00:00Z') },
      next: { at: at('2026-11-24T06:00:00Z'), state: 'Up', exception: null },
      nextUpscale: at('2026-11-24T06:00:00Z'),
      nextDownscale: at('2026-11-24T22:00:00Z'),
    });
    expect(periodAt(office, at('2026-11-23T20:00:00Z'))).toMatchObject({
      level: { replicas: 1, runsCronJobs: true, since: at('2026-11-23T19:00:00Z') },
      next: { at: at('2026-11-23T22:00:00Z'), state: 'Down', level: { replicas: 0 } },
    });
    const noon = periodAt(office, at('2026-11-23T16:00:00Z'));
    expect(noon).toMatchObject({ state: 'Up', since: at('2026-11-23T14:00:00Z') });
    expect(noon.level).toBeUndefined();
  });

  it('is for ever down where its windows fill the days, at one count or another', () => {
    const always: Timing = { ...nights, windows: [{ downscale: '0 6 * * *', upscale: '0 22 * * *', percent: 25 }] };
    const period = periodAt(always, at('2026-11-23T12:00:00Z'));
    expect(period).toMatchObject({ state: 'Down', since: Date.UTC(2000, 0, 1) });
    expect(period.level).toEqual({
      percent: 25,
      ofWindow: true,
      runsCronJobs: true,
      since: at('2026-11-23T06:00:00Z'),
    });
    expect(period.next).toMatchObject({ at: at('2026-11-23T22:00:00Z'), state: 'Down', level: { replicas: 0 } });
    expect(periodAt(always, at('2026-11-24T12:00:00Z')).since).toBe(period.since);
  });

  it('keeps on a day off what it keeps at night, and everything on a day that is up', () => {
    const exceptions = [
      { from: '2026-11-24', state: 'Down' as const, reason: 'strike' },
      { from: '2026-11-25', state: 'Up' as const },
    ];
    expect(shown({ ...office, exceptions }, '2026-11-23T20:00:00Z', '2026-11-26T11:00:00Z')).toEqual([
      '11-23T22:00 Down to nothing',
      '11-25T00:00 Up',
      '11-26T00:00 Down to nothing',
      '11-26T06:00 Up',
    ]);
    expect(periodAt({ ...office, exceptions }, at('2026-11-24T13:00:00Z'))).toMatchObject({
      state: 'Down',
      exception: 'strike',
      since: at('2026-11-23T19:00:00Z'),
      level: { replicas: 0, since: at('2026-11-23T22:00:00Z') },
    });
  });

  it('says nothing of counts, and the same as ever, without windows', () => {
    const night = at('2026-11-23T23:00:00Z');
    expect(periodAt({ ...nights, windows: [], downscaleReplicas: 2 }, night)).toEqual(periodAt(nights, night));
    expect(periodAt(nights, night)).not.toHaveProperty('level');
  });

  it('says at every minute what the changes before it say', () => {
    const zoned: Timing = {
      ...office,
      timezone: 'Europe/Berlin',
      downscaleReplicas: 1,
      windows: [lunch, evening, { downscale: '30 1 * * *', upscale: '30 2 * * *', replicas: 0 }],
      exceptions: [{ from: '2026-10-24', state: 'Up' }],
    };
    // The clocks go back on the 25th.
    const [begin, end] = [at('2026-10-23T12:00:00Z'), at('2026-10-26T12:00:00Z')];
    let told = periodAt(zoned, begin);
    const changes = [...transitions(zoned, begin, end)];
    for (let now = begin; now < end; now += 29 * MINUTE) {
      while (changes[0] !== undefined && changes[0].at <= now) {
        expect(periodAt(zoned, changes[0].at - 1).next).toEqual(changes[0]);
        told = periodAt(zoned, changes[0].at);
        expect(told.level?.since ?? told.since).toBe(changes.shift()?.at);
      }
      const { state, since, level } = periodAt(zoned, now);
      expect({ now, state, since, level }).toEqual({ now, state: told.state, since: told.since, level: told.level });
    }
  });

  it('does not look for ever for a change that never has an effect', () => {
    const busy: Timing = {
      ...nights,
      upscale: '0 0 29 2 *',
      downscale: '*/2 * * * *',
      windows: [{ downscale: '*/2 * * * *', upscale: '1-59/2 * * * *', percent: 50 }],
    };
    expect(periodAt(busy, at('2026-11-23T12:00:30Z'))).toMatchObject({ state: 'Down', level: { replicas: 0 } });
  });

  it('is previewed with what it keeps', () => {
    const { rows, period } = previewOf(office, at('2026-11-23T12:30:00Z'), at('2026-11-24T00:00:00Z'));
    expect(period.level).toMatchObject({ percent: 50 });
    expect(rows.map(({ state, level }) => [state, level])).toEqual([
      ['Up', undefined],
      ['Down', { replicas: 1, ofWindow: true, runsCronJobs: true }],
      ['Down', { replicas: 0 }],
    ]);
  });

  it.each([
    [{ ...lunch, upscale: '@daily' }, 'spec.windows[1].upscale'],
    [{ ...lunch, downscale: '0 0 30 2 *' }, 'spec.windows[1].downscale'],
    [{ ...lunch, replicas: 1 }, 'spec.windows[1]'],
    [{ downscale: '0 12 * * *', upscale: '0 14 * * *' }, 'spec.windows[1]'],
  ])('is invalid with %j', (window, field) => {
    const spec = scheduleSpec.parse({ ...nights, namespaces: ['a'], windows: [lunch, window] });
    expect(scheduleProblems(spec).map((problem) => problem.field)).toEqual([field]);
  });
});
