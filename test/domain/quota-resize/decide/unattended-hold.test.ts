import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../../domain/kernel/time.ts';
import { countedSkip, holdOfDecision, unattendedHold } from '../../../../domain/quota-resize/decide/unattended-hold.ts';
import type { LeaseRecord, QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { change, lease, NOW, observation, openDecision, quota } from '../model/observations.ts';
import { defaults, resolve } from '../policy/policies.ts';

const { policy } = resolve();
const rested = { lastModified: null, rejections: [] };
const ofAnn = { limits: { 'requests.cpu': '12' }, at: NOW - 2 * defaults.cooldown, by: 'ann', reason: '' };

function hold(remembered: Partial<Parameters<typeof unattendedHold>[0]['lease']>, skippedAt: number | null = null) {
  const given = { changes: [change()], policy, lease: { ...rested, ...remembered }, skippedAt };
  return unattendedHold(given, NOW)?.reason ?? null;
}

describe('without a person, a raise', () => {
  it('waits for the cooldown after any end, unless it was skipped since', () => {
    const at = NOW - defaults.cooldown + MINUTE_MS;
    const ends = [{ lastModified: at }, { lastWithdrawal: at }, { rejections: [{ ...ofAnn, limits: {}, at }] }];
    for (const end of ends) {
      expect(hold(end)).toBe('CoolingDown');
      expect(hold(end, at - 1)).toBe('CoolingDown');
      expect(hold(end, at)).toBeNull();
    }
    expect(hold({ lastModified: NOW - defaults.cooldown })).toBeNull();
  });

  it('is left to a person to merge, and asks for no approval, which would not be taken', () => {
    for (const remembered of [{ lastModified: NOW - MINUTE_MS }, { rejections: [ofAnn] }]) {
      const given = { changes: [change()], policy, lease: { ...rested, ...remembered }, skippedAt: null };
      expect(unattendedHold(given, NOW)?.detail).toMatch(
        /, and until \S+Z only a person may merge it; an approval does not change that$/,
      );
    }
  });

  it('waits as long as a rejection holds that covers one of its limits', () => {
    expect(hold({ rejections: [ofAnn] })).toBe('PreviouslyRejected');
    expect(hold({ rejections: [{ ...ofAnn, limits: { 'requests.cpu': '9' } }] })).toBeNull();
    expect(hold({ rejections: [{ ...ofAnn, at: NOW - defaults.rejectionCooldown }] })).toBeNull();
    expect(hold({ rejections: [ofAnn] }, NOW)).toBeNull();
  });

  it('has a cooldown skipped by a claimed name only where a claimed approval counts', () => {
    const verified = { ...policy, guardrail: { ...policy.guardrail, approvalBy: 'verified' as const } };
    expect(countedSkip({ cooldownSkippedAt: NOW }, policy)).toBe(NOW);
    expect(countedSkip({ cooldownSkippedAt: NOW }, verified)).toBeNull();
    expect(countedSkip({}, policy)).toBeNull();
  });
});

describe('the decision in a Lease', () => {
  const decision = openDecision({ changes: [change({ to: '15' })] });
  const of = (changed: Partial<QuotaObservation> = {}, known: Record<string, string> = {}) =>
    holdOfDecision(
      observation({ lease: lease({ decision }), ...changed }),
      { namespace: 'team-a', quota: 'compute' },
      { compute: known },
      NOW,
    );

  it('is held where it raises more than is needed, or was needed when it was stored', () => {
    // 90 % are used, which asks for a fifth more.
    expect(of()).toMatchObject({
      reason: 'MoreThanNeeded',
      detail:
        'requests.cpu would become 15 CPU, 12 CPU was needed at most when Headroom read the cluster for it, and only a person may merge it; an approval does not change that',
    });
    expect(of({}, { 'requests.cpu': '15' })).toBeNull();
    expect(of({ quota: quota({ used: { 'requests.cpu': '1' } }) })?.detail).toContain('nothing needed more');
  });

  it('is held for a quota that it raises along, as the gate holds it', () => {
    const pods = change({ resource: 'pods', from: '10', to: '12' });
    const batched = { quota: 'objects', quotaUid: 'uid-2', changes: [pods], approvalRequirement: null, candidates: [] };
    const both = openDecision({ batchedQuotas: [batched] });
    const withTheirs = (theirs: Partial<LeaseRecord>, usage: QuotaObservation['usage'] = 'off') => {
      const objects = {
        name: 'objects',
        quota: { uid: 'uid-2', hard: { pods: '10' }, used: { pods: '10' } },
        policy,
        demand: [],
        contradictions: [],
        candidates: [],
        lease: lease(theirs),
      };
      return of({ lease: lease({ decision: both }), otherQuotas: [objects], usage });
    };
    expect(withTheirs({})).toBeNull();
    const lastModified = NOW - MINUTE_MS;
    const rests = { reason: 'CoolingDown', until: lastModified + defaults.cooldown };
    expect(withTheirs({ lastModified })).toMatchObject(rests);
    expect(withTheirs({ lastModified }, 'own'), 'counted by the starters').toMatchObject(rests);
    expect(withTheirs({ lastModified })?.detail).toMatch(/^quota objects: /);
    const rejections = [{ ...ofAnn, limits: { pods: '12' } }];
    expect(withTheirs({ rejections })).toMatchObject({ reason: 'PreviouslyRejected' });
  });

  it('is not held where there is none, or it is merged', () => {
    expect(of({ lease: lease({ decision: null }) })).toBeNull();
    const merge = { sha: 'f00', at: NOW, by: 'bot', limits: {} };
    expect(of({ lease: lease({ decision: { ...decision, merge } }) })).toBeNull();
  });
});
