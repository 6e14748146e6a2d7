import { describe, expect, it } from 'vitest';
import { scheduleProblems } from '../../../../domain/lights-out/schedule/problems.ts';
import { type ScheduleSpec, scheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';

const good = scheduleSpec.parse({ upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a'] });
const requirement = { matchExpressions: [{ key: 'team', operator: 'In' as const, values: [] }] };

/** Where something is wrong with a schedule that is good otherwise. */
const fields = (part: Partial<ScheduleSpec>) => scheduleProblems({ ...good, ...part }).map(({ field }) => field);

describe('the problems of a schedule', () => {
  it('are none where it is fine', () => {
    expect(scheduleProblems(good)).toEqual([]);
    expect(fields({ namespaces: [], namespaceSelector: { matchLabels: { team: 'a' } } })).toEqual([]);
    expect(fields({ namespaceSelector: {}, excludeLabels: {} })).toEqual([]);
  });

  it.each<[string, Partial<ScheduleSpec>, string]>([
    ['a pattern that is none', { upscale: '0 25 * * *' }, 'spec.upscale'],
    ['a pattern that never comes', { downscale: '0 6 31 2,4 *' }, 'spec.downscale'],
    ['a time zone in a pattern', { downscale: 'TZ=UTC 0 6 * * *' }, 'spec.downscale'],
    ['a zone that there is not', { timezone: 'Europe/Atlantis' }, 'spec.timezone'],
    ['a day that there is not', { exceptions: [{ from: '2026-02-29', state: 'Up' }] }, 'spec.exceptions[0].from'],
    ['nothing to select', { namespaces: [] }, 'spec'],
    ['a selector', { namespaceSelector: requirement }, 'spec.namespaceSelector.matchExpressions[0].values'],
    ['labels', { excludeLabels: requirement }, 'spec.excludeLabels.matchExpressions[0].values'],
    [
      'a priority',
      {
        priorities: [
          { priority: 1, selector: {} },
          { priority: 2, selector: requirement },
        ],
      },
      'spec.priorities[1].selector.matchExpressions[0].values',
    ],
    ['a delay', { upscaleRateLimit: { delayBetweenBatches: '25h' } }, 'spec.upscaleRateLimit.delayBetweenBatches'],
    [
      'the other',
      { downscaleRateLimit: { delayBetweenBatches: '25h' } },
      'spec.downscaleRateLimit.delayBetweenBatches',
    ],
    ['a wait', { readinessTimeout: '24h1s' }, 'spec.readinessTimeout'],
    ['a grace', { newWorkloadGrace: '169h' }, 'spec.newWorkloadGrace'],
  ])('name the field: %s', (_, part, field) => {
    expect(fields(part)).toEqual([field]);
  });

  it('are said all at once', () => {
    expect(fields({ upscale: '@daily', timezone: 'UTC+1', namespaces: [], readinessTimeout: '48h' })).toEqual([
      'spec.upscale',
      'spec.timezone',
      'spec',
      'spec.readinessTimeout',
    ]);
  });

  it('say what is there and what would be right, for spans that are too long and texts that are none', () => {
    const messages = (part: Partial<ScheduleSpec>) =>
      scheduleProblems({ ...good, ...part }).map((problem) => problem.message);
    expect(messages({ readinessTimeout: '48h' })).toEqual(['"48h" is too long: expected at most 24h']);
    // No type let it through; whoever made it otherwise hears of it all the same.
    expect(messages({ newWorkloadGrace: 'a day' })).toEqual([expect.stringMatching(/^"a day": expected a duration/)]);
  });

  it('take the longest spans that there may be', () => {
    expect(fields({ readinessTimeout: '24h', newWorkloadGrace: '168h' })).toEqual([]);
  });
});
