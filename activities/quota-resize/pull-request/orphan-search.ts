/**
 * Finds open pull requests that no decision is about, also of quotas that need nothing and have no episode, and brings
 * each to an end: its quota takes it over, or it is closed with a comment.
 */
import { ApplicationFailure } from '@temporalio/common';
import { digestOf } from '../../../domain/kernel/digest.ts';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import { evaluateOrphan, type Orphan, type OrphanStep } from '../../../domain/quota-resize/decide/orphan.ts';
import { unrecordedDecision } from '../../../domain/quota-resize/model/decision.ts';
import type { QuotaObservation } from '../../../domain/quota-resize/model/observation.ts';
import { targetsOfCommit } from '../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import type { Forge, ListedCommit, PullRequest } from '../../forge/forge.ts';
import { failure } from '../../kernel/failure.ts';
import type { FoundOrphan, OrphanActivities, OrphanOutcome } from '../interface.ts';
import { pullRequestKey } from '../lease/open-pull-requests.ts';
import type { PullRequestTask } from './decision-branch.ts';
import { assertTakenOut } from './dequeue.ts';
import { closeOrphans, isOfDecision, wasClosedBefore } from './orphans.ts';
import { ensureComment, isAllOurs, type PullRequestDependencies, writesOf } from './own-work.ts';

/** What the comment is about on one whose content is people's. */
const LEFT_TO_PEOPLE = 'left to people because it has commits of others';

/** What says whether a quota needs an orphan, and who starts its episode. */
export interface OrphanDependencies extends PullRequestDependencies {
  readonly observeQuota: (input: { target: QuotaTarget }) => Promise<QuotaObservation>;
  /** The pull requests that Leases record as open, by `pullRequestKey`. */
  readonly recordedPullRequests: () => Promise<ReadonlySet<string>>;
  /** Whether the quota's episode has a decision with this pull request, whose Lease may be lost since. */
  readonly isOfEpisode: (found: FoundOrphan) => Promise<boolean>;
  readonly requestEpisode: (target: QuotaTarget, request: EpisodeRequest) => Promise<void>;
}

/** Starts the episode of a quota, or wakes it, because a pull request of it is open. */
export interface EpisodeRequest {
  readonly pullRequest: number;
  /** Who reopened it: ends the cooldown, and the rejections before it. Null where nobody did. */
  readonly by: string | null;
}

export function createOrphanActivities(dependencies: OrphanDependencies): OrphanActivities {
  return {
    observeOrphans: async ({ cluster }) => await searchOrphans(dependencies, cluster),
    ensureOrphanEnded: async (found) => await endOrphan(dependencies, found),
  };
}

async function searchOrphans(
  { repositories, config, recordedPullRequests }: OrphanDependencies,
  cluster: string,
): Promise<readonly FoundOrphan[]> {
  const beginning = config.texts.branchBeginningOf(cluster);
  // The branches of everybody would be too many to list.
  if (beginning === '') return [];
  const open: { readonly forge: Forge; readonly number: number }[] = [];
  for (const name of repositories.names) {
    const forge = repositories.of(name);
    for (const { number } of await forge.pullRequests.allOwnOpen(beginning)) open.push({ forge, number });
  }
  if (open.length === 0) return [];
  // Read after the list: what was opened before it is recorded by now, or is still being opened.
  const recorded = await recordedPullRequests();
  const found: FoundOrphan[] = [];
  for (const { forge, number } of open) {
    if (recorded.has(pullRequestKey(forge.repository, number))) continue;
    const target = targetOf(await forge.pullRequests.commitsOf(number), cluster);
    if (target !== null) found.push({ target, repository: forge.repository, number });
  }
  return found;
}

/** The quota that a pull request is for, by the trailers of its commits; null where it is for none of this cluster. */
function targetOf(commits: readonly ListedCommit[], cluster: string): QuotaTarget | null {
  for (const { message } of commits) {
    // The first target is the quota of the decision; further ones are batched with it.
    const [ofCluster, namespace, quota, ...more] = targetsOfCommit(message)[0]?.split('/') ?? [];
    if (ofCluster !== cluster || namespace === undefined || quota === undefined || more.length > 0) continue;
    return { cluster, namespace, quota };
  }
  return null;
}

async function endOrphan(dependencies: OrphanDependencies, found: FoundOrphan): Promise<OrphanOutcome> {
  const { target, number } = found;
  const forge = dependencies.repositories.of(found.repository);
  const pull = await forge.pullRequests.get(number);
  if (pull.state !== 'open') return { kind: 'left', why: 'it is closed by now' };
  const commits = await forge.pullRequests.commitsOf(number);
  const of = targetOf(commits, target.cluster);
  // Whoever names another quota would have it closed because that one needs nothing.
  if (of === null || targetName(of) !== targetName(target)) return { kind: 'left', why: 'it is of another quota' };
  // An episode that has lost its Lease takes it again.
  if (await dependencies.isOfEpisode(found)) return { kind: 'left', why: 'the episode of its quota is about it' };
  const reopened = await forge.pullRequests.reopened(number);
  const orphan: Orphan = { isOwn: await isAllOurs(forge, commits, pull), reopened };
  const evaluate = async (): Promise<OrphanStep | OfDecision> =>
    await evaluateNow(dependencies, target, { forge, pull, orphan });

  const step = await evaluate();
  if (step.kind === 'ofDecision') return { kind: 'left', why: step.why };
  // Whatever holds it, whoever it is left to: the decision that GitHub was to merge is lost, and no gate looks at it any more.
  if (pull.autoMerge !== undefined) {
    await assertTakenOut({ ...dependencies, forge, target, decision: unrecordedDecision(String(number)) }, pull);
  }
  if (step.kind === 'leave') return { kind: 'left', why: step.why };
  // A period in which it is open has one comment, whoever writes it, and whichever attempt.
  const period = digestOf(`${number} ${reopened?.id ?? ''}`, 8);
  const decision = unrecordedDecision(period);
  const unchanged = async (): Promise<void> => {
    const now = await evaluate();
    if (now.kind !== step.kind) throw noOrphanAnyMore(target, number);
  };
  const task = { ...dependencies, forge, target, decision };
  // A write may have waited for its permit for long, in which a decision may have taken the pull request over.
  const guard = async (of: QuotaTarget): Promise<void> => {
    await dependencies.guard(of);
    await unchanged();
  };
  const writing: PullRequestTask = { ...task, write: writesOf({ ...task, guard }, target, decision) };
  if (await wasClosedBefore(forge, decision, number)) {
    return { kind: 'left', why: 'somebody reopened it after Headroom had closed it, so people merge or close it' };
  }
  try {
    return await take(dependencies, writing, { pull, orphan }, step);
  } catch (error) {
    if (!isForbiddenNow(error)) throw error;
    return { kind: 'left', why: error.message };
  }
}

async function take(
  { requestEpisode, guard }: OrphanDependencies,
  task: PullRequestTask,
  { pull, orphan }: { readonly pull: PullRequest; readonly orphan: Orphan },
  step: Exclude<OrphanStep, { kind: 'leave' }>,
): Promise<OrphanOutcome> {
  const { target, forge, write, decision, log } = task;
  const { number } = pull;
  switch (step.kind) {
    case 'leaveToPeople': {
      const text = `Headroom leaves this pull request alone: ${step.why}.`;
      await ensureComment(forge, write, decision, { number, about: LEFT_TO_PEOPLE, text });
      return { kind: 'left', why: step.why };
    }
    case 'takeOver': {
      await guard(target);
      const by = orphan.reopened?.by ?? null;
      await requestEpisode(target, { pullRequest: number, by });
      log.info(
        { audit: 'reopened', target: targetName(target), cluster: target.cluster, pullRequest: number, by },
        `pull request #${number} of ${forge.repository} is open and no decision's; its quota takes it over`,
      );
      return { kind: 'requested' };
    }
    case 'close':
      await closeOrphans(task, [{ pull, isOwn: true }], step.why);
      return { kind: 'closed', why: step.why };
  }
}

/** It is no orphan. */
interface OfDecision {
  readonly kind: 'ofDecision';
  readonly why: string;
}

/** What becomes of the pull request as its quota is now. */
async function evaluateNow(
  { observeQuota, config }: OrphanDependencies,
  target: QuotaTarget,
  { forge, pull, orphan }: { readonly forge: Forge; readonly pull: PullRequest; readonly orphan: Orphan },
): Promise<OrphanStep | OfDecision> {
  const observation = await observeQuota({ target });
  const { decision } = observation.lease;
  if (decision !== null && decision.merge === null) {
    if (await isOfDecision({ forge, config }, { target, decision }, pull)) {
      return { kind: 'ofDecision', why: `it is of decision ${decision.id}` };
    }
  }
  return evaluateOrphan(observation, orphan, Date.now());
}

function noOrphanAnyMore(target: QuotaTarget, number: number): Error {
  const message = `pull request #${number} of ${targetName(target)} is left: what it was to be closed for has changed meanwhile`;
  return failure({ type: 'PolicyChanged', message, nonRetryable: true });
}

function isForbiddenNow(error: unknown): error is ApplicationFailure {
  return (
    error instanceof ApplicationFailure && ['Paused', 'GloballyPaused', 'PolicyChanged'].includes(error.type ?? '')
  );
}
