import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../../../domain/kernel/time.ts';
import { blocked } from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import { cappedRequirement } from '../../../../domain/quota-resize/sizing/requirement.ts';
import type { DecisionFacts } from '../../../../domain/quota-resize/model/decision.ts';
import type { Placement } from '../../../../domain/quota-resize/model/placement.ts';
import type { OtherQuota } from '../../../../domain/quota-resize/model/observation.ts';
import { staleRequirement } from '../../../../domain/quota-resize/demand/stale-usage.ts';
import type { BlockedReason } from '../../../../domain/quota-resize/model/memory.ts';
import type { Phase, Reason, Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  cpu,
  change,
  decideOpenAt,
  decision,
  demand,
  HOUR,
  lease,
  memory,
  mergedDecision,
  MINUTE,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
  quota,
  ref,
  type Remembered,
  SECOND,
  seenWith,
  settledNeed,
  URL,
} from '../model/observations.ts';

interface Expected {
  readonly verdict: Verdict;
  readonly kind: Verdict['kind'];
  readonly phase: Phase;
  readonly detail: string;
}

const LINK = `pull request [#7](${URL})`;
/** The sentences of the domain itself, which has tests of its own. */
const CAPPED = cappedRequirement(
  observation({ policy: policy({ 'cpu-max': '10' }), demand: [demand({ 'requests.cpu': '3' })] }),
  null,
).join(' ');
const CONTRADICTED = staleRequirement(
  observation({ contradictions: [{ resource: 'requests.cpu', used: '9', counted: '1' }] }),
  null,
).join(' ');
const paused = {
  scope: 'target',
  kept: 'ConfigMap headroom-pauses, key k',
  by: 'ann',
  at: NOW - MINUTE,
  reason: 'a freeze',
} as const;

function idle(observed: Parameters<typeof observation>[0] = {}, remembered: Remembered = {}): Verdict {
  return decide(
    { observation: observation(observed), pullRequest: null },
    memory({ demand: settledNeed, ...remembered }),
    NOW,
  )[1];
}

function open(changed: Parameters<typeof decideOpenAt>[1] = {}): Verdict {
  return decideOpenAt(NOW, changed)[1];
}

function awaitingSync(changed: Parameters<typeof mergedDecision>[0] = {}, remembered: Remembered = {}): Verdict {
  const merged = mergedDecision(changed);
  return decide(seenWith(merged, null), memory({ decision: merged, ...remembered }), NOW)[1];
}

/** A place in Git with what is not certain about it. */
function inGit(doubt: Partial<Placement>): NonNullable<DecisionFacts['source']> {
  const candidate = { from: 'annotation', learntFrom: 'the annotation' } as const;
  const placement = { candidate, tried: 0, values: {}, ...doubt };
  return { repository: 'acme/gitops', base: 'main', how: 'in a file', placement };
}

/** The verdict after the plan was tried once and blocked for this reason. */
function blockedFor(reason: BlockedReason, message: string): Verdict {
  const seen = { observation: observation(), pullRequest: null };
  const [tried, verdict] = decide(seen, memory({ demand: settledNeed }), NOW - MINUTE);
  const key = 'blockedKey' in verdict ? verdict.blockedKey : '';
  return decide(seen, blocked(tried, { reason, message, key }, NOW - MINUTE), NOW)[1];
}

function blockedText(reason: BlockedReason): Expected {
  return {
    verdict: blockedFor(reason, `${reason}: in words.`),
    kind: 'hold',
    phase: 'Blocked',
    detail: `${reason}: in words. Headroom tries again at 2026-11-20T10:04:00Z`,
  };
}

/** The policy's timeout is over, two days after people were asked. */
function approvalTimedOut(): Verdict {
  const observed = { policy: policy({ approval: 'before-merge', 'approval-timeout': '2d' }) };
  const [asked] = decideOpenAt(NOW - 48 * HOUR, { observed });
  return decide(seenWith(openDecision(), pullRequest(), observed), asked, NOW)[1];
}

function otherQuota(): OtherQuota {
  return {
    name: 'objects',
    quota: { uid: 'uid-0', hard: { pods: '10' }, used: { pods: '10' } },
    policy: policy(),
    demand: [demand({ pods: '2' })],
    contradictions: [],
    candidates: [],
    lease: lease(),
  };
}

/** One case for each reason there is: a reason without a case does not compile. */
const expected: Record<Reason, Expected> = {
  BelowThreshold: {
    verdict: idle({ quota: cpu('7') }),
    kind: 'end',
    phase: 'Ended',
    detail: 'every resource is below its threshold, and no workload needs more.',
  },
  AlreadyRecommended: {
    verdict: idle(
      { policy: policy({ mode: 'observe' }) },
      { lastRecommendation: { limits: { 'requests.cpu': '12' }, at: NOW - 2 * HOUR } },
    ),
    kind: 'hold',
    phase: 'CoolingDown',
    detail: `requests.cpu 10 → 12 is recommended already. Headroom recommends it again at ${formatInstant(NOW + 22 * HOUR)} unless the demand changes`,
  },
  OptedOut: {
    verdict: idle({ policy: policy({ enabled: 'false' }) }),
    kind: 'end',
    phase: 'Ended',
    detail: 'the namespace opted out (resizer.io/enabled is "false")',
  },
  QuotaGone: {
    verdict: open({ observed: { quota: null } }),
    kind: 'close',
    phase: 'Ended',
    detail: 'the ResourceQuota is deleted',
  },
  NamespaceGone: {
    verdict: open({ observed: { namespace: 'terminating' } }),
    kind: 'close',
    phase: 'Ended',
    detail: 'the namespace is being deleted',
  },
  QuotaReplaced: {
    verdict: open({ observed: { quota: quota({ uid: 'uid-2' }) } }),
    kind: 'close',
    phase: 'Ended',
    detail: 'the ResourceQuota was deleted and a new one has its name',
  },
  Paused: {
    verdict: idle({ pause: paused }),
    kind: 'hold',
    phase: 'Paused',
    detail: 'paused by ann since 2026-11-20T09:59:00Z: a freeze (ConfigMap headroom-pauses, key k)',
  },
  GloballyPaused: {
    verdict: idle({ pause: { ...paused, scope: 'everything', kept: 'ConfigMap headroom-pause' } }),
    kind: 'hold',
    phase: 'Paused',
    detail: 'Headroom is paused in this cluster by ann since 2026-11-20T09:59:00Z: a freeze (ConfigMap headroom-pause)',
  },
  CoolingDown: {
    verdict: idle({}, { lastChange: NOW - 20 * MINUTE }),
    kind: 'hold',
    phase: 'CoolingDown',
    detail:
      'cooling down until 2026-11-20T10:40:00Z. The quota still needs more, and Headroom acts after the cooldown (requests.cpu 10 → 12)',
  },
  PreviouslyRejected: {
    verdict: idle(
      {},
      { rejections: [{ limits: { 'requests.cpu': '12' }, at: NOW - HOUR, by: 'ann', reason: 'no budget' }] },
    ),
    kind: 'hold',
    phase: 'CoolingDown',
    detail:
      'requests.cpu 10 → 12 was rejected by ann at 2026-11-20T09:00:00Z (no budget). Headroom does not ask for it again before 2026-11-21T09:00:00Z unless the demand grows',
  },
  ObserverMode: {
    verdict: open({ observed: { policy: policy({ mode: 'observe' }) } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `the mode is observe, so nothing is written to ${LINK}: it is left to people, waiting until they merge or close it`,
  },
  AutoMergeOff: {
    verdict: open({ observed: { policy: policy({}, { autoMerge: false }) } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready and waits for a person to merge it: auto-merge is off globally (--enable-auto-merge)`,
  },
  NamespaceAutoMergeOff: {
    verdict: open({ observed: { policy: policy({ 'auto-merge': 'false' }) } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready and waits for a person to merge it: auto-merge is off for this namespace (resizer.io/auto-merge)`,
  },
  NotProved: {
    verdict: open({ decision: { source: inGit({ notProved: 'the value may be computed' }) } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready and waits for a person to merge it: not proved: the value may be computed`,
  },
  BranchNotProtected: {
    verdict: open({ decision: { source: inGit({ branchBy: 'annotation' }) } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready and waits for a person to merge it: only an annotation names the branch main, and it is not protected`,
  },
  MaxStepExceeded: {
    verdict: open({ observed: { policy: policy({ 'max-step': '1.1' }) } }),
    kind: 'hold',
    phase: 'AwaitingApproval',
    detail: `${LINK} has waited for an approval since 2026-11-20T10:00:00Z: requests.cpu from 10 to 12 is more than 1.1 × the limit (resizer.io/max-step). Send approve or reject`,
  },
  GuardrailExceeded: {
    verdict: open({
      observed: {
        policy: {
          ...policy(),
          unattended: [{ resource: 'requests.cpu', limit: '11', why: 'the most that guardrail prod allows' }],
        },
      },
    }),
    kind: 'hold',
    phase: 'AwaitingApproval',
    detail: `${LINK} has waited for an approval since 2026-11-20T10:00:00Z: requests.cpu from 10 to 12 is above 11, the most that guardrail prod allows. Send approve or reject`,
  },
  RaiseFromZero: {
    verdict: open({
      decision: { changes: [change({ from: '0', used: '0', to: '2', demand: '2' })] },
      observed: {
        quota: quota({ hard: { 'requests.cpu': '0' }, used: { 'requests.cpu': '0' } }),
        demand: [demand({ 'requests.cpu': '1' })],
      },
    }),
    kind: 'hold',
    phase: 'AwaitingApproval',
    detail: `${LINK} has waited for an approval since 2026-11-20T10:00:00Z: requests.cpu is 0, which is deliberate, and would become 2. Send approve or reject`,
  },
  ApprovalRequired: {
    verdict: open({ observed: { policy: policy({ approval: 'before-merge', 'approval-timeout': '2d' }) } }),
    kind: 'hold',
    phase: 'AwaitingApproval',
    detail: `${LINK} has waited for an approval since 2026-11-20T10:00:00Z: every raise of this quota needs an approval before a merge (resizer.io/approval is before-merge). Send approve or reject. Without an answer by 2026-11-22T10:00:00Z Headroom gives it up`,
  },
  DemandByMessage: {
    verdict: open({
      observed: { quota: cpu('9'), demand: [demand({ 'requests.cpu': '1' }, { basis: 'message' })] },
      decision: { demandByMessage: true },
    }),
    kind: 'hold',
    phase: 'AwaitingApproval',
    detail: `${LINK} has waited for an approval since 2026-11-20T10:00:00Z: only the message of an Event tells of a part of the demand, because Headroom cannot read the object that was denied. Send approve or reject`,
  },
  ApprovalTimedOut: {
    verdict: approvalTimedOut(),
    kind: 'close',
    phase: 'CoolingDown',
    detail: 'nobody has approved it since 2026-11-18T10:00:00Z (resizer.io/approval-timeout)',
  },
  Approved: {
    verdict: decide(
      seenWith(openDecision(), pullRequest()),
      memory({
        decision: openDecision(),
        approval: { by: 'ann', at: NOW, reason: 'month end', limits: {}, headSha: '' },
      }),
      NOW,
    )[1],
    kind: 'notify',
    phase: 'AwaitingMerge',
    detail: 'requests.cpu 10 → 12: approved by "ann" (a claimed name) at 2026-11-20T10:00:00Z: month end',
  },
  Frozen: {
    verdict: open({ observed: { mergeHold: { reason: 'Frozen', until: NOW + HOUR, detail: 'the freeze in words' } } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready. Headroom does not merge it now: the freeze in words`,
  },
  OutsideMergeWindow: {
    verdict: open({
      observed: { mergeHold: { reason: 'OutsideMergeWindow', until: null, detail: 'no window is open' } },
    }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready. Headroom does not merge it now: no window is open`,
  },
  MoreThanNeeded: {
    verdict: open({
      observed: {
        mergeHold: { reason: 'MoreThanNeeded', until: null, detail: 'at most 11 CPU was needed', isUnattended: true },
      },
    }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready. Headroom does not merge it now: at most 11 CPU was needed. It is closed at ${formatInstant(NOW + 10 * MINUTE)} unless that changes`,
  },
  AtMaximum: {
    verdict: idle({ policy: policy({ 'cpu-max': '10' }), demand: [demand({ 'requests.cpu': '3' })] }),
    kind: 'notify',
    phase: 'Blocked',
    detail: CAPPED,
  },
  UsageContradicted: {
    verdict: idle({ contradictions: [{ resource: 'requests.cpu', used: '9', counted: '1' }] }),
    kind: 'notify',
    phase: 'Detecting',
    detail: `${CONTRADICTED} Headroom raises nothing on such numbers, and checks again`,
  },
  UsageNotCounted: {
    verdict: idle({ usage: 'own', counting: { kind: 'unavailable', why: 'no starter answered' } }),
    kind: 'notify',
    phase: 'Blocked',
    detail:
      "the usage of the namespace could not be counted: no starter answered. In mode own nothing is decided by the quota's status alone, so Headroom checks again",
  },
  OtherQuotaFirst: {
    verdict: idle(
      { demand: [demand({ 'requests.cpu': '4' })], otherQuotas: [otherQuota()] },
      { demand: { digest: 'requests.cpu=17', since: NOW - HOUR, firstSeen: NOW - HOUR } },
    ),
    kind: 'hold',
    phase: 'Detecting',
    detail:
      'requests.cpu 10 → 17: quota objects lacks room for the same workloads, and one pull request raises both. This quota gets its own if that does not happen by 2026-11-20T10:00:23Z',
  },
  RaisedWithOtherQuota: {
    verdict: idle({ lease: lease({ holder: 'headroom/0a1b2c3d', carriedBy: 'objects' }) }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: 'the pull request of quota objects raises this quota too. Headroom waits until it is merged or closed',
  },
  ForeignCommit: {
    verdict: open({ pull: { headIsOurs: false } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} has commits of somebody else, so it belongs to people now. Headroom waits until they merge or close it`,
  },
  UnmetDemand: {
    verdict: idle(
      { quota: cpu('7'), demand: [demand({ 'requests.cpu': '4' })] },
      { demand: { digest: 'requests.cpu=14', since: NOW - HOUR, firstSeen: NOW - HOUR } },
    ),
    kind: 'propose',
    phase: 'OpeningPullRequest',
    detail: 'requests.cpu 10 → 14',
  },
  ThresholdReached: {
    verdict: idle({ policy: policy({ mode: 'observe' }) }),
    kind: 'recommend',
    phase: 'Recommending',
    detail: 'requests.cpu 10 → 12',
  },
  BelowMinimum: {
    verdict: idle(
      { quota: cpu('1'), policy: policy({ 'cpu-min': '12' }) },
      { demand: { digest: 'requests.cpu=12', since: NOW - HOUR, firstSeen: NOW - HOUR } },
    ),
    kind: 'propose',
    phase: 'OpeningPullRequest',
    detail: 'requests.cpu 10 → 12',
  },
  DemandDebouncing: {
    verdict: idle({}, { demand: null }),
    kind: 'hold',
    phase: 'Detecting',
    detail: 'requests.cpu 10 → 12. Headroom waits 2 s before it decides, so that it sees all pods of a rollout',
  },
  DemandGrew: {
    verdict: open({ observed: { demand: [demand({ 'requests.cpu': '3' })] } }),
    kind: 'rebuild',
    phase: 'OpeningPullRequest',
    detail: `${LINK}: the demand grew (requests.cpu 10 → 15100m)`,
  },
  DemandGone: {
    verdict: open({ observed: { quota: cpu('7') }, memory: { demandGoneSince: NOW - MINUTE } }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: `the demand has been gone since 2026-11-20T09:59:00Z, ${LINK} is closed at 2026-11-20T10:09:00Z unless it comes back`,
  },
  Adopted: {
    verdict: decide(seenWith(decision(), null), memory(), NOW)[1],
    kind: 'open',
    phase: 'OpeningPullRequest',
    detail: 'opening the pull request of decision 0a1b2c3d, found in the Lease (requests.cpu 10 → 12)',
  },
  MergeabilityComputing: {
    verdict: open({ pull: { mergeability: 'computing' } }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: 'it is still being computed whether pull request #7 can be merged',
  },
  ChecksPending: {
    verdict: open({
      pull: { mergeability: 'unstable', checks: { total: 2, pending: ['build', 'lint'], failing: [] } },
    }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: 'pull request #7 waits for checks: build, lint',
  },
  ChecksFailing: {
    verdict: open({ pull: { mergeability: 'blocked', checks: { total: 2, pending: [], failing: ['build'] } } }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: 'pull request #7 waits for a failing check to pass: build',
  },
  NoChecksYet: {
    verdict: open({
      pull: { checks: { total: 0, pending: [], failing: [] } },
      decision: { pullRequest: ref({ pushedAt: NOW - 10 * SECOND }) },
    }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: 'pull request #7 is clean but no check has appeared yet',
  },
  ReviewRequired: {
    verdict: open({ pull: { mergeability: 'blocked' } }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: 'pull request #7 is blocked by a rule of main: a review or a required check that has not started',
  },
  ChangesRequested: {
    verdict: open({ pull: { changesRequested: [{ by: 'bob', headSha: 'b'.repeat(40), at: NOW }] } }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail:
      'pull request #7 is not merged: changes are requested by bob at bbbbbbbbbbbb; an approval by bob or a dismissal of that review ends it, and new commits do not',
  },
  Draft: {
    verdict: open({ pull: { mergeability: 'draft' } }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: 'pull request #7 is a draft, waiting until it is ready for review',
  },
  Conflict: {
    verdict: open({ pull: { mergeability: 'conflict' } }),
    kind: 'rebuild',
    phase: 'OpeningPullRequest',
    detail: `${LINK}: main changed the same lines, so the branch conflicted. Headroom rebuilds the branch`,
  },
  Behind: {
    verdict: open({ pull: { mergeability: 'behind' } }),
    kind: 'rebuild',
    phase: 'OpeningPullRequest',
    detail: `${LINK}: main moved on and must be contained before a merge. Headroom rebuilds the branch`,
  },
  BatchedQuotaLeft: {
    verdict: open({
      decision: {
        batchedQuotas: [
          {
            quota: 'objects',
            quotaUid: 'uid-2',
            changes: [change({ resource: 'pods', from: '10', to: '12' })],
            approvalRequirement: null,
            candidates: [],
          },
        ],
      },
    }),
    kind: 'rebuild',
    phase: 'OpeningPullRequest',
    detail: `${LINK}: quota objects is no longer raised in it, because it needs no more, is paused, or its policy changed. Headroom rebuilds the branch`,
  },
  HeadMoved: {
    verdict: open({ pull: { headSha: 'ffffffffffffffffffff' } }),
    kind: 'rebuild',
    phase: 'OpeningPullRequest',
    detail: `${LINK}: the head ffffffffffff is a commit of Headroom that was not recorded, so Headroom checks it`,
  },
  ReadyToMerge: {
    verdict: open(),
    kind: 'merge',
    phase: 'Merging',
    detail: `merging ${LINK} at a1b2c3d4e5f6`,
  },
  InMergeQueue: {
    verdict: open({
      pull: {
        mergeQueue: true,
        queueEntry: { by: 'ann', isOwn: false, at: NOW - MINUTE, state: 'checking', position: 2 },
      },
    }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is in the merge queue at position 2, whose checks run, where ann put it, waiting until it is merged or taken out`,
  },
  RemovedFromQueue: {
    verdict: open({
      pull: { mergeQueue: true, queueRemoval: { by: 'ann', at: NOW - MINUTE, kind: 'other', reason: 'manual' } },
    }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready, and out of the merge queue: ann took it out of the merge queue at 2026-11-20T09:59:00Z, and Headroom does not put it there again. A person adds it to the queue, merges or closes it`,
  },
  AutoMergeEnabled: {
    verdict: open({
      pull: {
        queueEntry: {
          autoMerge: 'squash',
          by: 'ann',
          isOwn: false,
          at: NOW - MINUTE,
          state: 'waiting',
          position: null,
        },
      },
    }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `ann enabled GitHub's auto-merge of ${LINK}, waiting until it is merged or auto-merge is disabled`,
  },
  AutoMergeDisabled: {
    verdict: open({
      pull: { queueRemoval: { autoMerge: true, by: 'ann', at: NOW - MINUTE, kind: 'other', reason: '' } },
    }),
    kind: 'hold',
    phase: 'AwaitingMerge',
    detail: `${LINK} is ready: ann disabled GitHub's auto-merge at 2026-11-20T09:59:00Z, and Headroom neither enables it again nor merges. A person enables it, merges or closes it`,
  },
  UpdateDue: {
    verdict: open({
      observed: { demand: [demand({ 'requests.cpu': '3' })] },
      decision: { pullRequest: ref({ openedAt: NOW - MINUTE, pushedAt: NOW - MINUTE }) },
    }),
    kind: 'hold',
    phase: 'AwaitingChecks',
    detail: `the demand grew (requests.cpu 10 → 15100m), ${LINK} is updated at 2026-11-20T10:09:00Z`,
  },
  MergedByHuman: {
    verdict: open({
      pull: {
        state: 'closed',
        merge: { sha: 'f00', at: NOW, by: 'ann', isOwn: false, limits: { 'requests.cpu': '12' } },
      },
    }),
    kind: 'mergedByPerson',
    phase: 'AwaitingSync',
    detail: `${LINK} was merged by ann`,
  },
  ClosedByHuman: {
    verdict: open({ pull: { state: 'closed', closedBy: 'ann' } }),
    kind: 'closedByPerson',
    phase: 'CoolingDown',
    detail: `${LINK} was closed by ann, which counts as a rejection`,
  },
  Rejected: {
    verdict: open({ memory: { rejection: { by: 'ann', at: NOW, reason: 'no budget' } } }),
    kind: 'close',
    phase: 'CoolingDown',
    detail: 'rejected by ann: no budget',
  },
  LeaseHeld: {
    verdict: idle({ lease: lease({ holder: 'somebody' }) }),
    kind: 'hold',
    phase: 'Blocked',
    detail: 'the Lease state-team-a-compute is held by somebody. Headroom waits until it is released',
  },
  FileBusy: blockedText('FileBusy'),
  FileNotFound: blockedText('FileNotFound'),
  FoundTwice: blockedText('FoundTwice'),
  NotYaml: blockedText('NotYaml'),
  ContentTooCostly: blockedText('ContentTooCostly'),
  OutsideGuardrail: blockedText('OutsideGuardrail'),
  Unplaceable: blockedText('Unplaceable'),
  RepositoryNotConfigured: blockedText('RepositoryNotConfigured'),
  RepositoryNotFound: blockedText('RepositoryNotFound'),
  ForgeRejected: blockedText('ForgeRejected'),
  MergeQueue: blockedText('MergeQueue'),
  NotMergeable: blockedText('NotMergeable'),
  AlreadyInGit: {
    verdict: awaitingSync({ by: 'git' }),
    kind: 'hold',
    phase: 'AwaitingSync',
    detail:
      'Git holds these values already, waiting for the cluster to follow Git since 2026-11-20T09:59:00Z: requests.cpu is 10 and becomes 12',
  },
  SyncPending: {
    verdict: awaitingSync(),
    kind: 'hold',
    phase: 'AwaitingSync',
    detail: 'waiting for the cluster to follow Git since 2026-11-20T09:59:00Z: requests.cpu is 10 and becomes 12',
  },
  SyncOverdue: {
    verdict: awaitingSync({ at: NOW - HOUR }),
    kind: 'warnSync',
    phase: 'AwaitingSync',
    detail:
      'the cluster has not followed Git since 2026-11-20T09:00:00Z: requests.cpu is 10 and becomes 12. Look at Argo CD or Flux. Headroom opens nothing new meanwhile',
  },
  Synced: {
    verdict: awaitingSync({ limits: { 'requests.cpu': '10' } }),
    kind: 'synced',
    phase: 'CoolingDown',
    detail: 'the cluster shows requests.cpu 10',
  },
};

describe('every reason comes with its phase and its sentence', () => {
  it.each(Object.entries(expected))('%s', (reason, { verdict, ...learntFrom }) => {
    const { kind, phase, detail } = verdict;
    expect({ reason: verdict.reason, kind, phase, detail }).toEqual({ reason, ...learntFrom });
  });

  it('and every phase has a reason', () => {
    const phases: Record<Phase, true> = {
      Detecting: true,
      Recommending: true,
      OpeningPullRequest: true,
      AwaitingChecks: true,
      AwaitingApproval: true,
      AwaitingMerge: true,
      Merging: true,
      AwaitingSync: true,
      CoolingDown: true,
      Blocked: true,
      Paused: true,
      Ended: true,
    };
    expect(new Set(Object.values(expected).map((status) => status.phase))).toEqual(new Set(Object.keys(phases)));
  });
});

describe('the same reasons in other circumstances', () => {
  it('nothing is said about a reason that nobody gave', () => {
    expect(idle({ pause: { ...paused, reason: '', at: null } }).detail).toBe(
      'paused by ann (ConfigMap headroom-pauses, key k)',
    );
    expect(open({ memory: { rejection: { by: 'ann', at: NOW, reason: '' } } }).detail).toBe('rejected by ann');
  });

  it('a cooldown without pressure says only until when', () => {
    expect(idle({ quota: cpu('7') }, { lastChange: NOW - 20 * MINUTE }).detail).toBe(
      'cooling down until 2026-11-20T10:40:00Z',
    );
  });

  it('a namespace that is deleted is told from one that is being deleted', () => {
    expect(idle({ namespace: 'gone', quota: null }).detail).toBe('the namespace is deleted');
    expect(idle({ namespace: 'terminating' }).detail).toBe('the namespace is being deleted');
  });

  it('a pull request in a state that Headroom does not know waits until it is clean', () => {
    expect(open({ pull: { mergeability: 'unrecognised' } })).toMatchObject({
      reason: 'ChecksPending',
      detail: 'pull request #7 is in a state that Headroom does not know, waiting until it is clean',
    });
  });

  it('the comment on a pull request that is closed says why', () => {
    const comments = [
      open({ observed: { quota: null } }),
      open({ observed: { quota: cpu('7') }, memory: { demandGoneSince: NOW - HOUR } }),
      open({ memory: { rejection: { by: 'ann', at: NOW, reason: 'no budget' } } }),
    ].map((verdict) => (verdict.kind === 'close' ? verdict.comment : verdict.kind));
    expect(comments).toEqual([
      'Closed by Headroom: the ResourceQuota is deleted.',
      'Closed by Headroom: the demand has been gone since 2026-11-20T09:00:00Z.',
      'Closed by Headroom: rejected by ann: no budget. Headroom does not ask for it again before 2026-11-21T10:00:00Z unless the demand grows.',
    ]);
  });

  it('a head that is not shown yet is waited for', () => {
    const seen = seenWith(
      openDecision({ pullRequest: ref({ pushedAt: NOW - SECOND }) }),
      pullRequest({ headSha: 'older' }),
    );
    expect(decide(seen, memory(), NOW)[1]).toMatchObject({
      kind: 'hold',
      reason: 'MergeabilityComputing',
      detail: `the latest commit of ${LINK} is not shown yet`,
      wait: { until: NOW + 9 * SECOND, watch: 'pullRequest' },
    });
  });
});
