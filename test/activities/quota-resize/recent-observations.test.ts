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
  recent.add(target, observation('first'), recent.begin());
  expect(nameAt(4_999)).toBe('first');
  expect(nameAt(4_999, { ...target, quota: 'other' })).toBeNull();
  recent.add(target, observation('second'), recent.begin());
  expect(nameAt(5_000)).toBe('second');
  expect(nameAt(9_999)).toBeNull();
});

it('an observation is as old as what it read first', () => {
  let now = 0;
  const recent = new RecentObservations(() => now);
  const surroundings = { quota: null, demand: [], doubted: [], unsettled: [], contradictions: [], otherQuotas: [] };
  const begun = recent.begin();
  now = 4_000;
  recent.add(target, { namespace: {}, surroundings }, begun);
  expect(recent.of(target)).not.toBeNull();
  now = 5_000;
  expect(recent.of(target)).toBeNull();
});
