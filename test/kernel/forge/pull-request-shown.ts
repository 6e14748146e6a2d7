import { type ForgeContext, thisRepository } from './context.ts';
import { mergeableState } from './merge-rules.ts';
import type { Label, PullRequest } from './model.ts';
import { issue, simplePullRequest } from './represent/pull-request.ts';
import { shownTeam } from './represent/team.ts';
import { simpleUser } from './represent/user.ts';

/** A pull request as lists show it. */
export function simplePull(forge: ForgeContext, pull: PullRequest): Record<string, unknown> {
  return simplePullRequest(pull, {
    urls: forge.urls,
    owner: forge.owner,
    repository: thisRepository(forge),
    labels: labelsOf(forge, pull),
    mergeCommitSha: forge.pulls.mergeCommit(pull),
    requestedTeams: pull.requestedTeams.map((slug) => shownTeam(forge, slug)),
  });
}

/** A pull request as it is shown alone. Asking starts computing whether it merges, where that is not known. */
export async function fullPull(forge: ForgeContext, pull: PullRequest): Promise<Record<string, unknown>> {
  return withMergeable(forge, pull, await forge.pulls.mergeable(pull));
}

/** A pull request as webhooks carry it: whether it merges is not known in the moment of a change. */
export function changedPull(forge: ForgeContext, pull: PullRequest): Promise<Record<string, unknown>> {
  return withMergeable(forge, pull, null);
}

/** The issue that a pull request is as well. */
export function pullAsIssue(forge: ForgeContext, pull: PullRequest): Record<string, unknown> {
  return issue(pull, {
    urls: forge.urls,
    owner: forge.owner,
    labels: labelsOf(forge, pull),
    comments: commentsOf(forge, pull),
  });
}

/** The labels of a pull request, whole. */
export function labelsOf(forge: ForgeContext, pull: PullRequest): Label[] {
  return pull.labels.flatMap((name) => sameLabel(forge, name) ?? []);
}

/** GitHub takes no notice of the case of a label's name. */
export function sameLabel(forge: ForgeContext, name: string): Label | undefined {
  return forge.store.state.labels.find((label) => label.name.toLowerCase() === name.toLowerCase());
}

async function withMergeable(
  forge: ForgeContext,
  pull: PullRequest,
  mergeable: boolean | null,
): Promise<Record<string, unknown>> {
  const [size, facts] = await Promise.all([forge.pulls.size(pull), forge.pulls.facts(pull, mergeable)]);
  return {
    ...simplePull(forge, pull),
    ...size,
    merged: pull.mergedAt !== null,
    merged_by: pull.mergedBy === null ? null : simpleUser(forge.urls, pull.mergedBy),
    mergeable,
    rebaseable: mergeable,
    mergeable_state: pull.state === 'open' ? mergeableState(facts) : 'unknown',
    comments: commentsOf(forge, pull),
    review_comments: 0,
    maintainer_can_modify: false,
  };
}

function commentsOf(forge: ForgeContext, { number }: PullRequest): number {
  return forge.store.state.comments.filter((comment) => comment.issue === number).length;
}
