import { describe, expect, it } from 'vitest';
import { DisruptionBudgets, type EvictedPod } from '../../../../domain/node-group/drain/disruption-budgets.ts';
import type { DisruptionBudget } from '../../../../domain/node-group/model/cluster-state.ts';
import { readBudget } from '../../../../domain/node-group/scheduling/read-objects.ts';
import { aBudget, aPod } from './pods.ts';

const UNREADY: Partial<EvictedPod> = { isReady: false };

function forecast(pod: Partial<EvictedPod>, ...budgets: readonly DisruptionBudget[]) {
  return new DisruptionBudgets(budgets).forecast({ ...aPod('a'), ...pod });
}

// That the API server says the same is shown by test/node-group/drain/evictions.integration.test.ts.
describe('an eviction', () => {
  it.each([
    ['has not started', { phase: 'Pending' }],
    ['has ended', { phase: 'Succeeded' }],
    ['has failed', { phase: 'Failed' }],
    ['is being deleted', { deletesAt: 1 }],
  ] as const)('of a pod that %s needs no budget', (_what, pod) => {
    expect(forecast(pod, aBudget('one'), aBudget('two'))).toEqual({ kind: 'allowed', uses: null });
  });

  it('of a ready pod uses its budget up by one', () => {
    const budget = aBudget('web', { disruptionsAllowed: 1 });
    expect(forecast({}, budget)).toEqual({ kind: 'allowed', uses: budget });
    expect(forecast({}, aBudget('web'))).toMatchObject({ kind: 'refused' });
  });

  it('of an unready pod uses no budget while enough others are healthy, or by the policy', () => {
    const free = { kind: 'allowed', uses: null };
    expect(forecast(UNREADY, aBudget('web', { isObserved: false }))).toEqual(free);
    expect(forecast(UNREADY, aBudget('web', { currentHealthy: 1 }))).toMatchObject({ kind: 'refused' });
    expect(forecast(UNREADY, aBudget('web', { currentHealthy: 0, desiredHealthy: 0 })).kind).toBe('refused');
    const always = aBudget('web', { currentHealthy: 0, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
    expect(forecast(UNREADY, always)).toEqual(free);
  });

  it('by an old status, or with too many evicted pods that are still there, is refused, and says so', () => {
    const detail = (budget: Partial<DisruptionBudget>) => {
      const answer = forecast({}, aBudget('web', { disruptionsAllowed: 1, ...budget }));
      return answer.kind === 'refused' ? answer.detail : answer.kind;
    };
    const start = 'the PodDisruptionBudget shop/web does not let shop/a be evicted now';
    expect(detail({ isObserved: false })).toBe(`${start}: its status is not of its current spec yet`);
    expect(detail({ disruptedPods: 2_000 })).toBe('allowed');
    expect(detail({ disruptedPods: 2_001 })).toBe(`${start}: 2001 of its pods were evicted and are still there`);
    expect(detail({ disruptionsAllowed: 0 })).toBe(`${start}: it needs 2 healthy pods and has 2`);
  });

  it('of a pod that two budgets select is impossible, ready or not', () => {
    const budgets = [aBudget('two', { disruptionsAllowed: 1 }), aBudget('one', { disruptionsAllowed: 1 })];
    for (const pod of [{}, UNREADY]) {
      const answer = forecast(pod, ...budgets);
      expect(answer.kind === 'impossible' && answer.budgets.map(({ name }) => name)).toEqual(['one', 'two']);
    }
  });
});

describe('several evictions at once', () => {
  it('use one budget up together, but for those that need none', () => {
    const web = aBudget('web', { disruptionsAllowed: 2 });
    const pods = [aPod('a'), aPod('b'), aPod('c'), aPod('d', UNREADY), aPod('e', { phase: 'Pending' })];
    const budgets = new DisruptionBudgets([web, aBudget('other', { namespace: 'other' })]);
    expect(budgets.tooSmallFor(pods)).toEqual([{ budget: web, allowed: 2, asked: 3 }]);
    expect(budgets.tooSmallFor(pods.slice(1))).toEqual([]);
  });
});

describe('the status of a budget', () => {
  it('counts from the generation that it was made for on', () => {
    const read = (observedGeneration?: number) =>
      readBudget({ metadata: { name: 'web', generation: 2 }, status: { observedGeneration } }).isObserved;
    expect([read(), read(1), read(2), read(3)]).toEqual([false, false, true, true]);
  });
});
