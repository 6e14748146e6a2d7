/** How a pull request ends: merged or closed, and its branch deleted. */
import { namesOf } from '../../../domain/quota-resize/decide/joined.ts';
import {
  type Decision,
  isHeldIn,
  type OpenDecision,
  type PullRequestRef,
} from '../../../domain/quota-resize/model/decision.ts';
import { targetName } from '../../../domain/kernel/target.ts';
import type { MergeMethod } from '../../../domain/kernel/forge.ts';
import { type ChosenMethod, chosenMethod } from '../../../domain/quota-resize/pull-request/merge-method.ts';
import { requestedChanges } from '../../../domain/quota-resize/decide/change-requests.ts';
import { currentAttempt } from '../../kernel/attempt.ts';
import { failure } from '../../kernel/failure.ts';
import type {
  BranchRules,
  Forge,
  MergeOutcome as MergeAnswer,
  PullRequest,
  PullRequestState,
} from '../../forge/forge.ts';
import { leftToPeople } from '../../../domain/quota-resize/decide/left-to-people.ts';
import type { CheckedMerge, Expected } from './checked-merge.ts';
import { otherThanDecided } from './decided-content.ts';
import { decidedFacts, discardBranch, type PullRequestTask, sharedFacts } from './decision-branch.ts';
import type { MergeOutcome, QuotaResizeActivities } from '../interface.ts';
import {
  ensureComment,
  findPullRequest,
  type ForgeActivityDependencies,
  headIsOurs,
  type PullRequestDependencies,
  pullRequestRef,
  writesOf,
} from './own-work.ts';
import { approvalsOfPeople } from './own-account.ts';
import { mergeOf } from './pull-request-state.ts';

type EndDependencies = ForgeActivityDependencies & Pick<PullRequestDependencies, 'repositories'>;
type EndTask = PullRequestTask & Pick<PullRequestDependencies, 'repositories'>;

export function createPullRequestEndActivities(dependencies: EndDependencies): Pick<
  QuotaResizeActivities,
  'ensureComment' | 'ensurePullRequestClosed' | 'ensureBranchDeleted'
> & {
  /** @param input.decision as the Lease records it. */
  ensureMerged(input: Pick<PullRequestTask, 'target' | 'decision'>): Promise<MergeOutcome>;
} {
  const taskOf = (input: Pick<PullRequestTask, 'target' | 'decision'>, action?: 'merge'): EndTask => ({
    ...dependencies,
    ...input,
    write: writesOf(dependencies, input.target, input.decision, action),
  });
  return {
    ensureMerged: async (input) => await ensureMerged(taskOf(input, 'merge')),

    async ensureComment({ about, text, ...input }): Promise<void> {
      const { forge, decision, write } = taskOf(input);
      const { number } = pullRequestRef(forge, decision);
      // In a shared pull request nothing else says which of its quotas this is about.
      const name = isShared(decision) ? `${targetName(input.target)}: ` : '';
      await ensureComment(forge, write, decision, { number, about, text: `${name}${text}` });
    },

    async ensurePullRequestClosed({ comment, ...input }): Promise<void> {
      const task = taskOf(input);
      const { forge, decision, write } = task;
      const pull = await pullRequestOf(task);
      if (pull === null) return deleteBranchWithoutPullRequest(task);
      assertOfQuota(task, pull);
      if (pull.state === 'open') {
        const { number } = pull;
        await ensureComment(forge, write, decision, {
          number,
          about: comment,
          text: `${comment}${othersGoOn(decision)}`,
        });
        await write('close pull request', { number }, () => forge.pullRequests.edit(number, { state: 'closed' }));
      }
      return deleteBranchOf(task, pull);
    },

    async ensureBranchDeleted(input): Promise<void> {
      const task = taskOf(input);
      const pull = await pullRequestOf(task);
      if (pull === null) return deleteBranchWithoutPullRequest(task);
      assertOfQuota(task, pull);
      // Deleting the branch of an open pull request would close it.
      if (pull.state === 'closed') await deleteBranchOf(task, pull);
      return undefined;
    },
  };
}

function isShared({ pullRequest, joined = [] }: Decision): boolean {
  return pullRequest?.joinedTo !== undefined || joined.some(isHeldIn);
}

/** What becomes of the other quotas of a shared pull request that is closed for its owner; a sentence, or nothing. */
function othersGoOn({ joined = [] }: Decision): string {
  const others = joined.filter(isHeldIn);
  const go = others.length === 1 ? 'goes' : 'go';
  return others.length === 0
    ? ''
    : ` This is about one of its quotas: ${namesOf(others)} ${go} on with another pull request.`;
}

async function ensureMerged(task: EndTask): Promise<MergeOutcome> {
  const { target, decision, forge, config, write, mergeGate } = task;
  const recorded = pullRequestRef(forge, decision);
  const { number, headSha } = recorded;
  const open = { ...decision, pullRequest: recorded, merge: null };
  const look = async (): Promise<PullRequestState> =>
    await forge.pullRequests.state(number, { mergedFile: recorded.path });
  // An attempt whose answer was lost may have merged it.
  const before = currentAttempt() > 1 ? await mergedOutcome(task, open, await look()) : null;
  if (before !== null) return before;
  const answer = await write('merge', { number, headSha }, () =>
    mergeGate.merging(
      target,
      open,
      async (checked, expect): Promise<Answered | NotAsked> => {
        // Read last of all: whoever has said no by now is heard.
        const state = await look();
        if (state.pull.mergedAt !== null) return { kind: 'alreadyMerged', state };
        const outcome = await objection(task, recorded, checked, state);
        if (outcome !== null) return { kind: 'notAsked', outcome };
        const { own, joined } = checked;
        const facts = sharedFacts(decidedFacts(forge.repository, target, own.decision), joined);
        const { title, message } = config.texts.merge(facts, number);
        const chosen = await methodFor(task, recorded, state);
        if (chosen.kind === 'none') return { kind: 'notAsked', outcome: notMergeable(task, number, chosen.why) };
        const { method } = chosen;
        const expected = await expect();
        return { ...(await forge.pullRequests.merge({ number, headSha, method, title, message })), method, expected };
      },
      async () => await approvalsOfPeople(forge, await forge.pullRequests.approvals(number)),
    ),
  );

  if (answer.kind === 'notAsked') return answer.outcome;
  if (answer.kind === 'alreadyMerged') return (await mergedOutcome(task, open, answer.state)) ?? { kind: 'moved' };
  const after = await look();
  const merged = await mergedOutcome(task, open, after, answer.expected);
  if (merged !== null) return merged;
  if (answer.kind !== 'merged') await mergeGate.refused(answer.expected);
  return unmergedOutcome(task, after.pull, headSha, answer);
}

/** The forge's answer to a request to merge, and what that request expected. */
type Answered = MergeAnswer & { readonly method: MergeMethod; readonly expected: Expected };

/** Why the forge was not asked to merge. */
type NotAsked =
  | { readonly kind: 'alreadyMerged'; readonly state: PullRequestState }
  | { readonly kind: 'notAsked'; readonly outcome: MergeOutcome };

/** What of the forge is in the way of a merge that the gate lets pass; null where nothing is. */
async function objection(
  task: EndTask,
  recorded: PullRequestRef,
  { own, joined }: CheckedMerge,
  state: PullRequestState,
): Promise<MergeOutcome | null> {
  const { forge } = task;
  const { pull } = state;
  const { number, base, headSha } = recorded;
  const name = `pull request #${number}`;
  // A token with the right to bypass rules would merge past the queue, so the merge is not even tried.
  const rules = await rulesOf(forge, base, state);
  if (rules.mergeQueue) {
    return { kind: 'blocked', reason: 'MergeQueue', message: mergeQueueMessage(task, number, base) };
  }
  for (const { decision } of [own, ...joined]) {
    const left = leftToPeople(decision, { name: base, isProtected: rules.isProtected });
    if (left === null) continue;
    const message = `a person merges ${name} of ${forge.repository}: ${left.why}`;
    return { kind: 'blocked', reason: 'NotMergeable', message };
  }
  const difference = differenceFrom(pull, own.decision.pullRequest, joined.length);
  if (difference !== null) return { kind: 'moved', why: difference };
  const why = await otherThanDecided({ ...task, decision: own.decision, joined }, pull);
  if (why !== null) {
    const because = `because of its commit ${headSha.slice(0, 7)}: ${why}`;
    const message = `${name} of ${forge.repository} is not merged, ${because}; look at it, and merge or close it`;
    return { kind: 'blocked', reason: 'NotMergeable', message };
  }
  const requested = requestedChanges(await state.changeRequests());
  return requested === null ? null : { kind: 'moved', why: `${name} was not merged: ${requested}` };
}

/** With which method it is merged, as the repository and the rules of the base branch are now. */
async function methodFor(
  { forge, config }: EndTask,
  { base }: PullRequestRef,
  state: PullRequestState,
): Promise<ChosenMethod> {
  const [byRepository, rules] = await Promise.all([state.mergeMethods(), rulesOf(forge, base, state)]);
  return chosenMethod(config.mergeMethod, { byRepository, byRules: rules.mergeMethods }, base);
}

async function rulesOf(forge: Forge, base: string, state: PullRequestState): Promise<BranchRules> {
  return await (state.pull.baseRef === base ? state.rules() : forge.branches.rules(base));
}

function notMergeable({ forge }: EndTask, number: number, why: string): MergeOutcome {
  const message = `pull request #${number} of ${forge.repository} is not merged: ${why}`;
  return { kind: 'blocked', reason: 'NotMergeable', message };
}

/**
 * What keeps a pull request from a merge that is open with one commit a decision, on the recorded branch and at the recorded
 * head; null where it is just so.
 */
function differenceFrom(
  { number, state, headSha, headRef, commits }: PullRequest,
  recorded: PullRequestRef,
  joined: number,
): string | null {
  const short = (sha: string): string => sha.slice(0, 7);
  const own = 1 + joined;
  const differences = [
    ...(state === 'open' ? [] : [`its state is ${state}, and not open`]),
    ...(headRef === recorded.branch ? [] : [`its branch is ${headRef}, and not ${recorded.branch}`]),
    ...(headSha === recorded.headSha ? [] : [`its head is ${short(headSha)}, and not ${short(recorded.headSha)}`]),
    ...(commits === own ? [] : [`its number of commits is ${commits}, and not ${own}`]),
  ];
  return differences.length === 0 ? null : `pull request #${number} was not merged, as ${differences.join(', and ')}`;
}

/** The merge of a pull request by anybody, which the Leases then record; null while it is not merged. */
async function mergedOutcome(
  task: PullRequestTask,
  decision: OpenDecision,
  state: PullRequestState,
  expected: Expected | null = null,
): Promise<MergeOutcome | null> {
  const merge = await mergeOf(task.forge, task.target, decision, state);
  if (merge === null) return null;
  await task.mergeGate.ended(task.target, decision, merge, expected);
  await deleteBranchOf(task, state.pull, async () => await state.branchHead());
  return { kind: 'merged', ...merge };
}

/** The outcome of the forge's response to a merge when the pull request is not merged afterwards. */
function unmergedOutcome(task: PullRequestTask, pull: PullRequest, headSha: string, answer: Answered): MergeOutcome {
  const { repository } = task.forge;
  const { number } = pull;
  switch (answer.kind) {
    case 'merged':
      throw failure({
        type: 'ForgeUnavailable',
        message: `pull request #${number} of ${repository} was merged as ${answer.sha} and is not shown as merged yet`,
      });
    case 'moved':
      return { kind: 'moved' };
    case 'rejected': {
      if (answer.needsMergeQueue) {
        const message = `${mergeQueueMessage(task, number, pull.baseRef)} (${answer.message})`;
        return { kind: 'blocked', reason: 'MergeQueue', message };
      }
      const asObserved =
        pull.state === 'open' &&
        pull.headSha === headSha &&
        (pull.mergeability === 'clean' || pull.mergeability === 'unstable');
      if (!asObserved) return { kind: 'moved' };
      return {
        kind: 'blocked',
        reason: 'NotMergeable',
        message: `pull request #${number} of ${repository} cannot be merged (${answer.method}) although it is ${pull.mergeability}: ${answer.message}; merge it by hand, or look at the settings of the repository and the rules of ${pull.baseRef}`,
      };
    }
    default:
      return answer satisfies never;
  }
}

/**
 * The number comes with the decision, which is told to the activity: only branches that are named for the quota are closed
 * and deleted for it.
 *
 * @throws {ApplicationFailure} InvalidInput
 */
function assertOfQuota({ target, decision, forge, config }: PullRequestTask, { number, headRef }: PullRequest): void {
  const beginning = config.texts.branchBeginning(target);
  if (headRef === config.texts.branch(target, decision.id)) return;
  if (beginning !== '' && headRef.startsWith(beginning)) return;
  throw failure({
    type: 'InvalidInput',
    message: `pull request #${number} of ${forge.repository} is left as it is: its branch ${headRef} is not one for ${targetName(target)}; close it by hand`,
    nonRetryable: true,
  });
}

async function pullRequestOf(task: PullRequestTask): Promise<PullRequest | null> {
  const number = await findPullRequest(task, task.target, task.decision);
  return number === null ? null : await task.forge.pullRequests.get(number);
}

/** Deletes the branch of a closed pull request if nothing is lost: it was merged unchanged, or has only our commit. */
async function deleteBranchOf(
  { forge, decision, write }: PullRequestTask,
  pull: PullRequest,
  branchHead: () => Promise<string | null> = async () => await forge.branches.head(pull.headRef),
): Promise<void> {
  const head = await branchHead();
  if (head === null || head !== pull.headSha) return;
  if (pull.mergedAt === null && !(await headIsOurs(forge, pull, decision))) return;
  await write('delete branch', { branch: pull.headRef, sha: head }, () => forge.branches.delete(pull.headRef));
}

/** Deletes the branch of an attempt that never opened a pull request. */
async function deleteBranchWithoutPullRequest(task: PullRequestTask): Promise<void> {
  const base = await task.forge.files.base(0, task.decision.source?.base);
  if (base.kind === 'branch') await discardBranch(task, base.sha);
}

function mergeQueueMessage({ forge }: PullRequestTask, number: number, base: string): string {
  return `${forge.repository} merges into ${base} through a merge queue, which Headroom does not enter; add pull request #${number} to the queue`;
}
