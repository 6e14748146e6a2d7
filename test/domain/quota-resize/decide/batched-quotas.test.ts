import { describe, expect, it } from 'vitest';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { approvalRequirementOfDecision } from '../../../../domain/quota-resize/decide/approval-requirement.ts';
import type { BatchedQuota } from '../../../../domain/quota-resize/model/decision.ts';
import { decisionOf, type ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import type {
  OtherQuota,
  PullRequestObservation,
  QuotaObservation,
} from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  change,
  decideOpenAt,
  decision,
  demand,
  HEAD,
  HOUR,
  lease,
  memory,
  mergedDecision,
  MINUTE,
  NOW,
  observation,
  policy,
  quota,
  ref,
  SECOND,
  type Remembered,
} from '../model/observations.ts';

const web = demand({ 'requests.cpu': '2', pods: '4' });

/** `uid-1` misses cpu for the same workload whose pods the sibling counts. */
function otherQuota(changed: Partial<OtherQuota> = {}): OtherQuota {
  return {
    name: 'objects',
    quota: { uid: 'uid-2', hard: { pods: '10' }, used: { pods: '10' } },
    policy: policy(),
    demand: [demand({ pods: '4' })],
    contradictions: [],
    candidates: [],
    lease: lease({ name: 'state-team-a-objects' }),
    ...changed,
  };
}

function observationWith(changed: Partial<QuotaObservation> = {}): QuotaObservation {
  return observation({ demand: [web], otherQuotas: [otherQuota()], ...changed });
}

/** The verdict once the need has stood still. */
function settled(quota: QuotaObservation, remembered: Remembered = {}, now = NOW): readonly [ResizeMemory, Verdict] {
  const [first] = decide({ observation: quota, pullRequest: null }, memory(remembered), now - MINUTE);
  return decide({ observation: quota, pullRequest: null }, first, now);
}

const batchedQuotas = (verdict: Verdict) =>
  verdict.kind === 'propose' ? verdict.batchedQuotas.map((batchedQuota) => batchedQuota.quota) : verdict.kind;

describe('quotas that lack capacity for the same workloads', () => {
  it('are raised by one decision, that of the smallest UID', () => {
    const [, verdict] = settled(observationWith());
    expect(batchedQuotas(verdict)).toEqual(['objects']);
    expect(verdict.detail).toContain('; quota objects: pods 10 →');
  });

  it('leave the first word to it, and have their own when nothing comes of it', () => {
    const other = otherQuota({ quota: { uid: 'uid-0', hard: { pods: '10' }, used: { pods: '10' } } });
    const [waiting, verdict] = settled(observationWith({ otherQuotas: [other] }));
    const recheckAt = NOW + 2 * SECOND;
    expect(verdict).toMatchObject({ reason: 'OtherQuotaFirst', wait: { until: recheckAt, quietUntil: recheckAt } });
    const ownTurnAt = NOW + 23 * SECOND;
    const again = (now: number) =>
      decide({ observation: observationWith({ otherQuotas: [other] }), pullRequest: null }, waiting, now)[1];
    expect(again(ownTurnAt - SECOND)).toMatchObject({
      reason: 'OtherQuotaFirst',
      wait: { until: ownTurnAt, quietUntil: ownTurnAt },
    });
    expect(again(ownTurnAt).kind).toBe('propose');
    const [, later] = settled(observationWith({ otherQuotas: [other] }), waiting, NOW + HOUR);
    expect(batchedQuotas(later)).toEqual([]);
  });

  it('leave the first word to nobody where a threshold alone is the cause', () => {
    const other = otherQuota({ quota: { uid: 'uid-0', hard: { pods: '10' }, used: { pods: '10' } } });
    expect(batchedQuotas(settled(observationWith({ demand: [], otherQuotas: [other] }))[1])).toEqual([]);
  });

  it('are raised together again as soon as the cooldown of the other one is over', () => {
    const changedAt = (lastModified: number) =>
      observationWith({ otherQuotas: [otherQuota({ lease: lease({ lastModified }) })] });
    expect(batchedQuotas(settled(changedAt(NOW - HOUR + 1))[1])).toEqual([]);
    expect(batchedQuotas(settled(changedAt(NOW - HOUR))[1])).toEqual(['objects']);
  });

  it('that another one carries wait for its pull request and say whose it is', () => {
    const carried = lease({ holder: 'headroom/0a1b2c3d', carriedBy: 'compute' });
    const [, verdict] = settled(observationWith({ lease: carried, otherQuotas: [] }));
    expect(verdict).toMatchObject({ kind: 'hold', phase: 'AwaitingMerge', reason: 'RaisedWithOtherQuota' });
    expect(verdict.detail).toContain('quota compute');
  });

  it.each<[string, Partial<OtherQuota>]>([
    ['is opted out', { policy: policy({ enabled: 'false' }) }],
    ['only observes', { policy: policy({ mode: 'observe' }) }],
    ['is not merged by Headroom', { policy: policy({ 'auto-merge': 'false' }) }],
    ['needs an approval', { policy: policy({ approval: 'before-merge' }) }],
    ['is locked', { lease: lease({ holder: 'somebody' }) }],
    ['awaits the sync of its merge', { lease: lease({ decision: mergedDecision() }) }],
    ['cools down', { lease: lease({ lastModified: NOW - MINUTE }) }],
    [
      'was refused',
      { lease: lease({ rejections: [{ limits: { pods: '100' }, at: NOW - MINUTE, by: 'ann', reason: '' }] }) },
    ],
    ['has room enough', { demand: [] }],
  ])('go separate ways where one of them %s', (_, changed) => {
    expect(batchedQuotas(settled(observationWith({ otherQuotas: [otherQuota(changed)] }))[1])).toEqual([]);
  });

  it('go together to the same approval, whichever of them needs one', () => {
    const theirs = settled(observationWith({ otherQuotas: [otherQuota({ policy: policy({ 'max-step': '1' }) })] }))[1];
    if (theirs.kind !== 'propose') throw new Error(theirs.kind);
    const approvalRequirement = approvalRequirementOfDecision(policy(), {
      changes: theirs.proposal.changes,
      batchedQuotas: theirs.batchedQuotas,
    });
    expect(approvalRequirement).toMatchObject({
      reason: 'MaxStepExceeded',
      message: expect.stringContaining('quota objects: pods'),
    });
    const ours = settled(observationWith({ policy: policy({ 'max-step': '1' }) }))[1];
    expect(batchedQuotas(ours)).toEqual(['objects']);
  });

  /** What a total of a guardrail leaves for a quota, without the raises of the same proposal. */
  const withTotal = (resource: string, limit: string) => ({
    ...policy(),
    unattended: [{ resource, limit, why: 'what guardrail prod leaves of its total', isShared: true }],
  });
  /** Both count `requests.cpu`, are full at 10, and lack 5. */
  const bothLack = (total: string) => {
    const five = [demand({ 'requests.cpu': '5' })];
    const cpu = { hard: { 'requests.cpu': '10' }, used: { 'requests.cpu': '10' } };
    const rules = withTotal('requests.cpu', total);
    const other = otherQuota({ quota: { uid: 'uid-2', ...cpu }, policy: rules, demand: five });
    return observationWith({ quota: quota(cpu), policy: rules, demand: five, otherQuotas: [other] });
  };

  it.each([
    // The total leaves 22 (26) for each of them alone, and the first takes 9 of it.
    ['waits for a person', '22', '19', '13', 'GuardrailExceeded'],
    ['is cut to it where its demand fits', '26', '19', '17', undefined],
  ])(
    'share what a total leaves: what the first takes is not left for the second, which %s',
    (_, total, own, most, why) => {
      const [, verdict] = settled(bothLack(total));
      if (verdict.kind !== 'propose') throw new Error(verdict.kind);
      expect(verdict.proposal).toMatchObject({ changes: [{ from: '10', to: own }], approvalRequirement: null });
      const [second] = verdict.batchedQuotas;
      if (why === undefined) {
        expect(second).toMatchObject({ changes: [{ from: '10', to: most }], approvalRequirement: null });
      } else {
        expect(second?.approvalRequirement).toMatchObject({
          reason: why,
          message: expect.stringContaining(`above ${most}, what guardrail prod leaves`),
        });
      }
    },
  );

  it('go separate ways where a threshold alone is the cause', () => {
    expect(batchedQuotas(settled(observationWith({ demand: [] }))[1])).toEqual([]);
  });
});

describe('the batched quotas of an open pull request', () => {
  const batchedQuota = (changed: Partial<BatchedQuota> = {}): BatchedQuota => ({
    quota: 'objects',
    quotaUid: 'uid-2',
    changes: [change({ resource: 'pods', from: '10', to: '18' })],
    approvalRequirement: null,
    candidates: [],
    ...changed,
  });
  const open = (otherQuotas: readonly OtherQuota[], held: readonly BatchedQuota[] = [batchedQuota()]) =>
    decideOpenAt(NOW, {
      decision: { changes: [change({ to: '14' })], batchedQuotas: held, pullRequest: ref({ pushedAt: NOW - HOUR }) },
      observed: { demand: [web], quota: quota({ used: { 'requests.cpu': '9' } }), otherQuotas },
    })[1];
  const carried = { lease: lease({ holder: 'headroom/0a1b2c3d', carriedBy: 'compute' }) };

  it('are merged with it while they still need it', () => {
    expect(open([otherQuota(carried)])).toMatchObject({
      kind: 'merge',
      decision: { batchedQuotas: [{ quota: 'objects' }] },
    });
  });

  it('stay as they are where nothing of theirs is missing by now', () => {
    expect(open([otherQuota({ ...carried, demand: [] })])).toMatchObject({
      kind: 'merge',
      decision: { batchedQuotas: [{ quota: 'objects', changes: [{ to: '18' }] }] },
    });
  });

  it('grow with the demand, and what was approved for less is approved no more', () => {
    const more = otherQuota({ ...carried, demand: [demand({ pods: '14' })] });
    const grown = open([more]);
    expect(grown).toMatchObject({ kind: 'rebuild', reason: 'DemandGrew' });
    if (grown.kind !== 'rebuild') throw new Error(grown.kind);
    expect(grown.decision.batchedQuotas?.[0]?.changes[0]?.to).toBe('31');
    expect(grown.decision.approvedBy).toBeUndefined();
  });

  it('do not grow to what their people have rejected', () => {
    const rejections = [{ limits: { pods: '40' }, at: NOW - HOUR, by: 'ann', reason: '' }];
    const rejected = { ...carried, lease: lease({ ...carried.lease, rejections }) };
    expect(open([otherQuota({ ...rejected, demand: [demand({ pods: '14' })] })])).toMatchObject({
      kind: 'merge',
      decision: { batchedQuotas: [{ changes: [{ to: '18' }] }] },
    });
  });

  it('share what a total leaves for their growth, and count from then on those that were decided before it', () => {
    const rules = (limit: string) => ({
      ...policy(),
      unattended: [{ resource: 'requests.cpu', limit, why: 'what guardrail prod leaves of its total', isShared: true }],
    });
    const cpu = { hard: { 'requests.cpu': '10' }, used: { 'requests.cpu': '10' } };
    const more = [demand({ 'requests.cpu': '5' })];
    const held = batchedQuota({ changes: [change({ from: '10', to: '12' })] });
    const [, verdict] = decideOpenAt(NOW, {
      decision: {
        changes: [change({ from: '10', to: '12' })],
        batchedQuotas: [held],
        pullRequest: ref({ pushedAt: NOW - HOUR }),
      },
      observed: {
        demand: more,
        quota: quota(cpu),
        policy: rules('24'),
        otherQuotas: [otherQuota({ ...carried, quota: { uid: 'uid-2', ...cpu }, policy: rules('24'), demand: more })],
      },
    });
    if (verdict.kind !== 'rebuild') throw new Error(verdict.kind);
    const { decision: grown } = verdict;
    // 24 − (19 − 12): the 12 that were decided before are not in the 24.
    expect(grown).toMatchObject({ changes: [{ to: '19' }], batchedQuotas: [{ changes: [{ to: '17' }] }] });
    expect(grown.grownAt).toBe(NOW);
  });

  it.each<[string, readonly OtherQuota[]]>([
    ['needs nothing any more', []],
    ['opted out', [otherQuota({ ...carried, policy: policy({ enabled: 'false' }) })]],
    ['only observes now', [otherQuota({ ...carried, policy: policy({ mode: 'observe' }) })]],
    ['has a freeze of its own', [otherQuota({ ...carried, policy: policy({ 'freeze-until': '2030-01-01' }) })]],
    ['is another quota of that name', [otherQuota({ ...carried, quota: { ...otherQuota().quota, uid: 'uid-9' } })]],
  ])('are taken out before a merge where one of them %s', (_, otherQuotas) => {
    expect(open(otherQuotas)).toMatchObject({ kind: 'rebuild', reason: 'BatchedQuotaLeft', released: ['objects'] });
  });

  it('are taken out before people are left to merge by hand', () => {
    const byHand = policy({ 'auto-merge': 'false' });
    const verdict = (otherQuotas: readonly OtherQuota[], pull: Partial<PullRequestObservation> = {}) =>
      decideOpenAt(NOW, {
        decision: { changes: [change({ to: '14' })], batchedQuotas: [batchedQuota()] },
        observed: { demand: [web], policy: byHand, otherQuotas },
        pull,
      })[1];
    const paused = otherQuota({ ...carried, policy: policy({ 'auto-merge': 'false', enabled: 'false' }) });
    expect(verdict([paused])).toMatchObject({ kind: 'rebuild', reason: 'BatchedQuotaLeft', released: ['objects'] });
    expect(verdict([])).toMatchObject({ kind: 'rebuild', reason: 'BatchedQuotaLeft', released: ['objects'] });
    // A person may merge it before its checks have ended.
    const pending = { mergeability: 'blocked', checks: { total: 1, pending: ['ci'], failing: [] } } as const;
    expect(verdict([paused], pending)).toMatchObject({ kind: 'rebuild', reason: 'BatchedQuotaLeft' });
    expect(verdict([otherQuota({ ...carried, policy: byHand })])).toMatchObject({
      kind: 'hold',
      reason: 'NamespaceAutoMergeOff',
    });
  });

  it('leave with whatever the branch is rebuilt for, so that nothing is pushed for one that is paused', () => {
    const [, verdict] = decideOpenAt(NOW, {
      decision: { changes: [change({ to: '14' })], batchedQuotas: [batchedQuota()] },
      observed: { demand: [web], otherQuotas: [] },
      pull: { mergeability: 'behind' },
    });
    expect(verdict).toMatchObject({ kind: 'rebuild', reason: 'Behind', released: ['objects'] });
  });

  it('leave the decision before it has a pull request, too', () => {
    const held = decision({ changes: [change({ to: '14' })], batchedQuotas: [batchedQuota()] });
    const observed = observationWith({ otherQuotas: [] });
    const [, verdict] = decide({ observation: observed, pullRequest: null }, memory({ decision: held }), NOW);
    expect(verdict).toMatchObject({ kind: 'revise', reason: 'BatchedQuotaLeft', released: ['objects'] });
    if (verdict.kind === 'revise') expect(verdict.decision.batchedQuotas).toBeUndefined();
  });

  it('are asked for by the policies of now, as the gate before the merge asks', () => {
    const unattended = [{ resource: 'pods', limit: '15', why: 'the most that guardrail x allows' }];
    const waits = { kind: 'hold', phase: 'AwaitingApproval' };
    expect(open([otherQuota({ ...carried, policy: { ...policy(), unattended } })])).toMatchObject({
      ...waits,
      reason: 'GuardrailExceeded',
      detail: expect.stringContaining(
        'quota objects: pods from 10 to 18 is above 15, the most that guardrail x allows',
      ),
    });
    // Its limit was lowered meanwhile.
    const lowered = { uid: 'uid-2', hard: { pods: '8' }, used: { pods: '8' } };
    expect(open([otherQuota({ ...carried, quota: lowered })])).toMatchObject({ ...waits, reason: 'MaxStepExceeded' });
    const held = { approvalRequirement: { reason: 'GuardrailExceeded', message: 'it was above 15' } } as const;
    expect(open([otherQuota(carried)], [batchedQuota(held)]).kind).toBe('merge');
    expect(open([otherQuota(carried)], [batchedQuota({ demandByMessage: true })])).toMatchObject({
      ...waits,
      reason: 'DemandByMessage',
    });
    // Decisions of earlier versions say so by their requirement alone.
    const before = { approvalRequirement: { reason: 'DemandByMessage', message: 'by a message' } } as const;
    expect(open([otherQuota(carried)], [batchedQuota(before)])).toMatchObject({ ...waits, reason: 'DemandByMessage' });
  });

  it('are asked for before the pull request by the policies of now', () => {
    const asking = policy({ approval: 'before-pull-request' });
    const held = decision({
      changes: [change({ to: '14' })],
      batchedQuotas: [batchedQuota({ demandByMessage: true })],
    });
    const observed = observationWith({ policy: asking, otherQuotas: [otherQuota({ ...carried, policy: asking })] });
    const [carriedOn] = decide({ observation: observed, pullRequest: null }, memory({ decision: held }), NOW);
    expect(decisionOf(carriedOn)?.batchedQuotas).toMatchObject([
      { approvalRequirement: { reason: 'ApprovalRequired' } },
    ]);
  });

  it('that stay are approved no more where another one left after the approval', () => {
    const held = [batchedQuota(), batchedQuota({ quota: 'claims', quotaUid: 'uid-3' })];
    const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '14' }, headSha: HEAD };
    const [, verdict] = decideOpenAt(NOW, {
      decision: { changes: [change({ to: '14' })], batchedQuotas: held, approvedBy: 'ann' },
      observed: { demand: [web], otherQuotas: [otherQuota(carried)] },
      memory: { approval },
    });
    if (verdict.kind !== 'rebuild') throw new Error(verdict.kind);
    expect(verdict.released).toEqual(['claims']);
    expect(verdict.decision.batchedQuotas).toMatchObject([{ quota: 'objects' }]);
    expect(verdict.decision.approvedBy).toBeUndefined();
  });
});
