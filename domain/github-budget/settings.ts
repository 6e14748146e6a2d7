import { constant, integerBetween, timing } from '../kernel/settings/forms.ts';
import { defineSettings, type Settings } from '../kernel/settings/setting.ts';
import { budgetLimits } from './limits.ts';

const budgetSettings = {
  writesPerMinute: constant(
    {
      type: integerBetween(1, 100_000),
      expected: 'a number from 1 to 100000',
      // GitHub's secondary limit for requests that create content.
      description: 'How many writes to GitHub all workers with the same credential make a minute, at most.',
      env: 'GITHUB_WRITES_PER_MINUTE',
      flag: '--github-writes-per-minute',
      default: '80',
    },
    "It is GitHub's own limit; the limit of an hour is the one that a shared credential lowers.",
  ),
  writesPerHour: {
    type: integerBetween(1, 1_000_000),
    expected: 'a number from 1 to 1000000',
    description: 'How many writes to GitHub all workers with the same credential make an hour, at most.',
    env: 'GITHUB_WRITES_PER_HOUR',
    flag: '--github-writes-per-hour',
    default: '500',
  },
  minute: constant(
    timing(
      'github-budget-minute',
      '60s',
      'How long the minute of `githubBudget.writesPerMinute` is, and a sixtieth of the hour.',
      '1s',
    ),
    'A minute has sixty seconds; tests have shorter ones.',
  ),
} as const satisfies Settings;

const timingSettings = {
  githubWriteSpacing: constant(
    timing(
      'github-write-spacing',
      // GitHub recommends at least a second between two writes to avoid its secondary rate limits.
      '1s',
      'The least time between two writes of a worker to GitHub.',
      '0',
    ),
    'It is what GitHub asks for.',
  ),
} as const satisfies Settings;

export const githubBudgetSettings = defineSettings(
  { githubBudget: 'The budget of writes to GitHub' },
  { githubBudget: budgetSettings, timings: timingSettings },
  [],
  ({ githubBudget, timings }) => ({
    /** The limit of writes to GitHub, equal for every worker with the same credential. */
    githubBudget: budgetLimits({
      perMinute: githubBudget.writesPerMinute,
      perHour: githubBudget.writesPerHour,
      minuteMs: githubBudget.minute,
      spacingMs: timings.githubWriteSpacing,
    }),
    timings,
  }),
);
