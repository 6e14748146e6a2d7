/** A person's no on the forge: Headroom does not merge, says who said no, and says it once. */
import { describe, expect, it } from 'vitest';
import type { ChangeRequest, ChangeRequests } from '../../../../domain/kernel/forge.ts';
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { requestedChanges } from '../../../../domain/quota-resize/decide/change-requests.ts';
import { command } from '../../../../domain/quota-resize/decide/commands.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { leaseHolder } from '../../../../domain/quota-resize/model/decision.ts';
import type { ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  cpu,
  HOUR,
  lease,
  memory,
  MINUTE,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
} from '../model/observations.ts';

const by = (name: string, at = NOW - MINUTE): ChangeRequest => ({ by: name, headSha: 'a'.repeat(40), at });

/** Looks until nothing is left to tell: what is done or waited for then, and what people were told. */
function look(
  changesRequested: ChangeRequests,
  start: ResizeMemory = memory({ decision: openDecision() }),
  observed: Partial<QuotaObservation> = {},
) {
  const held = lease({ holder: leaseHolder('0a1b2c3d'), decision: openDecision() });
  const seen = {
    observation: observation({ lease: held, ...observed }),
    pullRequest: pullRequest({ changesRequested }),
  };
  const told: Extract<Verdict, { kind: 'notify' }>[] = [];
  let current = start;
  for (let round = 0; round < 10; round += 1) {
    const [next, verdict] = decide(seen, current, NOW);
    if (verdict.kind !== 'notify') return { memory: next, verdict, told };
    told.push(verdict);
    current = applyOutcome.emitted(next, verdict.about);
  }
  throw new Error('it never stops talking');
}

describe('a pull request of which changes are requested', () => {
  it('is not merged although it is clean and needs no approval, and is when nobody requests them any more', () => {
    const held = look([by('bob')]);
    expect(held.verdict).toMatchObject({ kind: 'hold', reason: 'ChangesRequested', wait: { watch: 'pullRequest' } });
    expect(look([], held.memory).verdict).toMatchObject({ kind: 'merge' });
  });

  it('is not merged because an operator approves it', () => {
    const asking = { policy: policy({ approval: 'before-merge' }) };
    const asked = look([], undefined, asking);
    expect(asked.verdict).toMatchObject({ kind: 'hold', phase: 'AwaitingApproval' });
    const approved = command(asked.memory, 'approve', { by: 'ann', reason: '' }, NOW);
    if (approved.kind !== 'done') throw new Error(approved.message);
    expect(look([], approved.memory, asking).verdict).toMatchObject({ kind: 'merge' });
    const { verdict } = look([by('bob')], approved.memory, asking);
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'ChangesRequested' });
  });

  it('tells people once for each request, in an Event and a comment, and not again when one of several ends', () => {
    const first = look([by('bob')]);
    expect(first.told).toMatchObject([
      {
        reason: 'ChangesRequested',
        event: { reason: 'QuotaResizeHeld', message: first.verdict.detail },
        comment:
          'Not merged by Headroom: changes are requested by bob at aaaaaaaaaaaa; an approval by bob or a dismissal of that review ends it, and new commits do not.',
      },
    ]);
    const second = look([by('bob'), by('carol', NOW)], first.memory);
    expect(second.told).toMatchObject([
      { comment: expect.stringContaining('bob at aaaaaaaaaaaa and carol at') as string },
    ]);
    expect(look([by('carol', NOW)], second.memory).told).toEqual([]);
    expect(look([by('bob')], second.memory).told).toEqual([]);
    expect(look([by('bob', NOW)], second.memory).told, 'requested once more').toHaveLength(1);
  });

  it('is shown and not commented on where a person merges anyway', () => {
    const { verdict, told } = look([by('bob')], undefined, { policy: policy({ 'auto-merge': 'false' }) });
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'ChangesRequested' });
    expect(told).toEqual([]);
  });
});

describe('a pull request that is given up while changes are requested', () => {
  const optedOut = { policy: policy({ enabled: 'false' }) };
  const gone = { demand: [], quota: cpu('1') };
  const waited = () => memory({ decision: openDecision(), demandGoneSince: NOW - HOUR });

  it.each([
    ['its demand is gone', waited(), gone, 'DemandGone'],
    ['its namespace opted out', memory({ decision: openDecision() }), optedOut, 'OptedOut'],
  ])('was rejected by whoever requests them, where %s', (_what, start, observed, reason) => {
    const { verdict, memory: closing } = look([by('lint[bot]'), by('bob')], start, observed);
    const rejection = {
      limits: { 'requests.cpu': '12' },
      at: NOW,
      by: 'bob',
      reason: 'changes of pull request #7 were requested',
    };
    expect(verdict).toMatchObject({ kind: 'close', reason, rejection });
    const counts = 'bob has requested changes, which counts as a rejection';
    expect(verdict.detail).toContain(counts);
    if (verdict.kind === 'close') expect(verdict.comment).toContain(counts);
    // The process died after it had closed the pull request: nobody can be asked any more who requested changes.
    const held = lease({ holder: leaseHolder('0a1b2c3d'), decision: openDecision() });
    const seen = {
      observation: observation({ lease: held, ...observed }),
      pullRequest: pullRequest({ state: 'closed', closedBy: 'headroom-bot' }),
    };
    expect(decide(seen, closing, NOW + MINUTE)[1]).toMatchObject({ kind: 'close', rejection });
  });

  it.each<[string, ChangeRequests]>([
    ['nobody does', []],
    ['only an app does', [by('lint[bot]')]],
    ['they are not known', 'unread'],
  ])('was not rejected where %s', (_what, requests) => {
    expect(look(requests, waited(), gone).verdict).toMatchObject({ kind: 'close', rejection: null });
  });
});

describe('the words for requests', () => {
  it('name five and count the others', () => {
    const seven = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => by(name));
    expect(requestedChanges(seven)).toBe(
      'changes are requested by a at aaaaaaaaaaaa, b at aaaaaaaaaaaa, c at aaaaaaaaaaaa, d at aaaaaaaaaaaa, e at aaaaaaaaaaaa and 2 more; an approval by the same account or a dismissal ends each of them, and new commits do not',
    );
  });

  it('leave out a head that is not known', () => {
    expect(requestedChanges([{ ...by('bob'), headSha: null }])).toMatch(/^changes are requested by bob; /);
  });

  it('say that a person has to look where there are more reviews than are read', () => {
    expect(requestedChanges('unread')).toMatch(/^it has more reviews than Headroom reads, /);
    expect(look('unread').told).toHaveLength(1);
  });
});
