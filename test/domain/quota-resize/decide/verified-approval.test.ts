/** Who said so: an approval that the API server or the forge has verified, and one that is a claimed name. */
import { describe, expect, it } from 'vitest';
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { command } from '../../../../domain/quota-resize/decide/commands.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { leaseHolder } from '../../../../domain/quota-resize/model/decision.ts';
import type { LeaseApproval } from '../../../../domain/quota-resize/model/lease-approval.ts';
import { approvalOf, decisionOf, type ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import type { PullRequestObservation } from '../../../../domain/quota-resize/model/observation.ts';
import { BUILT_IN_GUARDRAIL } from '../../../../domain/quota-resize/policy/guardrail.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  decision,
  HEAD,
  lease,
  memory,
  MINUTE,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
} from '../model/observations.ts';

const asking = (approval: string, approvalBy: 'verified' | 'any' = 'any') =>
  policy({ approval }, { guardrails: [{ ...BUILT_IN_GUARDRAIL, approvalBy }] });

const inLease = (changed: Partial<LeaseApproval> = {}): LeaseApproval => ({
  by: 'alice',
  at: NOW - MINUTE,
  reason: 'month end',
  decision: '0a1b2c3d',
  limits: { 'requests.cpu': '12' },
  headSha: HEAD,
  places: {},
  ...changed,
});

interface Seen {
  readonly approvalBy?: 'verified' | 'any';
  readonly approval?: LeaseApproval;
  readonly pull?: Partial<PullRequestObservation>;
}

/** Looks at a pull request that is ready but for an approval, until nothing is left to tell. */
function look(start: ResizeMemory, { approvalBy, approval, pull }: Seen = {}) {
  const told: Extract<Verdict, { kind: 'notify' }>[] = [];
  let current = start;
  for (let round = 0; round < 10; round += 1) {
    const held = lease({
      holder: leaseHolder('0a1b2c3d'),
      decision: openDecision(),
      ...(approval === undefined ? {} : { approval }),
    });
    const seen = observation({ lease: held, policy: asking('before-merge', approvalBy) });
    const [next, verdict] = decide({ observation: seen, pullRequest: pullRequest(pull) }, current, NOW);
    if (verdict.kind !== 'notify') return { memory: next, verdict, told };
    told.push(verdict);
    current = applyOutcome.emitted(next, verdict.about);
  }
  throw new Error('it never stops talking');
}

const waiting = (): ResizeMemory => look(memory({ decision: openDecision() })).memory;

function claimed(start: ResizeMemory): ResizeMemory {
  const outcome = command(start, 'approve', { by: 'mallory', reason: 'trust me' }, NOW);
  if (outcome.kind !== 'done') throw new Error(outcome.message);
  return outcome.memory;
}

describe('an approval in the Lease', () => {
  it('satisfies the gate, and people are told who verified it', () => {
    const { verdict, told, memory: after } = look(waiting(), { approvalBy: 'verified', approval: inLease() });
    expect(verdict).toMatchObject({
      kind: 'merge',
      decision: { approvedBy: 'alice', approvalVerifiedBy: 'kubernetes' },
    });
    const words = 'approved by alice (verified by the API server) at 2026-11-20T09:59:00Z: month end';
    expect(told).toMatchObject([
      { event: { reason: 'QuotaResizeApproved', message: `requests.cpu 10 → 12: ${words}` } },
    ]);
    expect(told[0]?.comment).toContain(words);
    expect(approvalOf(after)).toMatchObject({ by: 'alice', verified: 'kubernetes', headSha: HEAD });
  });

  it.each([
    ['another decision', { decision: 'ffffffff' }],
    ['other values', { limits: { 'requests.cpu': '13' } }],
    ['an earlier head', { headSha: 'b'.repeat(40) }],
    ['no head, where the merge is what is approved', { headSha: '' }],
  ])('of %s does not', (_what, changed) => {
    const { verdict } = look(waiting(), { approval: inLease(changed) });
    expect(verdict).toMatchObject({ kind: 'hold', phase: 'AwaitingApproval' });
  });

  it('that is taken back approves no more', () => {
    const approved = look(waiting(), { approval: inLease(), pull: { mergeability: 'blocked' } });
    expect(approvalOf(approved.memory)).toMatchObject({ verified: 'kubernetes' });
    const { verdict, memory: after } = look(approved.memory);
    expect(verdict).toMatchObject({ kind: 'hold', phase: 'AwaitingApproval' });
    expect(approvalOf(after)).toBeNull();
    expect(decisionOf(after)?.approvedBy).toBeUndefined();
  });

  it('opens the pull request where it is needed before, and is good for every head of these values', () => {
    const state = memory({ decision: decision() });
    const seen = (approval?: LeaseApproval) =>
      observation({
        lease: lease({ holder: leaseHolder('0a1b2c3d'), decision: decision(), ...(approval && { approval }) }),
        policy: asking('before-pull-request', 'verified'),
      });
    const step = (current: ResizeMemory, approval?: LeaseApproval) =>
      decide({ observation: seen(approval), pullRequest: null }, current, NOW);
    const [asked, first] = step(state);
    expect(first).toMatchObject({ kind: 'notify', event: { reason: 'QuotaResizeApprovalNeeded' } });
    const [approved, second] = step(asked, inLease({ headSha: '' }));
    expect(second).toMatchObject({ kind: 'notify', event: { reason: 'QuotaResizeApproved' } });
    if (second.kind !== 'notify') return;
    const [, third] = step(applyOutcome.emitted(approved, second.about), inLease({ headSha: '' }));
    expect(third).toMatchObject({ kind: 'open', decision: { approvedBy: 'alice' } });
  });
});

describe('a review of the forge', () => {
  const reviewed = { pull: { approvals: [{ by: 'bob', at: NOW - MINUTE }] } };

  it('satisfies the gate, and people are told who verified it', () => {
    const { verdict, told } = look(waiting(), { approvalBy: 'verified', ...reviewed });
    expect(verdict).toMatchObject({ kind: 'merge', decision: { approvedBy: 'bob', approvalVerifiedBy: 'forge' } });
    expect(told[0]?.event.message).toContain('approved by bob (verified by GitHub) at');
  });

  it('that is taken back approves no more, and one that was not read is not taken back', () => {
    const blocked = { mergeability: 'blocked' } as const;
    const approved = look(waiting(), { pull: { ...reviewed.pull, ...blocked } }).memory;
    expect(approvalOf(approved)).toMatchObject({ by: 'bob', verified: 'forge' });
    expect(approvalOf(look(approved, { pull: blocked }).memory)).toMatchObject({ by: 'bob' });
    expect(approvalOf(look(approved, { pull: { ...blocked, approvals: [] } }).memory)).toBeNull();
  });

  it('takes the place of a claimed name, and a rejection stands above it', () => {
    const { memory: after } = look(claimed(waiting()), reviewed);
    expect(approvalOf(after)).toMatchObject({ by: 'bob', verified: 'forge' });
    const rejected = command(waiting(), 'reject', { by: 'ann', reason: '' }, NOW);
    expect(look(rejected.kind === 'done' ? rejected.memory : waiting(), reviewed).verdict).toMatchObject({
      kind: 'close',
    });
  });
});

describe('a claimed name', () => {
  it('satisfies the gate where the guardrail takes any, and is shown as one', () => {
    const { verdict, told } = look(claimed(waiting()));
    expect(verdict.kind).toBe('merge');
    expect(told[0]?.event.message).toContain('approved by "mallory" (a claimed name) at');
  });

  it('does not where the guardrail asks for a verified approval, which people are told once', () => {
    const { verdict, told, memory: after } = look(claimed(waiting()), { approvalBy: 'verified' });
    const words = 'approved by mallory, a name that nobody has verified; this guardrail asks for a verified approval';
    expect(verdict).toMatchObject({
      kind: 'hold',
      phase: 'AwaitingApproval',
      detail: expect.stringContaining(words) as string,
    });
    expect(told).toMatchObject([
      { event: { reason: 'QuotaResizeApprovalNeeded', message: expect.stringContaining(words) as string } },
    ]);
    expect(told[0]?.comment).toContain(words);
    expect(look(after, { approvalBy: 'verified' }).told).toEqual([]);
  });

  it('is no person who agreed to a growth, where only a verified one is', () => {
    const claim = claimed(waiting());
    const seen = observation({
      lease: lease({ holder: leaseHolder('0a1b2c3d'), decision: openDecision() }),
      policy: asking('none', 'verified'),
    });
    const told = look(claim, { approvalBy: 'verified' }).memory;
    const [, verdict] = decide({ observation: seen, pullRequest: pullRequest() }, told, NOW);
    expect(verdict).toMatchObject({ kind: 'merge' });
    if (verdict.kind !== 'merge') return;
    expect(verdict.decision.approvedBy).toBeUndefined();
  });
});
