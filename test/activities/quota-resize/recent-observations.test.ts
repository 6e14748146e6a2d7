import { expect, it } from 'vitest';
import { RecentObservations } from '../../../activities/quota-resize/quota/recent-observations.ts';

const target = { cluster: 'test', namespace: 'team-a', quota: 'compute' };

it('an observation is known for five seconds, the newest of each quota', () => {
  let now = 0;
  const recent = new RecentObservations(() => now);
  const observation = (name: string) => ({
    namespace: { metadata: { name } },
    surroundings: { quota: null, demand: [], doubted: [], unsettled: [], contradictions: [], otherQuotas: [] },
  });
  const nameAt = (at: number, of = target) => {
    now = at;
    return recent.of(of)?.namespace.metadata?.name ?? null;
  };
  expect(nameAt(0)).toBeNull();
  recent.add(target, observation('first'));
  expect(nameAt(4_999)).toBe('first');
  expect(nameAt(4_999, { ...target, quota: 'other' })).toBeNull();
  recent.add(target, observation('second'));
  expect(nameAt(5_000)).toBe('second');
  expect(nameAt(9_999)).toBeNull();
});
