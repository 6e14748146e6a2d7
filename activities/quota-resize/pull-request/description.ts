/** What people read and find on a decision's pull request: title, description, comments, labels and reviewers. */
import type { Repositories } from '../../forge/repositories.ts';
import type { PullRequest } from '../../forge/forge.ts';
import { changeFacts, decidedFacts, type OwnCommit, type PullRequestTask, sharedFacts } from './decision-branch.ts';
import type { QuotaResizeActivities } from '../interface.ts';
import { ensureComment } from './own-work.ts';
import { requestReviews } from './reviewers.ts';
import type { SharedEdit } from './shared-edit.ts';

export type EnsureInput = Parameters<QuotaResizeActivities['ensurePullRequest']>[0];

/** One run of an activity that opens or rebuilds a decision's pull request. */
export interface ProposalTask extends PullRequestTask, Pick<EnsureInput, 'policy' | 'candidatesByQuota'> {
  readonly repositories: Repositories;
}

/** Writes title and description of the commit that the pull request has now, and one comment about it. */
export async function describe(
  task: ProposalTask,
  { edit, pull, commit }: { readonly edit: SharedEdit; readonly pull: PullRequest; readonly commit: OwnCommit },
  comment: string,
): Promise<void> {
  const { forge, decision, write } = task;
  const { number } = pull;
  const { title, body } = textOf(task, edit);
  // The forge stores the description with the line ends of its last editor.
  if (pull.title !== title || pull.body.replaceAll('\r\n', '\n') !== body) {
    await write('edit pull request', { number, head: commit.sha }, () =>
      forge.pullRequests.edit(number, { title, body }),
    );
  }
  await ensureComment(forge, write, decision, { number, about: `${commit.sha} ${comment}`, text: comment });
}

/** Adds the labels and reviewers that the pull request does not have yet. */
export async function addMetadata(task: ProposalTask, pull: PullRequest, age: 'new' | 'found'): Promise<void> {
  const { forge, config, target, decision, policy, write } = task;
  const { number } = pull;
  const wanted = config.texts.labels(decidedFacts(forge.repository, target, decision));
  const labels = wanted.filter((label) => !pull.labels.includes(label));
  if (labels.length > 0) await write('label', { number, labels }, () => forge.pullRequests.addLabels(number, labels));
  await requestReviews(task, pull, policy.reviewers ?? [], age);
}

export function textOf(task: ProposalTask, edit: SharedEdit): { readonly title: string; readonly body: string } {
  const { target, decision, policy, forge, config } = task;
  return {
    title: config.texts.title(sharedFacts(changeFacts(task, edit), edit.joined)),
    body: config.texts.body({
      target,
      decision,
      policy,
      repository: forge.repository,
      base: edit.tree.base.name,
      ...(edit.branchBy === undefined ? {} : { branchBy: edit.branchBy }),
      paths: [...new Set([edit, ...(edit.joined ?? [])].flatMap(({ files }) => files.map(({ path }) => path)))],
      quotas: edit.quotas,
      joined: edit.joined ?? [],
      leftOut: edit.leftOut,
      temporalUi: config.temporalUi,
    }),
  };
}
