/** A history of an earlier version is replayed without the rules that it did not have: else the episode would stand still for ever. */
import { describe, expect, it } from 'vitest';
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import type { IsInForce } from '../../../../domain/quota-resize/decide/pass.ts';
import {
  cpu,
  decision,
  memory,
  MINUTE,
  NOW,
  openDecision,
  policy,
  pullRequest,
  SECOND,
  seenWith,
} from '../model/observations.ts';

/** As `patched` answers while such a history is replayed, and afterwards; it says what was asked. */
function asking(answer: boolean): { readonly isInForce: IsInForce; readonly asked: string[] } {
  const asked: string[] = [];
  return { isInForce: (rule) => asked.push(rule) > 0 && answer, asked };
}

describe('an episode of an earlier version', () => {
  it('waits after a second refusal of the gate, of which people are told only in a new one', () => {
    const seen = seenWith(openDecision(), pullRequest());
    const refused = (at: number, before = memory()) =>
      applyOutcome.withoutEffect(decide(seen, before, at)[0], 'nothing needs it');
    const twice = refused(NOW + MINUTE, refused(NOW));
    const old = asking(false);
    expect(decide(seen, twice, NOW + MINUTE + 1, old.isInForce)[1]).toMatchObject({ kind: 'hold', phase: 'Merging' });
    expect(old.asked).toEqual(['refusals-are-told']);
    expect(decide(seen, twice, NOW + MINUTE + 1, asking(true).isInForce)[1].kind).toBe('notify');
  });

  it('grows at once although people were asked a moment ago about less', () => {
    const asks = policy({ approval: 'before-pull-request' });
    const asked = decision({
      approvalRequirement: { reason: 'ApprovalRequired', message: 'the policy asks', before: 'pull-request' },
      grownAt: NOW - SECOND,
    });
    const seen = seenWith(asked, null, { policy: asks, quota: cpu('17', '20') });
    const old = asking(false);
    expect(decide(seen, memory(), NOW, old.isInForce)[1]).toMatchObject({ kind: 'revise', reason: 'DemandGrew' });
    expect(old.asked).toEqual(['growth-rests-while-asked']);
    expect(decide(seen, memory(), NOW, asking(true).isInForce)[1].kind).not.toBe('revise');
  });

  it('asks for a rule only where it makes a difference', () => {
    const { isInForce, asked } = asking(true);
    expect(decide(seenWith(openDecision(), pullRequest()), memory(), NOW, isInForce)[1].kind).toBe('merge');
    expect(asked).toEqual([]);
  });
});
