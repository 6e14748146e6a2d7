/**
 * Annotations as a tenant would write them to gain, with demands and answers of people that may help: whatever they are, what
 * is merged, asked and said stays within the guardrail, in any hour, day and week.
 */
import { ok } from 'node:assert/strict';
import { BUILT_IN_GUARDRAIL } from '../../domain/quota-resize/policy/guardrail.ts';
import { BUILT_IN_LEASTS } from '../../domain/quota-resize/policy/least-values.ts';
import { HOUR, MINUTE, policy, SECOND, timings } from '../domain/quota-resize/model/observations.ts';
import {
  type Answer,
  type Came,
  playAll,
  type Story,
  type Tenant,
} from '../domain/quota-resize/decide/tenant-world.ts';
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
  reviewers: ['mallory', 'acme/platform', 'alice, bob'],
  'git-repository': ['acme/gitops', 'acme/other'],
  // What begins with "missing" or "busy" is that in Git.
  'git-path': ['prod/team-a', 'prod/team-b', 'missing-1', 'missing-2', 'missing-3', 'busy-1', 'busy-2'],
  'git-ref': ['main', 'mine'],
  'git-field': ['spec.hard', 'replicas'],
};

/** Which of them let nothing be merged: a tenant who wants to gain writes them more rarely. */
const holding = ['mode', 'enabled', 'approval', 'auto-merge', 'freeze-until', 'merge-windows', 'git-path'];
const names = Object.keys(values);

/** What no setting takes, always another one. */
const wrong = fc.oneof(
  fc.constantFrom('', '-1', '1e999', '../..', '{}', '\u202e'),
  fc.nat(999).map((count) => `nonsense ${count}`),
);

const annotation: fc.Arbitrary<readonly [string, string]> = fc.oneof(
  { weight: 16, arbitrary: valued(names.filter((name) => !holding.includes(name))) },
  { weight: 2, arbitrary: valued(holding) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...names, 'tresholds', 'git-paths'), wrong) },
);

function valued(of: readonly string[]): fc.Arbitrary<readonly [string, string]> {
  return fc
    .constantFrom(...of)
    .chain((name) => fc.constantFrom(...(values[name] ?? [])).map((value) => [name, value] as const));
}

type Annotations = Readonly<Record<string, string>>;

const annotations: fc.Arbitrary<Annotations> = fc
  .array(annotation, { maxLength: 8 })
  .map((all) => Object.fromEntries(all));

const wrongAnnotations: fc.Arbitrary<Annotations> = fc
  .array(fc.tuple(fc.constantFrom(...names), wrong), { minLength: 4, maxLength: 10 })
  .map((all) => Object.fromEntries(all));

/** Millicores that are missing, by tick. */
const missing: fc.Arbitrary<Tenant['missing']> = fc.oneof(
  fc.constant(() => 0),
  fc.constant((tick: number) => 1_000 + tick),
  fc.constant((tick: number) => Math.floor(1_000 * 1.3 ** Math.min(tick, 60))),
  fc.integer({ min: 1, max: 40 }).map((period) => (tick: number) => (Math.floor(tick / period) % 2) * 5_000),
  fc.array(fc.nat(50_000), { minLength: 1, maxLength: 20 }).map((all) => (tick: number) => all[tick % all.length] ?? 0),
);

const tenant: fc.Arbitrary<Tenant> = fc.record({
  annotations: fc
    .tuple(
      fc.oneof(
        { weight: 7, arbitrary: fc.array(annotations, { minLength: 1, maxLength: 12 }) },
        { weight: 1, arbitrary: fc.array(wrongAnnotations, { minLength: 4, maxLength: 12 }) },
      ),
      fc.integer({ min: 1, max: 10 }),
    )
    // Each stands for some ticks.
    .map(([all, ticks]) => all.flatMap((one) => Array.from({ length: ticks }, () => one))),
  missing,
  used: fc.constantFrom(0, 1_000, 9_000, 10_000),
});

/** One answer always, which stays the likeliest, or one after the other. */
const answer: fc.Arbitrary<Story['answer']> = fc.oneof(
  fc.constantFrom<Answer>('close', 'reject', 'none', 'approve', 'merge'),
  fc.array(fc.constantFrom<Answer>('close', 'reject', 'none', 'none', 'approve', 'verify', 'merge'), {
    minLength: 2,
    maxLength: 12,
  }),
);

const stories: fc.Arbitrary<Story> = fc
  .record({
    tenant,
    // Quotas that lack room for the same workloads are raised together.
    others: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(tenant, { minLength: 1, maxLength: 2 }) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 2 }) },
    ),
    answer,
    tick: fc.constantFrom(2 * SECOND, 30 * SECOND, MINUTE, 7 * MINUTE, 20 * MINUTE, HOUR, 5 * HOUR),
    ticks: fc.constantFrom(30, 90),
    guardrail: fc.record(
      {
        totals: fc.constantFrom({ cpu: '25' }, { cpu: '45' }, { 'requests.cpu': '40' }),
        approvalBy: fc.constant('verified' as const),
        growthPerDay: fc.constantFrom('1.5', '2'),
      },
      { requiredKeys: [] },
    ),
    taken: fc.oneof(
      { weight: 3, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.integer({ min: 1, max: 20 }) },
    ),
  })
  .map(({ tenant: first, taken, others, ...story }) => ({
    ...story,
    ...first,
    others: typeof others === 'number' ? Array.from({ length: others }, () => first) : others,
    isTaken: (tick: number) => taken > 0 && Math.floor(tick / taken) % 2 === 1,
  }));

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

const { leastCooldown, leastRejectionCooldown } = BUILT_IN_LEASTS;

function asksWithin({ opened, rejected, approved, events, warnings, comments, stored }: Came): void {
  for (const span of [HOUR, DAY, 7 * DAY]) {
    const hours = times(span, HOUR) + 1;
    const decisions = times(span, leastCooldown) + 1;
    const all = opened.map(({ at }) => at);
    ok(mostIn(all, span) <= decisions, `${mostIn(all, span)} pull requests in ${span / HOUR} h`);
    for (const [reason, written] of warnings) {
      ok(mostIn(written, span) <= 10 * hours, `${mostIn(written, span)} Events ${reason} in ${span / HOUR} h`);
    }
    // Told of each decision: that it is proposed, and how it ended; of each approval; the rest is ten an hour, and ten of each
    // Warning.
    const yes = mostIn(approved, span);
    const told = 2 * decisions + yes + 10 * hours * (1 + warnings.size);
    ok(mostIn(events, span) <= told, `${mostIn(events, span)} Events in ${span / HOUR} h`);
    const written = decisions + yes + times(span, timings.updateInterval) + 10 * hours;
    const changed = 4 * decisions + 2 * times(span, timings.updateInterval) + yes + 10 * hours;
    ok(mostIn(stored, span) <= changed, `${mostIn(stored, span)} decisions stored in ${span / HOUR} h`);
    ok(mostIn(comments, span) <= written, `${mostIn(comments, span)} comments in ${span / HOUR} h`);
  }
  const tolerance = 1 + Number(policy().increment) / 100;
  for (const no of rejected) {
    for (const { at, limit } of opened) {
      if (at <= no.at || at >= no.at + leastRejectionCooldown) continue;
      ok(limit >= no.limit * tolerance, `${limit} is asked for ${(at - no.at) / MINUTE} min after a no to ${no.limit}`);
    }
  }
}

/** Rounding a base down to its nano may give a raise a little less, and never more. */
function growsWithin({ limits }: Came, guardrail: Story['guardrail'] = {}): void {
  const { growthPerDay, growthPerWeek, totals } = { ...BUILT_IN_GUARDRAIL, ...guardrail };
  const raises = limits.slice(1).map((raise, index) => ({ ...raise, from: limits[index]?.limit ?? raise.limit }));
  const alone = raises.filter(({ isUnattended }) => isUnattended === true);
  for (const [span, factor] of [
    [DAY, growthPerDay],
    [7 * DAY, growthPerWeek],
  ] as const) {
    for (const { at: end } of alone) {
      // What people raise meanwhile raises the base in proportion.
      const grown = alone
        .filter(({ at }) => at > end - span && at <= end)
        .reduce((product, { from, limit }) => product * (limit / from), 1);
      ok(grown <= Number(factor) * (1 + 1e-9), `by ${grown} without a person in ${span / HOUR} h`);
    }
  }
  const most = Object.values(totals).map((text) => Number(text) * 1_000);
  for (const { sum } of alone) ok(sum <= Math.min(...most), `${sum}m in sum without a person`);
}

export const tenants = {
  name: 'tenants',
  cost: 5,
  /** How many inputs of a parser there are for one story. */
  share: 25,
  property: fc.property(stories, (story) => {
    for (const came of playAll(story)) {
      asksWithin(came);
      growsWithin(came, story.guardrail);
    }
  }) as fc.IRawProperty<unknown>,
};
