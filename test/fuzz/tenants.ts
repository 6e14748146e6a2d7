/**
 * Annotations as a tenant would write them to gain, with demands and answers of people that may help: whatever they are, what
 * is merged, asked and said stays within the guardrail, in any hour, day and week.
 */
import { ok } from 'node:assert/strict';
import { BUILT_IN_GUARDRAIL } from '../../domain/quota-resize/policy/guardrail.ts';
import { BUILT_IN_LEASTS } from '../../domain/quota-resize/policy/leasts.ts';
import { HOUR, MINUTE, policy, SECOND, timings } from '../domain/quota-resize/model/observations.ts';
import { type Answer, type Came, play, type Story } from '../domain/quota-resize/decide/tenant-world.ts';
import * as fc from '../kernel/fast-check.ts';

const DAY = 24 * HOUR;

const values: Readonly<Record<string, readonly string[]>> = {
  mode: ['propose', 'observe'],
  enabled: ['true', 'false'],
  threshold: ['0.001', '1', '50', '100'],
  'cpu-threshold': ['1', '100'],
  increment: ['0.001', '1', '5', '1000'],
  'cpu-increment': ['0.001', '1000'],
  'cooldown-minutes': ['0', '1', '60', '40320'],
  'rejection-cooldown': ['0', '1ms', '1h', '92d'],
  approval: ['none', 'before-merge', 'before-pull-request'],
  'approval-timeout': ['1s', '1m', '1h', 'never'],
  'approval-reminder': ['1s', '1m', 'never'],
  'max-step': ['1', '2', '1000'],
  burst: ['fill', 'settle'],
  'cpu-min': ['1', '20', '1000'],
  'cpu-max': ['11', '100', '1000000'],
  steps: ['none', 'cpu=1', 'requests.cpu=0.001'],
  'auto-merge': ['false'],
  'freeze-until': ['2026-11-20', '2026-11-21', '2099-01-01', '2099-01-02'],
  'merge-windows': ['always', '* * * * * for 1m', '0 0 29 2 * for 1m'],
};

const annotations = fc.record(
  Object.fromEntries(Object.entries(values).map(([name, all]) => [name, fc.constantFrom(...all)])),
  { requiredKeys: [] },
) as fc.Arbitrary<Readonly<Record<string, string>>>;

/** Millicores that are missing, by tick. */
const missing: fc.Arbitrary<Story['missing']> = fc.oneof(
  fc.constant(() => 0),
  fc.constant((tick: number) => 1_000 + tick),
  fc.constant((tick: number) => Math.floor(1_000 * 1.3 ** Math.min(tick, 60))),
  fc.integer({ min: 2, max: 40 }).map((period) => (tick: number) => (Math.floor(tick / period) % 2) * 5_000),
  fc.array(fc.nat(50_000), { minLength: 1, maxLength: 20 }).map((all) => (tick: number) => all[tick % all.length] ?? 0),
);

const stories: fc.Arbitrary<Story> = fc.record({
  annotations: fc
    .tuple(fc.array(annotations, { minLength: 1, maxLength: 3 }), fc.integer({ min: 1, max: 10 }))
    // Each stands for some ticks.
    .map(([all, ticks]) => all.flatMap((one) => Array.from({ length: ticks }, () => one))),
  missing,
  answer: fc.constantFrom<Answer>('close', 'reject', 'none'),
  tick: fc.constantFrom(2 * SECOND, 30 * SECOND, MINUTE, 7 * MINUTE, 20 * MINUTE, HOUR, 5 * HOUR),
  ticks: fc.constantFrom(30, 90),
  used: fc.constantFrom(0, 1_000, 9_000, 10_000),
});

/** The most of these moments in any span of this length. */
function mostIn(moments: readonly number[], span: number): number {
  let from = 0;
  return moments.reduce((most, at, index) => {
    while ((moments[from] ?? at) <= at - span) from += 1;
    return Math.max(most, index - from + 1);
  }, 0);
}

/** How often something may happen in a span that has to be this long ago. */
const times = (span: number, apart: number): number => Math.ceil(span / apart);

function staysWithin({ opened, rejected, limits, events, comments }: Came): void {
  const { leastCooldown, leastRejectionCooldown } = BUILT_IN_LEASTS;
  for (const span of [HOUR, DAY, 7 * DAY]) {
    const decisions = times(span, leastCooldown) + 1;
    const all = opened.map(({ at }) => at);
    ok(mostIn(all, span) <= decisions, `${mostIn(all, span)} pull requests in ${span / HOUR} h`);
    // Told of each decision: that it is proposed, and how it ended; the rest is ten an hour.
    const told = 2 * decisions + 10 * (times(span, HOUR) + 1);
    ok(mostIn(events, span) <= told, `${mostIn(events, span)} Events in ${span / HOUR} h`);
    const written = decisions + times(span, timings.updateInterval) + 10 * (times(span, HOUR) + 1);
    ok(mostIn(comments, span) <= written, `${mostIn(comments, span)} comments in ${span / HOUR} h`);
  }
  const tolerance = 1 + Number(policy().increment) / 100;
  for (const no of rejected) {
    for (const { at, limit } of opened) {
      if (at <= no.at || at >= no.at + leastRejectionCooldown) continue;
      ok(limit >= no.limit * tolerance, `${limit} is asked for ${(at - no.at) / MINUTE} min after a no to ${no.limit}`);
    }
  }
  const { growthPerDay, growthPerWeek } = BUILT_IN_GUARDRAIL;
  for (const [span, factor] of [
    [DAY, growthPerDay],
    [7 * DAY, growthPerWeek],
  ] as const) {
    for (const [index, { at, limit }] of limits.entries()) {
      // The limit before the first raise in the span.
      const first = limits.findIndex((other) => other.at > at - span);
      const before = limits[Math.min(Math.max(0, first - 1), index)]?.limit ?? limit;
      ok(limit <= before * Number(factor), `from ${before} to ${limit} in ${span / HOUR} h`);
    }
  }
}

export const tenants = {
  name: 'tenants',
  cost: 5,
  /** How many inputs of a parser there are for one story. */
  share: 25,
  property: fc.property(stories, (story) => {
    staysWithin(play(story));
  }) as fc.IRawProperty<unknown>,
};
