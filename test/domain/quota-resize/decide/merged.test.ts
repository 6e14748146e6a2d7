import { expect, it } from 'vitest';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { hasFollowed } from '../../../../domain/quota-resize/decide/merged.ts';
import type { MergedDecision } from '../../../../domain/quota-resize/model/decision.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { lease, memory, mergedDecision, NOW, observation, policy, quota } from '../model/observations.ts';

const merged = mergedDecision();
const raised = quota({ hard: merged.merge.limits });
const pause: QuotaObservation['pause'] = { scope: 'everything', by: 'alice', reason: '', at: NOW, kept: 'a ConfigMap' };

const cases: Readonly<Record<string, Partial<QuotaObservation>>> = {
  'the limits are there': { quota: raised },
  'the limits are as before': {},
  'the quota is gone': { quota: null },
  'the quota is another one': { quota: { ...raised, uid: 'another' } },
  'the namespace is gone': { namespace: 'gone', quota: null },
  'the namespace is being deleted': { namespace: 'terminating', quota: raised },
  'the namespace opted out': { quota: raised, policy: { ...policy(), enabled: false } },
  'all is paused': { quota: raised, pause },
};

it.each(Object.keys(cases))(
  'what records a sync by itself does so where a decision would, and only there: %s',
  (name) => {
    const seen = observation({ lease: lease({ decision: merged }), ...cases[name] });
    const [, verdict] = decide({ observation: seen, pullRequest: null }, memory({ decision: merged }), NOW);
    expect(hasFollowed(seen, merged)).toBe(verdict.kind === 'synced');
  },
);

it('what records a sync by itself leaves a decision that raises other quotas too to the episode', () => {
  const seen = observation({ quota: raised });
  const other = { quota: 'objects', quotaUid: 'other', changes: [], evidence: [], candidates: [] };
  const batch = { ...merged, batchedQuotas: [other] } as unknown as MergedDecision;
  expect(hasFollowed(seen, merged)).toBe(true);
  expect(hasFollowed(seen, batch)).toBe(false);
});
