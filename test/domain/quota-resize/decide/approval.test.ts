import { describe, expect, it } from 'vitest';
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { command } from '../../../../domain/quota-resize/decide/commands.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { approvalHolds } from '../../../../domain/quota-resize/decide/approval.ts';
import {
  type Decision,
  type DecisionFacts,
  leaseHolder,
  type LockedDecision,
} from '../../../../domain/quota-resize/model/decision.ts';
import { approvalRequirementOf } from '../../../../domain/quota-resize/decide/approval-requirement.ts';
import { decisionOf, requireState, type ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  change,
  cpu,
  decision,
  HOUR,
  lease,
  memory,
  MINUTE,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
  ref,
  type Remembered,
} from '../model/observations.ts';

const ann = { by: 'ann', reason: 'month end' };

/** The decision that a test starts from, or goes on with. */
function inHandOf(remembered: Remembered): Decision | null {
  return remembered.state === undefined ? (remembered.decision ?? null) : decisionOf({ state: remembered.state });
}

/** Decides on an unopened decision that holds its Lease. */
function unopened(
  observed: Partial<QuotaObservation>,
  remembered: Remembered = {},
  now = NOW,
): readonly [ResizeMemory, Verdict] {
  const inHand = inHandOf(remembered) ?? decision();
  const held = lease({ holder: leaseHolder(inHand.id), decision: inHand });
  return decide(
    { observation: observation({ lease: held, ...observed }), pullRequest: null },
    memory({ ...remembered, decision: inHand }),
    now,
  );
}

/** Decides on an open pull request that is ready to be merged. */
function opened(
  observed: Partial<QuotaObservation>,
  remembered: Remembered = {},
  now = NOW,
): readonly [ResizeMemory, Verdict] {
  const inHand = inHandOf(remembered) ?? openDecision();
  const held = lease({ holder: leaseHolder(inHand.id), decision: inHand });
  return decide(
    { observation: observation({ lease: held, ...observed }), pullRequest: pullRequest() },
    memory({ ...remembered, decision: inHand }),
    now,
  );
}

/** Goes on as the workflow does, until nothing is left to say: what was said, and the verdict after it. */
function untilQuiet(
  step: (remembered: ResizeMemory) => readonly [ResizeMemory, Verdict],
  start: ResizeMemory,
): { readonly learntFrom: readonly string[]; readonly last: Verdict; readonly memory: ResizeMemory } {
  const learntFrom: string[] = [];
  let current = start;
  for (let round = 0; round < 10; round += 1) {
    const [next, verdict] = step(current);
    if (verdict.kind !== 'notify') return { learntFrom, last: verdict, memory: next };
    learntFrom.push(verdict.event.reason);
    current = applyOutcome.emitted(next, verdict.about);
  }
  throw new Error('it never stops talking');
}

describe('an approval before the pull request', () => {
  const places = (text: string, path = 'team-a/quota.yaml'): Partial<DecisionFacts> => ({
    approvalRequirement: { reason: 'ApprovalRequired', message: 'ask', before: 'pull-request' },
    source: {
      repository: 'acme/gitops',
      base: 'main',
      how: 'in a file',
      placement: {
        candidate: { from: 'annotation', learntFrom: 'the annotation' },
        tried: 0,
        values: { 'requests.cpu': { path, field: 'spec.hard["requests.cpu"]', text } },
      },
    },
  });

  it('is bound to the place and the old and the new text, and asked for again where one of them is another', () => {
    const asked = memory({ decision: decision(places('10')) });
    const approved = command(asked, 'approve', { by: 'ann', reason: '' }, NOW);
    if (approved.kind !== 'done' || approved.memory.state.kind !== 'Locked') throw new Error('not approved');
    const { state } = approved.memory;
    const holds = (held: LockedDecision): boolean => approvalHolds({ ...state, decision: held }, held, policy());
    expect(holds(decision(places('10')))).toBe(true);
    expect(holds(decision(places('11')))).toBe(false);
    expect(holds(decision(places('10', 'team-b/quota.yaml')))).toBe(false);
    expect(holds(decision({ ...places('10'), changes: [change({ to: '13' })] }))).toBe(false);
    const { approval } = state;
    if (approval === null) throw new Error('not approved');
    expect(approvalHolds({ ...state, approval: { ...approval, places: {} } }, state.decision, policy())).toBe(false);
    const { placement } = places('11').source ?? {};
    if (placement === undefined) throw new Error('no placement');
    const moved = applyOutcome.relocated(requireState(approved.memory, 'Locked'), { placement, batched: {} });
    expect(moved.state.decision.source?.placement).toEqual(placement);
    expect(approvalHolds(moved.state, moved.state.decision, policy())).toBe(false);
  });
});

describe('a gate', () => {
  it('stands before every raise where the policy asks for it, and where it asks for it', () => {
    expect(approvalRequirementOf(policy(), [change()])).toBeNull();
    expect(approvalRequirementOf(policy({ approval: 'before-merge' }), [change()])).toMatchObject({
      reason: 'ApprovalRequired',
    });
    expect(approvalRequirementOf(policy({ approval: 'before-pull-request' }), [change()])).toMatchObject({
      reason: 'ApprovalRequired',
      before: 'pull-request',
    });
    expect(approvalRequirementOf(policy({ approval: 'before-pull-request' }), [change({ from: '0' })])).toMatchObject({
      reason: 'RaiseFromZero',
      before: 'pull-request',
    });
  });
});

describe('an approval before the pull request', () => {
  const asking = policy({ approval: 'before-pull-request' });

  it('is asked for once, and nothing is opened meanwhile', () => {
    const { learntFrom, last } = untilQuiet(
      (current) => unopened({ policy: asking }, current),
      memory({ decision: decision() }),
    );
    expect(learntFrom).toEqual(['QuotaResizeApprovalNeeded']);
    expect(last).toMatchObject({ kind: 'hold', phase: 'AwaitingApproval', reason: 'ApprovalRequired' });
  });

  it('says that more is needed and when that is asked for, as soon as it may grow', () => {
    const grownAt = NOW - MINUTE;
    const { last } = untilQuiet(
      (current) => unopened({ policy: asking, quota: cpu('17', '20') }, current),
      memory({ decision: decision({ grownAt }) }),
    );
    if (last.kind !== 'hold') throw new Error(last.kind);
    expect(last.detail).toMatch(/\. The demand grew meanwhile \(.+\), which is asked for at 2026-11-20T10:09:00Z$/);
    const at = last.wait.until ?? 0;
    expect(at).toBeLessThanOrEqual(grownAt + 10 * MINUTE);
    const [, later] = unopened(
      { policy: asking, quota: cpu('17', '20') },
      { decision: decision({ grownAt }) },
      grownAt + 10 * MINUTE,
    );
    expect(later).toMatchObject({ kind: 'revise', reason: 'DemandGrew' });
  });

  it('once given is told with who and why, opens the pull request and is good for its merge too', () => {
    const waiting = untilQuiet((current) => unopened({ policy: asking }, current), memory({ decision: decision() }));
    const outcome = command(waiting.memory, 'approve', ann, NOW + MINUTE);
    if (outcome.kind !== 'done') throw new Error(outcome.message);
    expect(decisionOf(outcome.memory)?.approvedBy).toBe('ann');
    const approved = untilQuiet((current) => unopened({ policy: asking }, current), outcome.memory);
    expect(approved.learntFrom).toEqual(['QuotaResizeApproved']);
    expect(approved.last).toMatchObject({ kind: 'open', decision: { approvedBy: 'ann' } });
    if (approved.last.kind !== 'open') throw new Error('not opened');

    const afterwards = applyOutcome.opened(requireState(approved.memory, 'Locked'), approved.last.decision, ref());
    const merged = untilQuiet((current) => opened({ policy: asking }, current), afterwards);
    expect(merged.learntFrom).toEqual(['QuotaResizeApproved']);
    expect(merged.last).toMatchObject({ kind: 'merge' });
  });

  it('is void when the demand grows, and then no pull request is opened for the new values', () => {
    const { memory: waiting } = untilQuiet(
      (current) => unopened({ policy: asking }, current),
      memory({ decision: decision() }),
    );
    const outcome = command(waiting, 'approve', ann, NOW);
    if (outcome.kind !== 'done') throw new Error(outcome.message);
    const [, verdict] = unopened({ policy: asking, quota: cpu('9', '20') }, outcome.memory);
    expect(verdict.kind).not.toBe('open');
    const [, grown] = unopened({ policy: asking, quota: cpu('17', '20') }, outcome.memory);
    expect(grown).toMatchObject({ kind: 'revise', reason: 'DemandGrew' });
    if (grown.kind !== 'revise') throw new Error('not revised');
    const revised = applyOutcome.revised(requireState(outcome.memory, 'Locked'), grown.decision);
    expect(revised.state.approval).toBeNull();
    expect(revised.state.decision.approvedBy).toBeUndefined();
  });

  it('that is rejected ends the decision and remembers the values', () => {
    const { memory: waiting } = untilQuiet(
      (current) => unopened({ policy: asking }, current),
      memory({ decision: decision() }),
    );
    const outcome = command(waiting, 'reject', ann, NOW);
    if (outcome.kind !== 'done') throw new Error(outcome.message);
    expect(unopened({ policy: asking }, outcome.memory)[1]).toMatchObject({
      kind: 'close',
      reason: 'Rejected',
      rejection: { by: 'ann', reason: 'month end' },
    });
  });

  it('is not asked for where no approval is needed, so approve says that there is nothing to approve', () => {
    expect(command(memory({ decision: decision() }), 'approve', ann, NOW)).toMatchObject({ kind: 'rejected' });
  });
});

describe('an approval of an open pull request', () => {
  const observed = { policy: policy({ approval: 'before-merge' }) };
  const asked = () => untilQuiet((current) => opened(observed, current), memory({ decision: openDecision() })).memory;

  it('names the head that was reviewed, and is rejected for another one', () => {
    const head = ref().headSha;
    expect(command(asked(), 'approve', { ...ann, head: head.slice(0, 7) }, NOW).kind).toBe('done');
    const other = command(asked(), 'approve', { ...ann, head: '0000000' }, NOW);
    expect(other).toMatchObject({ kind: 'rejected', message: expect.stringContaining('Check the pull request again') });
    expect(command(asked(), 'approve', { ...ann, head: head.slice(0, 3) }, NOW).kind).toBe('rejected');
  });

  it('is asked for where a person merges, if the policy itself asks, and not for a large step alone', () => {
    const byHand = policy({ approval: 'before-merge' }, { autoMerge: false });
    const waits = untilQuiet((current) => opened({ policy: byHand }, current), memory({ decision: openDecision() }));
    expect(waits.last.reason).toBe('ApprovalRequired');
    const large = policy({ 'max-step': '1' }, { autoMerge: false });
    const merges = untilQuiet((current) => opened({ policy: large }, current), memory({ decision: openDecision() }));
    expect(merges.last.reason).toBe('AutoMergeOff');
  });

  it('that grew is not in the name of who approved less', () => {
    const outcome = command(asked(), 'approve', ann, NOW);
    if (outcome.kind !== 'done') throw new Error(outcome.message);
    const bigger = { ...observed, quota: cpu('19', '20') };
    const { last } = untilQuiet((current) => opened(bigger, current, NOW + HOUR), outcome.memory);
    expect(last).toMatchObject({ kind: 'rebuild', reason: 'DemandGrew' });
    if (last.kind === 'rebuild') expect(last.decision.approvedBy).toBeUndefined();
  });

  it('given before there was a pull request keeps that one as it was approved', () => {
    const before = policy({ approval: 'before-pull-request' });
    const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '12' }, headSha: ref().headSha };
    const { last } = untilQuiet(
      (current) => opened({ policy: before, quota: cpu('19', '20') }, current, NOW + HOUR),
      memory({ decision: openDecision(), approval }),
    );
    expect(last.kind).toBe('merge');
  });
});

describe('a missing approval', () => {
  it('is asked for as long as before after a pause', () => {
    const observed = { policy: policy({ approval: 'before-merge', 'approval-timeout': '1d' }) };
    const asked = untilQuiet((current) => opened(observed, current), memory({ decision: openDecision() })).memory;
    const pause = { scope: 'target', kept: 'a key', by: 'ann', reason: '', at: NOW } as const;
    const paused = untilQuiet((current) => opened({ ...observed, pause }, current), asked).memory;
    const { last } = untilQuiet((current) => opened(observed, current, NOW + 48 * HOUR), paused);
    expect(last.reason).toBe('ApprovalRequired');
  });
});

describe('a missing approval', () => {
  const asking = (extra: Record<string, string> = {}) => policy({ approval: 'before-merge', ...extra });

  it('is reminded of at the policy’s distance, and not more often', () => {
    const observed = { policy: asking({ 'approval-reminder': '24h' }) };
    const first = untilQuiet((current) => opened(observed, current), memory({ decision: openDecision() }));
    expect(first.last).toMatchObject({ kind: 'hold', phase: 'AwaitingApproval' });
    const early = untilQuiet((current) => opened(observed, current, NOW + 23 * HOUR), first.memory);
    expect(early.learntFrom).toEqual([]);
    const late = untilQuiet((current) => opened(observed, current, NOW + 24 * HOUR), early.memory);
    expect(late.learntFrom).toEqual(['QuotaResizeApprovalOverdue']);
    const after = untilQuiet((current) => opened(observed, current, NOW + 25 * HOUR), late.memory);
    expect(after.learntFrom).toEqual([]);
  });

  it('is reminded of as soon as people may be told something again', () => {
    const observed = { policy: asking({ 'approval-reminder': '24h' }) };
    const first = untilQuiet((current) => opened(observed, current), memory({ decision: openDecision() }));
    const due = NOW + 24 * HOUR;
    const notified = Array.from({ length: 10 }, () => due - MINUTE);
    const full = untilQuiet((current) => opened(observed, current, due), { ...first.memory, notified });
    expect(full.learntFrom).toEqual([]);
    const late = untilQuiet((current) => opened(observed, current, due + HOUR), full.memory);
    expect(late.learntFrom).toEqual(['QuotaResizeApprovalOverdue']);
    const next = untilQuiet((current) => opened(observed, current, due + 25 * HOUR - 1), late.memory);
    expect(next.learntFrom).toEqual([]);
  });

  it('is a no after the timeout, however often people were told other things in between', () => {
    const observed = { policy: asking({ 'approval-timeout': '7d', 'approval-reminder': '1h' }) };
    const week = 7 * 24;
    let current: ResizeMemory = memory({ decision: openDecision() });
    for (let hour = 0; hour < week; hour += 1) {
      const told = untilQuiet((remembered) => opened(observed, remembered, NOW + hour * HOUR), current);
      expect(told.last.kind).toBe('hold');
      current = told.memory;
    }
    expect(opened(observed, current, NOW + week * HOUR)[1]).toMatchObject({ reason: 'ApprovalTimedOut' });
  });

  it('is a no after the timeout, if there is one', () => {
    const observed = { policy: asking({ 'approval-timeout': '7d' }) };
    const first = untilQuiet((current) => opened(observed, current), memory({ decision: openDecision() }));
    const week = 7 * 24 * HOUR;
    const just = untilQuiet((current) => opened(observed, current, NOW + week - 1), first.memory);
    expect(just.last.kind).toBe('hold');
    const over = untilQuiet((current) => opened(observed, current, NOW + week), just.memory);
    expect(over.last).toMatchObject({ kind: 'close', reason: 'ApprovalTimedOut', rejection: { by: 'nobody' } });
    const never = untilQuiet((current) => opened({ policy: asking() }, current, NOW + 52 * week), first.memory);
    expect(never.last.kind).toBe('hold');
  });
});

describe('a held merge', () => {
  const frozen = { reason: 'Frozen', until: NOW + HOUR, detail: 'resizer.io/freeze-until on the namespace' } as const;

  it('is said once for each freeze, and waited for until it ends', () => {
    const first = untilQuiet((current) => opened({ mergeHold: frozen }, current), memory({ decision: openDecision() }));
    expect(first.learntFrom).toEqual(['QuotaResizeHeld']);
    expect(first.last).toMatchObject({ kind: 'hold', phase: 'AwaitingMerge', reason: 'Frozen' });
    const again = untilQuiet((current) => opened({ mergeHold: frozen }, current, NOW + MINUTE), first.memory);
    expect(again.learntFrom).toEqual([]);
    const longer = { ...frozen, until: NOW + 2 * HOUR };
    expect(untilQuiet((current) => opened({ mergeHold: longer }, current), again.memory).learntFrom).toEqual([
      'QuotaResizeHeld',
    ]);
    expect(untilQuiet((current) => opened({ mergeHold: null }, current), again.memory).last.kind).toBe('merge');
  });

  it('is said once while what is needed changes all the time', () => {
    const needing = (needed: number) =>
      ({ reason: 'MoreThanNeeded', until: null, detail: `at most ${needed} is needed`, isUnattended: true }) as const;
    const first = untilQuiet(
      (current) => opened({ mergeHold: needing(11) }, current),
      memory({ decision: openDecision() }),
    );
    expect(first.learntFrom).toEqual(['QuotaResizeHeld']);
    const again = untilQuiet((current) => opened({ mergeHold: needing(10) }, current, NOW + MINUTE), first.memory);
    expect(again.learntFrom).toEqual([]);
    expect(again.last.detail).toContain('at most 10 is needed');
  });

  it('does not keep a pull request from being opened', () => {
    expect(unopened({ mergeHold: frozen })[1]).toMatchObject({ kind: 'open' });
  });

  it('waits for the approval first, so that nobody approves twice', () => {
    const observed = { mergeHold: frozen, policy: policy({ approval: 'before-merge' }) };
    const { learntFrom } = untilQuiet((current) => opened(observed, current), memory({ decision: openDecision() }));
    expect(learntFrom).toEqual(['QuotaResizeApprovalNeeded']);
  });
});
