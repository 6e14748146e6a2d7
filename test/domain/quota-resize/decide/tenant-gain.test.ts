import { describe, expect, it } from 'vitest';
import { HOUR, MINUTE, SECOND } from '../model/observations.ts';
import { play, type Story } from './tenant-world.ts';

const hour = { tick: 30 * SECOND, ticks: 120 } as const;

describe('annotations do not take away', () => {
  const opened = (story: Partial<Story>): number =>
    play({ annotations: [{}], missing: () => 0, answer: 'close', ...hour, ...story }).opened.length;
  const growing = (tick: number): number => 1_000 + tick;

  it.each<readonly [string, Partial<Story>, number]>([
    ['the cooldown after a no', { annotations: [{ 'rejection-cooldown': '0' }] }, 1],
    [
      'the cooldown where none is asked for',
      { annotations: [{ 'rejection-cooldown': '0', 'cooldown-minutes': '0' }] },
      1,
    ],
    [
      'a no by a tiny increment',
      { annotations: [{ increment: '0.001', burst: 'fill', 'cooldown-minutes': '0' }], missing: growing },
      1,
    ],
    [
      'a no by a tiny increment of the resource',
      { annotations: [{ 'cpu-increment': '0.001', burst: 'fill' }], missing: growing },
      1,
    ],
    [
      'a no with a demand that grows by a fifth',
      {
        annotations: [{ burst: 'fill', 'max-step': '1000' }],
        missing: (tick) => Math.floor(1_000 * 1.3 ** Math.min(tick, 40)),
      },
      1,
    ],
    [
      'the cooldown, by opting out and in again',
      {
        annotations: [...Array.from({ length: 5 }, () => ({ 'auto-merge': 'false' })), { enabled: 'false' }],
        answer: 'none',
      },
      1,
    ],
    [
      'the time that people have to answer',
      {
        annotations: [
          { approval: 'before-merge', 'approval-timeout': '1s', 'rejection-cooldown': '0', 'cooldown-minutes': '0' },
        ],
        answer: 'none',
        tick: 2 * SECOND,
        ticks: 300,
      },
      1,
    ],
  ])('%s', (_name, story, most) => {
    expect(opened(story)).toBeLessThanOrEqual(most);
  });

  it('the time between two reminders', () => {
    const { events } = play({
      annotations: [{ approval: 'before-merge', 'approval-reminder': '1s' }],
      missing: () => 0,
      answer: 'none',
      tick: 2 * SECOND,
      ticks: 600,
    });
    // One says that 1s is too short.
    expect(events.length).toBeLessThanOrEqual(4);
  });

  const told = { answer: 'none', ...hour } as const;

  it('the attention of people, by a demand that grows all the time before they approve', () => {
    const { events } = play({
      annotations: [{ approval: 'before-pull-request', burst: 'fill' }],
      missing: growing,
      ...told,
    });
    expect(events.length).toBeLessThanOrEqual(12);
  });

  it('the time that people have to answer, by a demand that grows until they are told no more for an hour', () => {
    const { events, rejected } = play({
      annotations: [
        {
          approval: 'before-pull-request',
          'approval-timeout': '15m',
          'approval-reminder': 'never',
          burst: 'fill',
          'max-step': '1000',
        },
      ],
      missing: (tick) => 1_000 + Math.min(tick, 24),
      answer: 'none',
      tick: 30 * SECOND,
      ticks: 200,
    });
    const end = rejected[0]?.at ?? 0;
    // The last Event of that moment is about the end itself.
    const asked = events.slice(0, events.lastIndexOf(end)).at(-1) ?? 0;
    expect(end - asked).toBeGreaterThanOrEqual(15 * MINUTE);
  });

  it('the attention of people, by a freeze that ends at another moment every minute', () => {
    const annotations = Array.from({ length: 60 }, (_, minute) => {
      return { 'freeze-until': new Date(Date.UTC(2030, 0, 1, 0, minute)).toISOString() };
    }).flatMap((one) => [one, one]);
    const { events, comments } = play({ annotations, missing: () => 0, ...told });
    expect(events.length).toBeLessThanOrEqual(12);
    expect(comments.length).toBeLessThanOrEqual(10);
  });

  it('the rest of Leases, by a demand that grows all the time before anybody approves', () => {
    const annotations = Array.from({ length: 120 }, (_, tick) => ({
      approval: 'before-pull-request',
      'cpu-min': String(Math.ceil(12 * 1.3 ** tick)),
    }));
    const { stored } = play({ annotations, missing: () => 0, ...told });
    // Each ten minutes, as it would be with an open pull request.
    expect(stored.length).toBeLessThanOrEqual(8);
  });

  it('the attention of people, by wrong values that are other ones in each run', () => {
    const names = ['threshold', 'increment', 'max-step', 'burst', 'steps', 'approval', 'reviewers', 'git-field'];
    const annotations = Array.from({ length: 30 }, (_, run) =>
      Object.fromEntries(names.map((name) => [name, `nonsense ${run}`])),
    );
    // Nothing is needed, so each run ends at once.
    const { warnings } = play({ annotations, missing: () => 0, used: 0, answer: 'none', tick: MINUTE, ticks: 30 });
    expect(warnings.get('PolicyInvalid')?.length).toBe(10);
  });

  it('what is not used: a limit is not raised for a threshold of one percent', () => {
    const { limits } = play({
      annotations: [{ threshold: '1', 'cooldown-minutes': '0' }],
      missing: () => 0,
      answer: 'none',
      used: 1_000,
      tick: HOUR,
      ticks: 24,
    });
    expect(limits.map(({ limit }) => limit)).toEqual([10_000]);
  });
});
