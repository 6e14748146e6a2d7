import { describe, expect, it } from 'vitest';
import { opened } from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { command, type CommandOutcome, type EpisodeCommand } from '../../../../domain/quota-resize/decide/commands.ts';
import { approvalOf, requireState, type ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import {
  change,
  decideOpenAt,
  decision,
  HEAD,
  memory,
  mergedDecision,
  NOW,
  openDecision,
  policy,
  ref,
  type Remembered,
  SECOND,
} from '../model/observations.ts';

const input = { by: 'ann', reason: 'a freeze' };
const approvalRequirement = { reason: 'MaxStepExceeded', message: 'too much' } as const;
const learntFrom = { by: 'bob', at: NOW - SECOND, reason: '' };

function send(name: EpisodeCommand, remembered: Remembered = {}): CommandOutcome {
  return command(memory(remembered), name, input, NOW);
}

function done(outcome: CommandOutcome): ResizeMemory {
  if (outcome.kind === 'rejected') throw new Error(outcome.message);
  return outcome.memory;
}

describe('approve', () => {
  const gated = openDecision({ approvalRequirement });

  it('is bound to the limits and the head of this moment', () => {
    const outcome = send('approve', { decision: gated });
    expect(outcome.message).toBe(
      'approved by "ann" (a claimed name): pull request #7 at a1b2c3d4e5f6, for these values only',
    );
    expect(approvalOf(done(outcome))).toEqual({
      ...input,
      at: NOW,
      limits: { 'requests.cpu': '12' },
      headSha: HEAD,
      places: {},
    });
  });

  it('lets exactly that merge through, and nothing after the head or the limits changed', () => {
    const observed = { policy: policy({ 'max-step': '1' }) };
    const approved = done(send('approve', { decision: gated }));
    const verdictOf = (after: ResizeMemory, pull = {}) =>
      decideOpenAt(NOW, { observed, pull, memory: after })[1].reason;
    expect(verdictOf(approved)).toBe('ReadyToMerge');
    const rebuilt = opened(requireState(approved, 'Open'), gated, ref({ headSha: 'ffff' }));
    expect(verdictOf(rebuilt, { headSha: 'ffff' })).toBe('MaxStepExceeded');
    const grown = opened(
      requireState(approved, 'Open'),
      { ...gated, changes: [change({ to: '15' })] },
      ref({ headSha: 'ffff' }),
    );
    expect(verdictOf(grown, { headSha: 'ffff' })).toBe('MaxStepExceeded');
  });

  it('is rejected where there is nothing to approve', () => {
    const nothing = 'there is no open pull request to approve';
    expect(send('approve').message).toBe(nothing);
    expect(send('approve', { decision: decision({ approvalRequirement }) }).message).toBe(nothing);
    expect(send('approve', { decision: { ...mergedDecision(), approvalRequirement } }).message).toBe(nothing);
    expect(send('approve', { decision: openDecision() })).toEqual({
      kind: 'rejected',
      message:
        'pull request #7 needs no approval: its steps are within the policy. Where something else holds it, a person may merge it',
    });
    expect(send('approve', { decision: gated, rejection: learntFrom })).toEqual({
      kind: 'rejected',
      message: 'already rejected by bob, the pull request is closed',
    });
  });
});

describe('reject', () => {
  it('takes back an approval', () => {
    const approval = { ...learntFrom, limits: { 'requests.cpu': '12' }, headSha: HEAD };
    const outcome = send('reject', { decision: openDecision(), approval });
    expect(outcome.message).toBe('rejected by ann: pull request #7 is closed');
    expect(done(outcome)).toMatchObject({ state: { rejection: { ...input, at: NOW }, approval: null } });
  });

  it('is rejected where there is nothing to reject, and the first one counts', () => {
    const nothing = 'there is no open pull request to reject';
    expect(send('reject').message).toBe(nothing);
    expect(send('reject', { decision: mergedDecision() }).message).toBe(nothing);
    expect(send('reject', { decision: openDecision(), rejection: learntFrom }).kind).toBe('rejected');
  });
});

describe('reconcileNow', () => {
  it('makes a fresh start of everything that rests, and of nothing else', () => {
    const attempts = [
      { kind: 'blocked', reason: 'FileBusy', message: 'busy', at: NOW, key: '' },
      { kind: 'tried', key: '', count: 9, at: NOW },
    ] as const;
    for (const attempt of attempts) {
      const outcome = send('reconcileNow', { decision: openDecision(), attempt, lastChange: NOW });
      expect(outcome.message).toBe('checking again now, as asked by ann');
      expect(done(outcome)).toEqual(memory({ decision: openDecision(), lastChange: NOW }));
    }
  });

  it('reads Git again where the sync is overdue, and does not warn again', () => {
    const decided = mergedDecision();
    const overdue = { warnedAt: NOW - SECOND, checkedAt: NOW };
    expect(done(send('reconcileNow', { decision: decided, overdue }))).toEqual(
      memory({ decision: decided, overdue: { ...overdue, checkedAt: null } }),
    );
    expect(done(send('reconcileNow', { decision: decided }))).toEqual(memory({ decision: decided }));
  });
});

describe('skipCooldown', () => {
  it('ends the cooldown that runs', () => {
    const outcome = send('skipCooldown');
    expect(outcome.message).toBe(
      'cooldown skipped by ann: Headroom acts on a demand now, also on one that was rejected before',
    );
    expect(done(outcome)).toEqual(memory({ cooldownSkippedAt: NOW }));
  });

  describe('where only verified names count', () => {
    const skip = (remembered: Remembered = {}) => command(memory(remembered), 'skipCooldown', input, NOW, 'strict');

    it('says that nothing is merged any sooner that needs no approval', () => {
      const outcome = skip();
      expect(outcome.message).toBe(
        'cooldown skipped by ann: Headroom proposes what is needed now, also what was rejected before. But nobody has verified the name of who sent it, and guardrail strict takes only verified ones, so what needs no approval is merged after the cooldown, or by a person',
      );
      expect(done(outcome)).toEqual(memory({ cooldownSkippedAt: NOW }));
      expect(skip({ decision: mergedDecision() }).kind).toBe('done');
    });

    it.each([
      [openDecision(), 'pull request #7'],
      [decision(), `decision ${decision().id}`],
    ])(
      'is refused while there is a decision, which may not grow to what was rejected by a claimed name either',
      (decided, what) => {
        const rejections = [{ limits: { 'requests.cpu': '15' }, at: NOW, by: 'bob', reason: '' }];
        expect(skip({ decision: decided, rejections })).toEqual({
          kind: 'rejected',
          message: `${what} is not merged any sooner: nobody has verified the name of who sent it, and guardrail strict takes only verified ones. A person may merge it during the cooldown`,
        });
      },
    );
  });
});
