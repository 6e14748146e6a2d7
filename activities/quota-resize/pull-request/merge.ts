/** Merges a pull request, or has its base branch's merge queue or the forge's auto-merge do so, when the gate lets it pass. */
import { ApplicationFailure } from '@temporalio/common';
import type { MergeMethod } from '../../../domain/kernel/forge.ts';
import { leftToPeople } from '../../../domain/quota-resize/decide/left-to-people.ts';
import { requestedChanges } from '../../../domain/quota-resize/decide/change-requests.ts';
import type { OpenDecision, PullRequestRef } from '../../../domain/quota-resize/model/decision.ts';
import { type ChosenMethod, chosenMethod } from '../../../domain/quota-resize/pull-request/merge-method.ts';
import { currentAttempt } from '../../kernel/attempt.ts';
import { failure } from '../../kernel/failure.ts';
import type {
  BranchRules,
  EnqueueOutcome,
  Forge,
  MergeOutcome as MergeAnswer,
  PullRequest,
  PullRequestState,
} from '../../forge/forge.ts';
import type { DequeueOutcome, MergeOutcome } from '../interface.ts';
import type { CheckedMerge, Expected } from './checked-merge.ts';
import { otherThanDecided } from './decided-content.ts';
import { decidedFacts, deleteBranchOf, type PullRequestTask, sharedFacts } from './decision-branch.ts';
import { approvalsOfPeople, isOwnAccount } from './own-account.ts';
import { type PullRequestDependencies, pullRequestRef } from './own-work.ts';
import { mergeOf } from './pull-request-state.ts';

export type MergeTask = PullRequestTask & Pick<PullRequestDependencies, 'repositories'>;

/** How an episode asks for a merge; see `QuotaResizeActivities.ensureMerged`. */
export interface MergeInput extends Pick<PullRequestTask, 'target' | 'decision'> {
  readonly entersQueue?: boolean;
  readonly isQueued?: boolean;
  readonly enablesAutoMerge?: boolean;
}

/** @param takeOut takes the pull request out of the merge queue, or disables auto-merge, if that is Headroom's. */
export async function ensureMerged(
  task: MergeTask,
  { entersQueue = false, isQueued = false, enablesAutoMerge = false }: MergeInput,
  takeOut: () => Promise<DequeueOutcome>,
): Promise<MergeOutcome> {
  const { target, decision, forge, write, mergeGate } = task;
  const recorded = pullRequestRef(forge, decision);
  const { number, headSha } = recorded;
  const open: OpenDecision = { ...decision, pullRequest: recorded, merge: null };
  const merging: Merging = { task, recorded, open, entersQueue, enablesAutoMerge };
  // An attempt whose answer was lost may have merged it, or put it into the queue.
  const earlier = currentAttempt() > 1 ? await look(merging) : null;
  const before = earlier === null ? null : await mergedOutcome(merging, earlier);
  if (before !== null) return before;
  const mayBeQueued = isQueued || (earlier?.queue?.entry ?? null) !== null;
  const ask = async (): Promise<Answered | NotAsked> =>
    await mergeGate.merging(
      target,
      merging.open,
      async (checked, expect) =>
        await (isQueued ? askAgain(merging, checked, expect) : askForge(merging, checked, expect)),
      async () => await approvalsOfPeople(forge, await forge.pullRequests.approvals(number)),
    );
  try {
    // To ask the gate again writes nothing.
    const answer = isQueued ? await ask() : await write('merge', { number, headSha }, ask);
    const outcome = await outcomeOf(merging, answer);
    if (!mayBeQueued || outcome.kind === 'merged' || outcome.kind === 'queued') return outcome;
    const out = await takeOut();
    // What is blocked rests for minutes, in which the queue would merge it.
    return out.kind === 'dequeued' ? outcome : { kind: 'moved', why: out.why };
  } catch (error) {
    // What the gate refuses now must not be merged by the queue.
    if (mayBeQueued && error instanceof ApplicationFailure && error.nonRetryable === true) await takeOut();
    throw error;
  }
}

/** One call of `ensureMerged`. */
interface Merging {
  readonly task: MergeTask;
  readonly recorded: PullRequestRef;
  readonly open: OpenDecision;
  readonly entersQueue: boolean;
  readonly enablesAutoMerge: boolean;
}

async function look({ task: { forge }, recorded: { number, path } }: Merging): Promise<PullRequestState> {
  return await forge.pullRequests.state(number, { mergedFile: path });
}

/** Asks the forge for the merge of what was checked, its merge queue, or its auto-merge. */
async function askForge(
  merging: Merging,
  checked: CheckedMerge,
  expect: () => Promise<Expected>,
): Promise<Answered | NotAsked> {
  const { task, recorded, entersQueue, enablesAutoMerge } = merging;
  const { forge, target } = task;
  const { number, headSha, base } = recorded;
  // Read last of all: whoever has said no by now is heard.
  const state = await look(merging);
  if (state.pull.mergedAt !== null) return { kind: 'alreadyMerged', state };
  const rules = await rulesOf(forge, base, state);
  const isInQueue = entersQueue && rules.mergeQueue && state.queue !== null;
  // A token with the right to bypass rules would merge past the queue, so the merge is not even tried.
  if (rules.mergeQueue && !isInQueue) {
    const message = mergeQueueMessage(task, recorded);
    return { kind: 'notAsked', outcome: { kind: 'blocked', reason: 'MergeQueue', message } };
  }
  const outcome = await objection(task, recorded, checked, { state, rules });
  if (outcome !== null) return { kind: 'notAsked', outcome };
  const entry = state.queue?.entry ?? null;
  const isOwn = entry !== null && (await isOwnAccount(forge, state.pull, entry.by));
  // Somebody else's merge is not this one's.
  if (entry !== null && !isOwn) return { kind: 'notAsked', outcome: { kind: 'moved' } };
  if (isInQueue) {
    const expected = await expect();
    const answer = isOwn ? ({ kind: 'queued' } as const) : await forge.pullRequests.enqueue({ number, headSha });
    return { ...answer, way: 'queue', expected };
  }
  const chosen = await methodOf(task, recorded, { state, rules });
  if (chosen.kind === 'none') return { kind: 'notAsked', outcome: notMergeable(task, number, chosen.why) };
  const { method } = chosen;
  const { own, joined } = checked;
  const facts = sharedFacts(decidedFacts(forge.repository, target, own.decision), joined);
  const request = { number, headSha, method, ...task.config.texts.merge(facts, number) };
  const name = `pull request #${number}`;
  if (enablesAutoMerge && entry === null) {
    // GitHub takes it only of what it could not merge at once, and that is merged after another look at all that is asked for.
    if (!state.autoMergeIsAllowed || state.pull.mergeability !== 'blocked') {
      const why = `${name} is ${state.pull.mergeability} by now, and GitHub's auto-merge is for what is blocked`;
      return { kind: 'notAsked', outcome: { kind: 'moved', why } };
    }
    const expected = await expect();
    return { ...(await forge.pullRequests.enableAutoMerge(request)), way: 'autoMerge', expected };
  }
  const expected = await expect();
  if (enablesAutoMerge) return { kind: 'queued', way: 'autoMerge', expected };
  return { ...(await forge.pullRequests.merge(request)), way: 'merge', method, expected };
}

async function methodOf(
  { config }: MergeTask,
  { base }: PullRequestRef,
  { state, rules }: { readonly state: PullRequestState; readonly rules: BranchRules },
): Promise<ChosenMethod> {
  const allowed = { byRepository: await state.mergeMethods(), byRules: rules.mergeMethods };
  return chosenMethod(config.mergeMethod, allowed, base);
}

/** Whether what the forge is about to merge may stay so: the raise is recorded anew as about to be merged. */
async function askAgain(
  merging: Merging,
  checked: CheckedMerge,
  expect: () => Promise<Expected>,
): Promise<Answered | NotAsked> {
  const { task, recorded } = merging;
  const state = await look(merging);
  if (state.pull.mergedAt !== null) return { kind: 'alreadyMerged', state };
  const entry = state.queue?.entry ?? null;
  const isOwn = entry !== null && (await isOwnAccount(task.forge, state.pull, entry.by));
  if (!isOwn) return { kind: 'notAsked', outcome: { kind: 'moved', why: 'it left the merge queue, or auto-merge' } };
  const rules = await rulesOf(task.forge, recorded.base, state);
  const outcome = await objection(task, recorded, checked, { state, rules });
  if (outcome !== null) return { kind: 'notAsked', outcome };
  if (entry.autoMerge !== undefined) {
    // It was fixed when auto-merge was enabled.
    const chosen = await methodOf(task, recorded, { state, rules });
    if (chosen.kind === 'none') {
      return { kind: 'notAsked', outcome: notMergeable(task, recorded.number, chosen.why) };
    }
    if (chosen.method !== entry.autoMerge) {
      const why = `auto-merge was enabled with the method ${entry.autoMerge}, and it is ${chosen.method} now`;
      return { kind: 'notAsked', outcome: { kind: 'moved', why } };
    }
  }
  await expect();
  return { kind: 'notAsked', outcome: { kind: 'queued' } };
}

/** The forge's answer to a request, and what that request expected. */
type Answered = AnsweredMerge | (EnqueueOutcome & { readonly way: 'queue' | 'autoMerge'; readonly expected: Expected });

type AnsweredMerge = MergeAnswer & {
  readonly way: 'merge';
  readonly method: MergeMethod;
  readonly expected: Expected;
};

/** Why the forge was not asked. */
type NotAsked =
  | { readonly kind: 'alreadyMerged'; readonly state: PullRequestState }
  | { readonly kind: 'notAsked'; readonly outcome: MergeOutcome };

async function outcomeOf(merging: Merging, asked: Answered | NotAsked): Promise<MergeOutcome> {
  if (asked.kind === 'notAsked') return asked.outcome;
  if (asked.kind === 'alreadyMerged') return (await mergedOutcome(merging, asked.state)) ?? { kind: 'moved' };
  const { task, recorded } = merging;
  const after = await look(merging);
  const merged = await mergedOutcome(merging, after, asked.expected);
  if (merged !== null) return merged;
  if (asked.way === 'merge') {
    if (asked.kind !== 'merged') await task.mergeGate.refused(asked.expected);
    return unmergedOutcome(task, after.pull, recorded, asked);
  }
  if ((after.queue?.entry ?? null) !== null) return { kind: 'queued' };
  const { number, headSha, base } = recorded;
  const name = `pull request #${number} of ${task.forge.repository}`;
  // It may have been there for a moment: what took it out is observed.
  if (asked.kind === 'queued' && after.queue?.removal !== null) return { kind: 'moved' };
  if (asked.kind === 'queued') {
    const message =
      asked.way === 'queue'
        ? `${name} was put into the merge queue of ${base} and is not shown there yet`
        : `auto-merge of ${name} was enabled and is not shown yet`;
    throw failure({ type: 'ForgeUnavailable', message });
  }
  await task.mergeGate.refused(asked.expected);
  if (after.pull.state !== 'open' || after.pull.headSha !== headSha) return { kind: 'moved' };
  // Headroom merges it itself as soon as nothing is missing.
  if (asked.way === 'autoMerge') return { kind: 'moved', why: `auto-merge was not enabled: ${asked.message}` };
  const message = `${name} cannot be put into the merge queue of ${base}: ${asked.message}; add it to the queue, or merge it by hand`;
  return { kind: 'blocked', reason: 'MergeQueue', message };
}

/** What of the forge is in the way of a merge that the gate lets pass; null where nothing is. */
async function objection(
  task: MergeTask,
  recorded: PullRequestRef,
  { own, joined }: CheckedMerge,
  { state, rules }: { readonly state: PullRequestState; readonly rules: BranchRules },
): Promise<MergeOutcome | null> {
  const { forge } = task;
  const { pull } = state;
  const { number, base, headSha } = recorded;
  const name = `pull request #${number}`;
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

async function rulesOf(forge: Forge, base: string, state: PullRequestState): Promise<BranchRules> {
  return await (state.pull.baseRef === base ? state.rules() : forge.branches.rules(base));
}

function notMergeable({ forge }: MergeTask, number: number, why: string): MergeOutcome {
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
  { task, open: decision }: Merging,
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
function unmergedOutcome(
  task: MergeTask,
  pull: PullRequest,
  recorded: PullRequestRef,
  answer: AnsweredMerge,
): MergeOutcome {
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
        const message = `${mergeQueueMessage(task, recorded)} (${answer.message})`;
        return { kind: 'blocked', reason: 'MergeQueue', message };
      }
      const asObserved =
        pull.state === 'open' &&
        pull.headSha === recorded.headSha &&
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

function mergeQueueMessage({ forge }: MergeTask, { number, base }: PullRequestRef): string {
  return `${forge.repository} merges into ${base} through a merge queue, which takes GraphQL; add pull request #${number} to the queue`;
}
