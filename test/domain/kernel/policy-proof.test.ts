import { describe, expect, it } from 'vitest';
import { afterTrial, NOTHING_TRIED, whyNotInForce } from '../../../domain/kernel/policy-proof.ts';

const POLICY = 'headroom-worker-writes';
const MINUTE = 60_000;
const refused = { kind: 'refused' } as const;
const accepted = { kind: 'accepted', what: 'an Event from somebody' } as const;
const untold = { kind: 'untold', why: 'roles' } as const;

describe('what is known of a policy', () => {
  it('before any trial it does not count', () => {
    expect(whyNotInForce(NOTHING_TRIED, POLICY, 0)).toContain('has not been tried yet');
  });

  it('is in force for as long as nothing else is known', () => {
    expect(whyNotInForce(afterTrial(NOTHING_TRIED, refused, 0), POLICY, 100 * MINUTE)).toBeNull();
  });

  it('a write that is taken ends it at once', () => {
    const record = afterTrial(afterTrial(NOTHING_TRIED, refused, 0), accepted, 1);
    expect(whyNotInForce(record, POLICY, 1)).toContain('takes an Event from somebody');
  });

  it('what is refused by something else proves nothing, and ends a proof after five minutes', () => {
    expect(whyNotInForce(afterTrial(NOTHING_TRIED, untold, 0), POLICY, 0)).toContain('it cannot be told');
    const record = afterTrial(afterTrial(NOTHING_TRIED, refused, 0), untold, 4 * MINUTE);
    expect(whyNotInForce(record, POLICY, 5 * MINUTE - 1)).toBeNull();
    expect(whyNotInForce(record, POLICY, 5 * MINUTE)).toContain('it cannot be told');
  });

  it('what is untold after a write was taken is no proof either', () => {
    const taken = afterTrial(NOTHING_TRIED, accepted, 0);
    expect(whyNotInForce(afterTrial(taken, untold, 1), POLICY, 1)).toContain('it cannot be told');
  });
});
