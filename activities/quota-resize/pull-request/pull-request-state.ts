/** Reads a pull request, once or repeatedly until something changes. Nothing is written. */
import { type Decision, decidedLimits } from '../../../domain/quota-resize/model/decision.ts';
import { limitsInGit } from '../../../domain/quota-resize/git/locate/location/edit-location.ts';
import type { PullRequestObservation } from '../../../domain/quota-resize/model/observation.ts';
import type { ChangeRequests } from '../../../domain/kernel/forge.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { decisionOfCommit } from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { pullRequestPoll } from '../../../domain/quota-resize/pull-request/poll.ts';
import { limitsInText } from '../source/content/limits-in-text.ts';
import { currentAttempt, elapsedAtServer } from '../../kernel/attempt.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { Checks, Forge, PullRequest, PullRequestState } from '../../forge/forge.ts';
import type { PullRequestChange, QuotaResizeActivities } from '../interface.ts';
import { unlessTooCostly } from '../source/content/lookup.ts';
import { GitTrees } from '../source/git-tree.ts';
import { approvalsOfPeople, isOwnAccount } from './own-account.ts';
import { headIsOurs, type PullRequestDependencies, pullRequestRef, repositoryOf } from './own-work.ts';

export function createPullRequestStateActivities({
  repositories,
  config,
}: Pick<PullRequestDependencies, 'repositories' | 'config'>): Pick<QuotaResizeActivities, 'observePullRequest'> & {
  awaitPullRequestChange: (
    input: Parameters<QuotaResizeActivities['awaitPullRequestChange']>[0],
  ) => Promise<PullRequestChange>;
} {
  return {
    async observePullRequest({ target, decision }): Promise<PullRequestObservation> {
      const forge = repositoryOf(repositories, decision);
      return await observationOf({ forge, target, decision }, await stateOf(forge, decision));
    },

    async awaitPullRequestChange({ target, decision, lastSeen, quietSince, seenAt, forMs }) {
      const forge = repositoryOf(repositories, decision);
      const { number } = pullRequestRef(forge, decision);
      const now = Date.now();
      // Of what is in a merge queue the forge computes nothing.
      const isQueued = lastSeen.queueEntry !== undefined && lastSeen.queueEntry.autoMerge === undefined;
      const isComputing = lastSeen.mergeability === 'computing' && !isQueued;
      const asked = pullRequestPoll(config.timings, now - quietSince, isComputing);
      const rest = (seenAt ?? 0) + asked.delay - now;
      // Whoever looked a moment ago learns nothing by looking again.
      if (currentAttempt() === 1 && rest > 0)
        throw notYet(waitingFor(lastSeen), Math.min(rest, asked.delay, forMs ?? rest));
      // Only the state says where it is in a merge queue, and by whom, or who enabled auto-merge.
      const readsState = asked.readsState || lastSeen.queueEntry !== undefined;
      const state = readsState ? await stateOf(forge, decision) : null;
      const pull = state?.pull ?? (await forge.pullRequests.get(number));
      const changed = async (): Promise<PullRequestChange> => ({
        pullRequest: state === null ? null : await observationOf({ forge, target, decision }, state),
      });
      const computes =
        pull.mergeability === 'computing' && lastSeen.mergeability !== 'computing' && sameHead(pull, lastSeen);
      if (!computes && !samePullRequest(pull, lastSeen)) return await changed();
      if (state !== null && !sameQueue(await queueOf(forge, state), lastSeen)) return await changed();
      const poll = pullRequestPoll(config.timings, Date.now() - quietSince, isComputing || computes);
      const readsChecks = poll.readsChecks && !computes && dependsOnChecks(lastSeen);
      const { pullRequests } = forge;
      const reads = state ?? {
        pull,
        approvals: async () => await pullRequests.approvals(number),
        changeRequests: async () => await pullRequests.changeRequests(number),
        checks: async () => await pullRequests.checks(pull.headSha),
      };
      const approvals = await approvalsOf(forge, decision, reads);
      if (approvals !== null && !sameApprovals(approvals, lastSeen.approvals ?? [])) return await changed();
      // A quiet poll asks for them only where they hold the merge: what is new is seen with the next change, and before a merge.
      const readsRequests = state !== null || lastSeen.changesRequested !== undefined;
      if (readsRequests && !sameRequests(await changeRequestsOf(reads), lastSeen.changesRequested))
        return await changed();
      if (readsChecks && !sameChecks(await reads.checks(), lastSeen.checks)) return await changed();
      const left = (forMs ?? Number.POSITIVE_INFINITY) - elapsedAtServer();
      if (left <= 0) return { pullRequest: null, isSame: true };
      throw notYet(waitingFor(lastSeen), Math.min(poll.delay, left));
    },
  };
}

/** A decision's pull request, in its repository. */
interface Observed {
  readonly forge: Forge;
  readonly target: QuotaTarget;
  readonly decision: Decision;
}

async function observationOf(
  { forge, target, decision }: Observed,
  state: PullRequestState,
): Promise<PullRequestObservation> {
  const { pull } = state;
  const closing = closedByOf(state);
  const isShared = decision.pullRequest?.joinedTo !== undefined;
  const [checks, rules, ours, merge, closedBy, isClosedByOwn, approvals, changesRequested, queue] = await Promise.all([
    state.checks(),
    state.rules(),
    headIsOurs(forge, pull, decision),
    mergeOf(forge, target, decision, state),
    closing,
    isShared && pull.state === 'closed' && isOwnAccount(forge, pull, await closing),
    approvalsOf(forge, decision, state),
    changeRequestsOf(state),
    queueOf(forge, state),
  ]);
  return {
    number: pull.number,
    url: pull.url,
    state: pull.state,
    headSha: pull.headSha,
    headIsOurs: ours,
    mergeability: pull.mergeability,
    checks,
    hasRequiredChecks: rules.requiresChecks,
    ...(rules.isProtected ? { baseIsProtected: true } : {}),
    ...(rules.mergeQueue ? { mergeQueue: true } : {}),
    ...(state.autoMergeIsAllowed ? { autoMergeIsAllowed: true } : {}),
    ...queue,
    ...(approvals === null ? {} : { approvals }),
    ...(changesRequested === undefined ? {} : { changesRequested }),
    closedBy,
    ...(isClosedByOwn ? { isClosedByOwn } : {}),
    ...((await isWithoutOwn(forge, decision, pull)) ? { isWithoutOwn: true } : {}),
    merge,
  };
}

type InQueue = Pick<PullRequestObservation, 'queueEntry' | 'queueRemoval'>;

/** Where it is in the merge queue, or that auto-merge is enabled, or what ended either. */
async function queueOf(forge: Forge, { pull, queue }: PullRequestState): Promise<InQueue> {
  if (pull.state !== 'open' || queue === null) return {};
  const { entry, removal } = queue;
  if (entry !== null) return { queueEntry: { ...entry, isOwn: await isOwnAccount(forge, pull, entry.by) } };
  if (removal === null) return {};
  return { queueRemoval: { ...removal, ...((await isOwnAccount(forge, pull, removal.by)) ? { isOwn: true } : {}) } };
}

/** Its place changes all the time, and changes nothing. */
function sameQueue(a: InQueue, b: InQueue): boolean {
  const key = ({ queueEntry: entry, queueRemoval: removal }: InQueue) =>
    JSON.stringify([entry?.by, entry?.at, entry?.state, removal?.at]);
  return key(a) === key(b);
}

/** What decides about the pull request, read at once. */
async function stateOf(forge: Forge, decision: Decision): Promise<PullRequestState> {
  const { number, path } = pullRequestRef(forge, decision);
  const approvals = decision.approvalRequirement !== null;
  return await forge.pullRequests.state(number, { approvals, mergedFile: path });
}

/** The merge of a pull request: commit, person, and the limits in the merged file. */
export async function mergeOf(
  forge: Forge,
  target: QuotaTarget,
  decision: Decision,
  state: PullRequestState,
): Promise<PullRequestObservation['merge']> {
  const { pull } = state;
  if (pull.mergedAt === null || pull.mergeSha === null) return null;
  return {
    sha: pull.mergeSha,
    at: pull.mergedAt,
    by: pull.mergedBy ?? 'unknown',
    isOwn: await isOwnAccount(forge, pull, pull.mergedBy),
    limits: await mergedLimits(forge, target, decision, { sha: pull.mergeSha, state }),
  };
}

/**
 * The limits of the decision's resources as the merge commit has them: in the merged file, or in several; where they
 * cannot be read, those that were decided, because nothing read would be nothing to wait for.
 */
async function mergedLimits(
  forge: Forge,
  target: QuotaTarget,
  decision: Decision,
  { sha, state }: { readonly sha: string; readonly state: PullRequestState },
): Promise<ResourceList> {
  const { path, headSha } = pullRequestRef(forge, decision);
  const decided = decidedLimits(decision);
  const resources = Object.keys(decided);
  const file = await state.mergedFile(path);
  const name = { namespace: target.namespace, name: target.quota };
  const values = file === null || file.text === null ? {} : await limitsInText(file.text, name, resources);
  if (resources.every((resource) => Object.hasOwn(values, resource))) return values;
  // A file of another form, such as a chart's values: if nobody changed it since, it has the decided limits.
  const isUnchanged = file !== null && (await forge.files.fileAt(path, headSha))?.sha === file.sha;
  const located = isUnchanged ? {} : await limitsAt(forge, target, decision, sha);
  return { ...decided, ...located, ...values };
}

/** The limits of a commit in the place where the decision found its quota; empty where it cannot be read there any more. */
async function limitsAt(forge: Forge, target: QuotaTarget, decision: Decision, sha: string): Promise<ResourceList> {
  const { source } = decision;
  if (!source?.placement) return {};
  const { treeSha } = await forge.branches.commit(sha);
  const tree = await new GitTrees().at(forge, { kind: 'branch', name: source.base, sha, treeSha });
  const { candidate } = source.placement;
  const recorded = decidedLimits(decision);
  const { namespace, quota: name, cluster } = target;
  const wanted = { namespace, name, cluster, resources: Object.keys(recorded), recorded };
  const answer = await unlessTooCostly(
    () => tree.ask({ kind: 'locate', wanted, candidate }),
    () => null,
  );
  return answer?.kind === 'located' ? limitsInGit(answer.location, wanted.resources) : {};
}

async function closedByOf(state: PullRequestState): Promise<string> {
  const { pull } = state;
  if (pull.mergedAt !== null) return pull.mergedBy ?? 'unknown';
  return pull.state === 'closed' ? ((await state.closedBy()) ?? 'unknown') : 'unknown';
}

/** Of a decision that joined another's pull request: whether that has no commit of it any more. */
async function isWithoutOwn(forge: Forge, { id, pullRequest }: Decision, pull: PullRequest): Promise<boolean> {
  if (pullRequest?.joinedTo === undefined) return false;
  if (pull.state === 'open' && pull.headSha === pullRequest.headSha) return false;
  const commits = await forge.pullRequests.commitsOf(pull.number);
  return commits.every(({ message }) => decisionOfCommit(message) !== id);
}

/** Who approves the present head by a review; null where the decision needs no approval, or it is too late for one. */
async function approvalsOf(
  forge: Forge,
  { approvalRequirement }: Decision,
  { pull: { state, headSha }, approvals: read }: Pick<PullRequestState, 'pull' | 'approvals'>,
): Promise<NonNullable<PullRequestObservation['approvals']> | null> {
  if (approvalRequirement === null || state !== 'open') return null;
  const approvals = await approvalsOfPeople(forge, await read());
  return approvals.filter((approval) => approval.headSha === headSha).map(({ by, at }) => ({ by, at }));
}

/** Undefined where nobody requests changes, or it is too late. */
async function changeRequestsOf(
  state: Pick<PullRequestState, 'pull' | 'changeRequests'>,
): Promise<ChangeRequests | undefined> {
  const requests = state.pull.state === 'open' ? await state.changeRequests() : [];
  return requests.length === 0 ? undefined : requests;
}

function sameRequests(a: ChangeRequests | undefined, b: ChangeRequests | undefined): boolean {
  const key = (requests: typeof a) =>
    typeof requests === 'object'
      ? requests
          .map(({ by, at }) => `${by} ${at}`)
          .toSorted()
          .join()
      : requests;
  return key(a) === key(b);
}

function sameApprovals(
  a: NonNullable<PullRequestObservation['approvals']>,
  b: NonNullable<PullRequestObservation['approvals']>,
): boolean {
  const key = (approvals: typeof a) => JSON.stringify(approvals.map(({ by, at }) => [by, at]));
  return key(a) === key(b);
}

function sameHead(pull: PullRequest, lastSeen: PullRequestObservation): boolean {
  return pull.state === lastSeen.state && pull.headSha === lastSeen.headSha;
}

function samePullRequest(pull: PullRequest, lastSeen: PullRequestObservation): boolean {
  return sameHead(pull, lastSeen) && pull.mergeability === lastSeen.mergeability;
}

function dependsOnChecks({ checks, mergeability }: PullRequestObservation): boolean {
  return (
    checks.pending.length > 0 || checks.failing.length > 0 || mergeability === 'blocked' || mergeability === 'unstable'
  );
}

function sameChecks(a: Checks, b: PullRequestObservation['checks']): boolean {
  const key = ({ total, pending, failing }: Checks) => JSON.stringify([total, pending, failing]);
  return key(a) === key(b);
}

function waitingFor(lastSeen: PullRequestObservation): string {
  const name = `pull request #${lastSeen.number}`;
  if (lastSeen.queueEntry?.autoMerge !== undefined)
    return `waiting until GitHub merges ${name} by itself, or auto-merge is disabled`;
  if (lastSeen.queueEntry !== undefined) return `waiting until the merge queue merges ${name}, or it leaves the queue`;
  if (lastSeen.state === 'open' && lastSeen.mergeability === 'computing')
    return `waiting until it is known whether ${name} can be merged`;
  if (lastSeen.mergeability === 'draft') return `waiting for ${name} to be taken out of draft`;
  if (lastSeen.checks.pending.length > 0) return `waiting for checks of ${name}: ${lastSeen.checks.pending.join(', ')}`;
  if (lastSeen.checks.failing.length > 0)
    return `waiting for failing checks of ${name} to pass: ${lastSeen.checks.failing.join(', ')}`;
  if (lastSeen.mergeability === 'blocked')
    return `waiting for ${name} to be unblocked: a review or a required check is missing`;
  return `waiting for ${name} (${lastSeen.mergeability}) to be merged, closed or changed`;
}
