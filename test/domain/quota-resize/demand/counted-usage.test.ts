import { describe, expect, it } from 'vitest';
import { batchedQuotasFor } from '../../../../domain/quota-resize/decide/batched-quotas.ts';
import { usageFacts, usageNotes, withCounts } from '../../../../domain/quota-resize/demand/counted-usage.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { computeRequirement } from '../../../../domain/quota-resize/sizing/requirement.ts';
import type { QuotaObservation, OtherQuota } from '../../../../domain/quota-resize/model/observation.ts';
import type { UsageCount } from '../../../../domain/quota-usage/calculate.ts';
import type { CachedQuota } from '../../../../domain/quota-usage/observation.ts';
import {
  cpu,
  decideOpenAt,
  decision,
  demand,
  HOUR,
  lease,
  memory,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
  quota,
  seenWith,
  settledNeed,
} from '../model/observations.ts';

/** A quota as a starter counted it; the status in its cache is the one that was read, unless given. */
function counted(
  used: Readonly<Record<string, string>>,
  changed: { readonly uid?: string; readonly status?: Readonly<Record<string, string>> } = {},
): { readonly quota: CachedQuota; readonly count: UsageCount } {
  const { uid = 'uid-1', status } = changed;
  const quota = { namespace: 'team-a', name: 'compute', uid, resourceVersion: '7', spec: {} };
  return { quota: { ...quota, status: status === undefined ? {} : { used: status } }, count: { used, unmeasured: [] } };
}

/** The status says one thing, and the objects are charged another. */
function differing(used: string, charged: string, observed: Partial<QuotaObservation> = {}): QuotaObservation {
  return withCounts(observation({ quota: cpu(used), usage: 'audit', ...observed }), [
    counted({ 'requests.cpu': charged }, { status: { 'requests.cpu': used } }),
  ]);
}

function otherQuota(used: string): OtherQuota {
  return {
    name: 'objects',
    quota: { uid: 'uid-2', hard: { pods: '10' }, used: { pods: used } },
    policy: policy(),
    demand: [demand({ pods: '2' })],
    contradictions: [],
    candidates: [],
    lease: lease(),
  };
}

const unavailable = { kind: 'unavailable', why: 'no starter answered on headroom-cache/prod within 20 s' } as const;
const LOW =
  "requests.cpu: the quota's status says 1.8 CPU, but the objects add up to 9 CPU. Headroom goes by its own count.";

describe('what was counted', () => {
  it('is what a quota uses, whatever its status says', () => {
    expect(computeRequirement(differing('1800m', '9'), null)?.changes).toMatchObject([
      { used: '9', from: '10', to: '12' },
    ]);
    expect(computeRequirement(differing('9', '1800m'), null)).toBeNull();
  });

  it('leaves the number of the status where a resource was not counted, and says so when it is raised', () => {
    const observed = withCounts(observation({ quota: cpu('9'), usage: 'own' }), [
      {
        ...counted({}),
        count: {
          used: {},
          unmeasured: [{ keys: ['requests.cpu', 'pods'], reason: 'the cache of pods is not filled yet' }],
        },
      },
    ]);
    expect(computeRequirement(observed, null)).toMatchObject({
      changes: [{ used: '9' }],
      usageNotes: [
        "requests.cpu could not be counted: the cache of pods is not filled yet. Headroom goes by the quota's status.",
      ],
    });
  });

  it('is not that of a quota that has the same name and is another one', () => {
    const observed = withCounts(observation({ usage: 'audit' }), [
      counted({ 'requests.cpu': '1' }, { uid: 'uid-before' }),
    ]);
    expect(observed).toMatchObject({ quota: cpu('9'), counting: { kind: 'unavailable' } });
  });

  it('says which of the other quotas lack capacity', () => {
    const observed = observation({
      usage: 'audit',
      quota: cpu('9'),
      demand: [demand({ 'requests.cpu': '4' })],
      otherQuotas: [otherQuota('10')],
    });
    const own = counted({ 'requests.cpu': '9' });
    const siblingsWith = (pods: string) =>
      withCounts(observed, [own, counted({ pods }, { uid: 'uid-2' })]).otherQuotas.map(({ name }) => name);
    expect(siblingsWith('9')).toEqual(['objects']);
    expect(siblingsWith('3')).toEqual([]);
    // The demand of 2 fits exactly.
    expect(siblingsWith('8')).toEqual([]);
    expect(
      withCounts(observed, [counted({ 'requests.cpu': '1' }), counted({ pods: '9' }, { uid: 'uid-2' })]).otherQuotas,
    ).toEqual([]);
  });
});

describe('a status that says something else', () => {
  it('is said on the proposal, with both numbers', () => {
    const observed = differing('1800m', '9');
    expect(computeRequirement(observed, null)).toMatchObject({ usageNotes: [LOW], notes: [] });
    const seen = { observation: observed, pullRequest: null };
    expect(decide(seen, memory({ demand: settledNeed }), NOW)[1]).toMatchObject({
      kind: 'propose',
      proposal: { usageNotes: [LOW] },
    });
  });

  it('is said on what is left of a proposal of which people rejected a part', () => {
    const hard = { 'requests.cpu': '10', pods: '10' };
    const read = observation({ quota: quota({ hard, used: { 'requests.cpu': '1800m', pods: '9' } }), usage: 'audit' });
    const observed = withCounts(read, [
      counted({ 'requests.cpu': '9', pods: '9' }, { status: { 'requests.cpu': '1800m', pods: '9' } }),
    ]);
    const denial = { limits: { pods: '12' }, at: NOW - HOUR, by: 'ann', reason: '' };
    const [, verdict] = decide(
      { observation: observed, pullRequest: null },
      memory({ demand: settledNeed, rejections: [denial] }),
      NOW,
    );
    expect(verdict).toMatchObject({
      kind: 'propose',
      proposal: { changes: [{ resource: 'requests.cpu' }], usageNotes: [LOW] },
    });
  });

  it('is said where it alone would raise a limit, and nothing is blocked by it', () => {
    const seen = { observation: differing('9', '1800m'), pullRequest: null };
    expect(decide(seen, memory({ demand: settledNeed }), NOW)[1]).toMatchObject({
      kind: 'end',
      reason: 'BelowThreshold',
      detail:
        "every resource is below its threshold, and no workload needs more. requests.cpu: the quota's status says 9 CPU, but the objects add up to 1.8 CPU. Headroom goes by its own count.",
    });
  });

  it('is no difference while it is on its way through the cache', () => {
    const read = observation({ quota: cpu('9'), usage: 'audit' });
    const behind = withCounts(read, [counted({ 'requests.cpu': '8' }, { status: { 'requests.cpu': '8' } })]);
    expect(behind.counting).toMatchObject({ differences: [] });
    expect(withCounts(read, [counted({ 'requests.cpu': '8' })]).counting).toMatchObject({
      differences: [{ used: '9', counted: '8' }],
    });
  });

  it('is shown to people in audit always, and in own where it bears on the decision', () => {
    const calm = (usage: 'audit' | 'own') => differing('2', '3', { usage });
    expect(usageNotes(calm('audit'), null)).toEqual([]);
    expect(usageFacts(calm('audit'), null)).toHaveLength(1);
    expect(usageFacts(calm('own'), null)).toEqual([]);
    expect(usageFacts(differing('1800m', '9', { usage: 'own' }), null)).toEqual([
      "requests.cpu: the quota's status still says 1.8 CPU, but the objects add up to 9 CPU. Headroom goes by its own count.",
    ]);
    expect(usageFacts(differing('1800m', '9'), null)).toEqual([LOW]);
  });

  it('is in the text of a batched quota as well', () => {
    const observed = observation({
      usage: 'audit',
      demand: [demand({ 'requests.cpu': '4' })],
      otherQuotas: [otherQuota('2')],
    });
    const both = withCounts(observed, [
      counted({ 'requests.cpu': '9' }),
      counted({ pods: '9' }, { uid: 'uid-2', status: { pods: '2' } }),
    ]);
    const requirement = computeRequirement(both, null);
    if (requirement === null) throw new Error('there is no need');
    expect(requirement.usageNotes).toBeUndefined();
    expect(batchedQuotasFor(both, requirement, NOW)).toMatchObject([
      {
        quota: 'objects',
        usageNotes: [
          expect.stringContaining("pods: the quota's status says 2 pods, but the objects add up to 9 pods. "),
        ],
      },
    ]);
  });
});

describe('without the counted numbers', () => {
  const observed = { usage: 'audit', counting: unavailable } as const;
  const detail = `the usage of the namespace could not be counted: ${unavailable.why}. In mode audit nothing is decided by the quota's status alone, so Headroom checks again`;

  it('nothing is raised: people are told once, and it observes again', () => {
    const seen = { observation: observation(observed), pullRequest: null };
    const [, first] = decide(seen, memory({ demand: settledNeed }), NOW);
    expect(first).toMatchObject({
      kind: 'notify',
      reason: 'UsageNotCounted',
      event: { message: detail },
    });
    const [after, then] = decide(seen, memory({ demand: settledNeed, emitted: ['uncounted'] }), NOW);
    expect(then).toMatchObject({ kind: 'hold', phase: 'Blocked', reason: 'UsageNotCounted', detail });
    expect(after.state).toMatchObject({ kind: 'Idle', demand: null });
  });

  it('an episode does not end on a status that looks calm', () => {
    const seen = { observation: observation({ ...observed, quota: cpu('1') }), pullRequest: null };
    expect(decide(seen, memory({ emitted: ['uncounted'] }), NOW)[1]).toMatchObject({
      kind: 'hold',
      reason: 'UsageNotCounted',
    });
  });

  it('an open pull request is neither merged nor closed', () => {
    for (const used of ['9', '1']) {
      const [, verdict] = decideOpenAt(NOW, {
        observed: { ...observed, quota: cpu(used) },
        memory: { emitted: ['uncounted'], demandGoneSince: NOW - HOUR },
      });
      expect(verdict).toMatchObject({ kind: 'hold', reason: 'UsageNotCounted', wait: { watch: 'pullRequest' } });
    }
  });

  it('nothing is opened, and what people do goes on', () => {
    const decided = decision();
    const unopened = seenWith(decided, null, observed);
    expect(decide(unopened, memory({ decision: decided, emitted: ['uncounted'] }), NOW)[1]).toMatchObject({
      kind: 'hold',
      reason: 'UsageNotCounted',
    });
    const closed = seenWith(openDecision(), pullRequest({ state: 'closed', closedBy: 'ann' }), observed);
    expect(decide(closed, memory({ decision: openDecision() }), NOW)[1]).toMatchObject({ reason: 'ClosedByHuman' });
  });

  it('another quota of the namespace that could not be counted is not raised with it', () => {
    const own = withCounts(
      observation({ usage: 'audit', demand: [demand({ 'requests.cpu': '4' })], otherQuotas: [otherQuota('9')] }),
      [counted({ 'requests.cpu': '9' })],
    );
    const requirement = computeRequirement(own, null);
    if (requirement === null) throw new Error('there is no need');
    expect(own.otherQuotas).toHaveLength(1);
    expect(batchedQuotasFor(own, requirement, NOW)).toEqual([]);
  });
});
