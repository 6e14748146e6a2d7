import { describe, expect, it } from 'vitest';
import { decidedLimits, withoutBatchedQuotas } from '../../../../domain/quota-resize/model/decision.ts';
import { isHeldByOthers } from '../../../../domain/quota-resize/model/observation.ts';
import { change, openDecision } from './observations.ts';

describe('a decision without some of the quotas that it was to raise as well', () => {
  const batched = (quota: string) => ({
    quota,
    quotaUid: quota,
    changes: [change()],
    approvalRequirement: null,
    candidates: [],
  });
  const decision = openDecision({ batchedQuotas: [batched('objects'), batched('storage')] });

  it('keeps the others, and has none where none is left', () => {
    expect(withoutBatchedQuotas(decision, ['objects']).batchedQuotas).toEqual([batched('storage')]);
    expect(withoutBatchedQuotas(decision, ['objects', 'storage']).batchedQuotas).toBeUndefined();
    expect(withoutBatchedQuotas(decision, [])).toEqual(decision);
    expect(decidedLimits(withoutBatchedQuotas(decision, ['objects']))).toEqual(decidedLimits(decision));
  });
});

describe('a Lease', () => {
  it.each([
    ['unlocked', null, false, 'ab12', false],
    ['held for the decision', 'headroom/ab12', false, 'ab12', false],
    ['held for another decision', 'headroom/cd34', false, 'ab12', true],
    ['held for a decision, and none is in hand', 'headroom/ab12', false, null, true],
    ['held for a pull request that is open', 'pr-7', false, null, true],
    ['held for a pull request that is closed', 'pr-7', true, 'ab12', false],
  ] as const)('that is %s', (_, holder, holderIsAbandoned, decisionId, expected) => {
    expect(isHeldByOthers({ holder, holderIsAbandoned }, decisionId)).toBe(expected);
  });

  it('with a decision that cannot be read is held by others, unless the decision in hand holds it', () => {
    const unread = { holderIsAbandoned: false, hasUnreadDecision: true };
    expect(isHeldByOthers({ ...unread, holder: null }, 'ab12')).toBe(true);
    expect(isHeldByOthers({ ...unread, holder: 'headroom/cd34' }, 'ab12')).toBe(true);
    expect(isHeldByOthers({ ...unread, holder: 'headroom/ab12' }, 'ab12')).toBe(false);
  });
});
