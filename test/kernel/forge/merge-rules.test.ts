import { describe, expect, it } from 'vitest';
import { type MergeFacts, mergeableState, mergeObjection, pushObjection } from './merge-rules.ts';
import type { Protection, Review } from './model.ts';

const STRICT: Protection = {
  requiredChecks: ['ci', 'lint'],
  requireUpToDate: true,
  requiredReviews: 0,
  dismissStaleReviews: false,
  requireCodeOwnerReviews: false,
  mergeQueue: false,
  requireLinearHistory: false,
  as: 'protection',
};
const facts = (given: Partial<MergeFacts>): MergeFacts => ({
  mergeable: true,
  draft: false,
  protection: undefined,
  verdicts: [],
  reviews: [],
  awaitedOwners: [],
  behind: false,
  ...given,
});
const review = (user: string, state: Review['state']): Review => ({
  id: 1,
  pull: 1,
  user,
  state,
  body: '',
  commitId: '',
  submittedAt: '',
});
const GREEN = [
  { name: 'ci', result: 'passed' },
  { name: 'lint', result: 'passed' },
] as const;

describe('the state of a pull request', () => {
  it('is unknown before everything else, and dirty before every rule', () => {
    expect(mergeableState(facts({ mergeable: null, draft: true, protection: STRICT }))).toBe('unknown');
    expect(mergeableState(facts({ mergeable: false, draft: true, protection: STRICT }))).toBe('dirty');
  });

  it('is blocked, and not behind, while a required check is not there', () => {
    expect(mergeableState(facts({ protection: STRICT, behind: true, verdicts: GREEN.slice(0, 1) }))).toBe('blocked');
    expect(mergeableState(facts({ protection: STRICT, behind: true, verdicts: GREEN }))).toBe('behind');
  });

  it('is clean only when every check, required or not, has passed', () => {
    const extra = { name: 'slow', result: 'pending' } as const;
    expect(mergeableState(facts({ protection: STRICT, verdicts: [...GREEN, extra] }))).toBe('unstable');
    expect(mergeableState(facts({ protection: STRICT, verdicts: GREEN }))).toBe('clean');
  });

  it('is blocked by a status of the same name that has failed beside a passed check run', () => {
    const failed = { name: 'ci', result: 'failed' } as const;
    expect(mergeableState(facts({ protection: STRICT, verdicts: [...GREEN, failed] }))).toBe('blocked');
  });

  it('is blocked while an owner of a changed file has not approved, where that is required', () => {
    const awaitedOwners = ['acme/platform', 'bob'];
    const protection = { ...STRICT, requiredChecks: [], requireCodeOwnerReviews: true };
    expect(mergeableState(facts({ protection, awaitedOwners }))).toBe('blocked');
    expect(mergeObjection(facts({ protection, awaitedOwners }))).toBe(
      'Waiting on code owner review from acme/platform and/or bob.',
    );
    expect(mergeableState(facts({ protection: { ...STRICT, requiredChecks: [] }, awaitedOwners }))).toBe('clean');
  });

  it('counts neither a dismissed approval nor the approval before it', () => {
    const protection = { ...STRICT, requiredChecks: [], requiredReviews: 1 };
    const reviews = [review('a', 'APPROVED'), review('a', 'DISMISSED')];
    expect(mergeableState(facts({ protection, reviews }))).toBe('blocked');
    expect(mergeableState(facts({ protection, reviews: [...reviews, review('a', 'APPROVED')] }))).toBe('clean');
  });

  it('takes the last word of each reviewer', () => {
    const protection = { ...STRICT, requiredChecks: [], requiredReviews: 2 };
    const stateAfter = (...reviews: Review[]): string => mergeableState(facts({ protection, reviews }));
    expect(stateAfter(review('a', 'APPROVED'), review('a', 'APPROVED'))).toBe('blocked');
    expect(stateAfter(review('a', 'APPROVED'), review('b', 'APPROVED'))).toBe('clean');
    expect(stateAfter(review('a', 'APPROVED'), review('b', 'APPROVED'), review('a', 'CHANGES_REQUESTED'))).toBe(
      'blocked',
    );
    expect(stateAfter(review('a', 'CHANGES_REQUESTED'), review('b', 'APPROVED'), review('a', 'APPROVED'))).toBe(
      'clean',
    );
    expect(stateAfter(review('a', 'APPROVED'), review('b', 'APPROVED'), review('a', 'COMMENTED'))).toBe('clean');
  });
});

describe('the reason against a merge', () => {
  it('counts the checks that are missing', () => {
    expect(mergeObjection(facts({ protection: STRICT }))).toBe('2 of 2 required status checks are expected.');
    expect(mergeObjection(facts({ protection: STRICT, verdicts: GREEN.slice(0, 1) }))).toBe(
      '1 of 2 required status checks are expected.',
    );
  });

  it('calls all checks missing on a head that is behind', () => {
    expect(mergeObjection(facts({ protection: STRICT, verdicts: GREEN, behind: true }))).toBe(
      '2 of 2 required status checks are expected.',
    );
    expect(mergeObjection(facts({ protection: STRICT, verdicts: GREEN }))).toBeUndefined();
  });
});

describe('the reason against a push', () => {
  it('is none for a protection that asks for nothing', () => {
    expect(pushObjection({ ...STRICT, requiredChecks: [] })).toBeUndefined();
    expect(pushObjection({ ...STRICT, mergeQueue: true })).toBe('Changes must be made through the merge queue');
  });
});
