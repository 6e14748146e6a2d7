import { describe, expect, it } from 'vitest';
import { mayJoin, sharedWith } from '../../../../domain/quota-resize/decide/joined.ts';
import type {
  Approval,
  Decision,
  DecisionFacts,
  DecisionRef,
  JoinedDecision,
} from '../../../../domain/quota-resize/model/decision.ts';
import type { LeaseRecord, SharingDecision } from '../../../../domain/quota-resize/model/observation.ts';
import type { Placement } from '../../../../domain/quota-resize/model/placement.ts';
import type { ResizePolicy } from '../../../../domain/quota-resize/policy/policy.ts';
import {
  change,
  cpu,
  decideOpenAt,
  decision,
  demand,
  HEAD,
  HOUR,
  lease,
  MINUTE,
  NOW,
  openDecision,
  policy,
  ref,
  timings,
} from '../model/observations.ts';

const other: JoinedDecision = { namespace: 'team-b', quota: 'compute', decision: 'bbbbbbbb', limits: { pods: '12' } };
const OTHER_HEAD = 'f'.repeat(40);
const needsApproval = { approvalRequirement: { reason: 'ApprovalRequired', message: 'ask' } } as const;
const asked = policy({ approval: 'before-merge' });

/** The owner of pull request #7, which is ready, with these others. */
function owner(others: readonly SharingDecision[], joined?: readonly JoinedDecision[], pushedAt = NOW - HOUR) {
  return decideOpenAt(NOW, {
    observed: { sharing: { kind: 'owner', others } },
    decision: { pullRequest: ref({ pushedAt }), ...(joined === undefined ? {} : { joined }) },
  })[1];
}

describe('the owner of a pull request', () => {
  it('rebuilds it with a decision that waits for its file', () => {
    expect(owner([other])).toMatchObject({
      kind: 'rebuild',
      reason: 'RaisedWithOtherQuota',
      why: 'team-b/compute joins it',
      decision: { joined: [other] },
    });
  });

  it('does so once in a while, and merges meanwhile', () => {
    const pushedAt = NOW - timings.updateInterval + MINUTE;
    expect(owner([other], undefined, pushedAt)).toMatchObject({ kind: 'merge' });
    const [, verdict] = decideOpenAt(NOW, {
      observed: { sharing: { kind: 'owner', others: [other] } },
      decision: { decidedAt: pushedAt, pullRequest: ref({ openedAt: pushedAt, pushedAt }) },
      pull: { checks: { total: 1, pending: ['ci'], failing: [] }, mergeability: 'unstable' },
    });
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'ChecksPending', wait: { until: NOW + MINUTE } });
  });

  it('does not have a merge wait for them that growth does not postpone any more', () => {
    const [, verdict] = decideOpenAt(NOW, {
      observed: { sharing: { kind: 'owner', others: [other] } },
      decision: {
        decidedAt: NOW - 40 * HOUR,
        pullRequest: ref({ openedAt: NOW - 40 * HOUR, pushedAt: NOW - 19 * HOUR }),
      },
      pull: { checks: { total: 1, pending: ['ci'], failing: [] }, mergeability: 'unstable' },
    });
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'ChecksPending' });
  });

  it('merges when every decision in it lets this head be merged, and names those that do not', () => {
    const third = { ...other, namespace: 'team-c', decision: 'cccccccc' };
    const both = [other, third];
    const ready = both.map((one) => ({ ...one, readyAt: HEAD }));
    expect(owner(ready, both)).toMatchObject({ kind: 'merge' });
    expect(owner([...ready.slice(0, 1), { ...third, readyAt: OTHER_HEAD }], both)).toMatchObject({
      kind: 'hold',
      reason: 'RaisedWithOtherQuota',
      detail: expect.stringContaining('it waits for team-c/compute, which it raises as well') as string,
    });
    expect(owner([...ready.slice(0, 1), third], both)).toMatchObject({ kind: 'hold' });
  });

  it('rebuilds it at once without a decision that has left, and does not take that quota in again', () => {
    const without = owner([], [other], NOW - MINUTE);
    expect(without).toMatchObject({
      kind: 'rebuild',
      reason: 'BatchedQuotaLeft',
      why: 'team-b/compute is no longer raised in it',
      decision: { joined: [{ ...other, leftOut: true }] },
    });
    const again = { ...other, decision: 'b2b2b2b2', readyAt: HEAD };
    expect(owner([again], [{ ...other, leftOut: true }])).toMatchObject({ kind: 'merge' });
  });

  it('writes what grew', () => {
    const grown = { ...other, limits: { pods: '20' } };
    expect(owner([grown], [other])).toMatchObject({
      kind: 'rebuild',
      why: 'the demand of team-b/compute grew',
      decision: { joined: [grown] },
    });
  });

  it('waits no longer for one that could not be written', () => {
    expect(owner([other], [{ ...other, leftOut: true }])).toMatchObject({ kind: 'merge' });
  });
});

/** What a person's approval lifts, or time. */
const rests = { reason: 'CoolingDown', until: NOW + HOUR, detail: 'it rests', isUnattended: true } as const;

it('the owner whose own raise waits for time has nobody wait with it, unless a person decides', () => {
  const ready = { ...other, readyAt: HEAD };
  const held = (others: readonly SharingDecision[], joined: readonly JoinedDecision[], rules = policy()) =>
    decideOpenAt(NOW, {
      observed: { sharing: { kind: 'owner', others }, mergeHold: rests, policy: rules },
      decision: { joined, pullRequest: ref({ pushedAt: NOW - MINUTE }) },
    })[1];
  expect(held([ready], [other])).toMatchObject({
    kind: 'rebuild',
    reason: 'BatchedQuotaLeft',
    decision: { joined: [{ ...other, leftOut: true }] },
  });
  expect(held([other], []), 'nor anybody new').toMatchObject({ kind: 'hold', reason: 'CoolingDown' });
  const byPeople = policy({ 'auto-merge': 'false' });
  expect(held([ready], [other], byPeople)).toMatchObject({ kind: 'hold', reason: 'NamespaceAutoMergeOff' });
  expect(held([ready], [other], asked)).toMatchObject({ kind: 'hold', reason: 'ApprovalRequired' });
});

const joinedTo: DecisionRef = { namespace: 'team-z', quota: 'compute', decision: 'ffffffff' };

/** A decision that joined pull request #7. */
function joined(
  changed: Parameters<typeof decideOpenAt>[1] = {},
  more: Partial<DecisionFacts> & { readonly headSha?: string } = {},
) {
  const { headSha = HEAD, ...facts } = more;
  return decideOpenAt(NOW, {
    ...changed,
    observed: { sharing: { kind: 'joined', isJoined: true }, ...changed?.observed },
    decision: { ...facts, pullRequest: ref({ joinedTo, headSha }) },
  });
}

describe('a decision that joined a pull request', () => {
  it('lets its head be merged, tells the owner, and waits', () => {
    expect(joined()[1]).toMatchObject({
      kind: 'revise',
      reason: 'ReadyToMerge',
      decision: { readyAt: HEAD },
      wakes: joinedTo,
    });
    expect(joined({}, { readyAt: HEAD })[1]).toMatchObject({
      kind: 'hold',
      phase: 'AwaitingMerge',
      reason: 'RaisedWithOtherQuota',
      detail: expect.stringContaining('is merged for team-z/compute, with which this quota shares it') as string,
    });
    // The owner looks at checks and conflicts.
    expect(joined({ pull: { mergeability: 'conflict' } }, { readyAt: HEAD })[1]).toMatchObject({ kind: 'hold' });
  });

  it('does not before it is approved, and stores the approval with it', () => {
    const observed = { policy: asked };
    expect(joined({ observed }, needsApproval)[1]).toMatchObject({ phase: 'AwaitingApproval' });
    const approval: Approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '12' }, headSha: HEAD };
    const [, verdict] = joined({ observed, memory: { approval } }, needsApproval);
    expect(verdict).toMatchObject({ kind: 'revise', decision: { readyAt: HEAD, approval: { by: 'ann' } } });
  });

  it('records another head, with which it is looked at anew', () => {
    expect(joined({}, { headSha: OTHER_HEAD })[1]).toMatchObject({ kind: 'open', reason: 'HeadMoved' });
  });

  it('stores what grew for the owner to write', () => {
    const grown = joined({ observed: { demand: [demand({ 'requests.cpu': '3' })] } }, { readyAt: HEAD })[1];
    expect(grown).toMatchObject({ kind: 'revise', reason: 'DemandGrew', wakes: joinedTo });
    expect(grown.kind === 'revise' && grown.decision.readyAt).toBeUndefined();
  });

  it('is opened by itself when the pull request goes on without it', () => {
    const apart = { kind: 'revise', decision: { pullRequest: null }, phase: 'OpeningPullRequest' };
    const observed = { sharing: { kind: 'joined', isJoined: false } } as const;
    expect(joined({ observed })[1]).toMatchObject(apart);
    expect(joined({ pull: { isWithoutOwn: true } })[1]).toMatchObject(apart);
    const merge = { sha: 'f00', at: NOW, by: 'bot', isOwn: true, limits: { 'requests.cpu': '10' } };
    expect(joined({ pull: { state: 'closed', merge, isWithoutOwn: true } })[1]).toMatchObject(apart);
    expect(joined({ pull: { state: 'closed', isClosedByOwn: true } })[1]).toMatchObject(apart);
  });

  it('has nobody wait for its rest: it leaves, also where it let the head be merged before', () => {
    const observed = { mergeHold: rests };
    for (const readyAt of [undefined, HEAD]) {
      const [, leaving] = joined({ observed }, { readyAt });
      expect(leaving).toMatchObject({ kind: 'revise', decision: { isApart: true }, wakes: joinedTo });
      expect(leaving.kind === 'revise' && leaving.decision.readyAt).toBeUndefined();
    }
    const waits = { kind: 'hold', phase: 'AwaitingMerge', reason: 'CoolingDown' };
    expect(joined({ observed }, { isApart: true })[1], 'until the owner goes on without it').toMatchObject(waits);
    const apart = { ...observed, sharing: { kind: 'joined', isJoined: false } } as const;
    expect(joined({ observed: apart }, { isApart: true })[1]).toMatchObject({ decision: { pullRequest: null } });
  });

  it('is merged and rejected with it, and deletes no branch', () => {
    const merge = { sha: 'f00', at: NOW, by: 'bot', isOwn: true, limits: { 'requests.cpu': '12' } };
    expect(joined({ pull: { state: 'closed', merge } })[1]).toMatchObject({
      kind: 'mergedByPerson',
      decision: { merge },
      deletesBranch: false,
    });
    expect(joined({ pull: { state: 'closed', closedBy: 'ann' } })[1]).toMatchObject({
      kind: 'closedByPerson',
      rejection: { by: 'ann' },
      deletesBranch: false,
    });
  });

  it.each([
    ['is rejected', { memory: { rejection: { by: 'ann', at: NOW, reason: '' } } }, 'Rejected'],
    [
      'is not needed any more',
      { observed: { quota: cpu('1') }, memory: { demandGoneSince: NOW - HOUR } },
      'DemandGone',
    ],
    ['is opted out', { observed: { policy: { ...policy(), enabled: false } } }, 'OptedOut'],
  ])('ends without a write to the forge when it %s', (_, changed, reason) => {
    expect(joined(changed)[1]).toMatchObject({ kind: 'release', reason, wakes: joinedTo });
  });
});

it('people see with whom a pull request is shared', () => {
  expect(sharedWith(openDecision())).toBe('');
  expect(sharedWith(openDecision({ joined: [other, { ...other, namespace: 'team-c', leftOut: true }] }))).toBe(
    ', shared with team-b/compute',
  );
  expect(sharedWith(openDecision({ pullRequest: ref({ joinedTo }) }))).toBe(', shared with team-z/compute');
});

const placement: Placement = {
  candidate: { from: 'scan', learntFrom: 'a search' },
  tried: 0,
  values: { 'requests.cpu': { path: 'quotas.yaml', field: 'spec.hard', text: '10' } },
};
const source = { repository: 'acme/gitops', base: 'main', how: 'found', placement };

function allowed(
  joining: { decision?: Partial<Decision>; policy?: Partial<ResizePolicy>; lease?: Partial<LeaseRecord> },
  held: { decision?: Partial<DecisionFacts>; policy?: Partial<ResizePolicy> } = {},
): boolean {
  const mine = { ...decision({ source }), ...joining.decision } as Decision;
  return mayJoin(
    { decision: mine, policy: { ...policy(), ...joining.policy }, lease: lease(joining.lease) },
    { decision: openDecision({ source, ...held.decision }), policy: { ...policy(), ...held.policy } },
    NOW,
  );
}

describe('who may join', () => {
  it('is a decision under the same rules, for the same branch', () => {
    expect(allowed({})).toBe(true);
    expect(allowed({ decision: { source: { ...source, repository: 'Acme/GitOps' } } })).toBe(true);
  });

  it.each<readonly [string, Parameters<typeof allowed>[0]]>([
    ['the mode observe', { policy: { mode: 'observe' } }],
    ['no resizing', { policy: { enabled: false } }],
    ['another answer to auto-merge', { policy: { autoMerge: { allowed: false, reason: 'NamespaceOff' } } }],
    ['other approvals', { policy: { approval: 'before-merge' } }],
    ['other reviewers', { policy: { reviewers: ['ann'] } }],
    ['a freeze', { policy: { freezeUntil: NOW + HOUR } }],
    ['a rest of its own', { decision: { isApart: true } }],
    ['a cooldown that runs, because its merge would wait for it', { lease: { lastWithdrawal: NOW - MINUTE } }],
    [
      'limits that a person has rejected',
      { lease: { rejections: [{ limits: { 'requests.cpu': '12' }, at: NOW - 2 * HOUR, by: 'ann', reason: '' }] } },
    ],
    ['another guardrail', { policy: { guardrail: { ...policy().guardrail, name: 'prod' } } }],
    ['another branch', { decision: { source: { ...source, base: 'live' } } }],
    ['another repository', { decision: { source: { ...source, repository: 'acme/other' } } }],
    ['no place', { decision: { source: { repository: 'acme/gitops', base: 'main', how: 'found' } } }],
    [
      'a place that is not proved',
      { decision: { source: { ...source, placement: { ...placement, notProved: 'it' } } } },
    ],
    [
      'a branch of an annotation',
      { decision: { source: { ...source, placement: { ...placement, branchBy: 'annotation' } } } },
    ],
    ['a person to be asked, where the owner asks none', { decision: needsApproval }],
    [
      'quotas that are raised along',
      {
        decision: {
          batchedQuotas: [
            { quota: 'gpu', quotaUid: 'uid', changes: [change()], approvalRequirement: null, candidates: [] },
          ],
        },
      },
    ],
  ])('is none with %s', (_, joining) => {
    expect(allowed(joining)).toBe(false);
  });

  it('is one whose rest was skipped, or ends with a person anyway', () => {
    const resting = { lease: { lastWithdrawal: NOW - MINUTE } };
    expect(allowed({ ...resting, decision: { cooldownSkippedAt: NOW } })).toBe(true);
    expect(allowed({ ...resting, decision: needsApproval }, { decision: needsApproval })).toBe(true);
    const off = { autoMerge: { allowed: false, reason: 'NamespaceOff' } } as const;
    expect(allowed({ ...resting, policy: off }, { policy: off })).toBe(true);
  });

  it('is one that asks people where the owner does too', () => {
    expect(allowed({ decision: needsApproval }, { decision: needsApproval })).toBe(true);
    const off = { autoMerge: { allowed: false, reason: 'NamespaceOff' } } as const;
    expect(allowed({ decision: needsApproval, policy: off }, { policy: off })).toBe(true);
  });
});
