/**
 * Asking people to review. Without names of the policy nothing is asked: GitHub itself asks the code owners of the changed
 * files when a pull request opens.
 */
import { type PullRequest, teamSlug } from '../forge/github/github.ts';
import type { GitHubActivityDependencies, Write } from './own-work.ts';

/**
 * A name that GitHub refuses (no collaborator, no such team) keeps nobody else from being asked, and fails nothing.
 *
 * @param age for one that was found, an earlier attempt may have asked and people may have answered.
 */
export async function requestReviews(
  { github, log, write }: Pick<GitHubActivityDependencies, 'github' | 'log'> & { readonly write: Write },
  { number, user, requestedReviewers }: PullRequest,
  names: readonly string[],
  age: 'new' | 'found',
): Promise<void> {
  // Nobody can review their own pull request; GitHub would refuse the whole list.
  const unasked = names.filter((name) => name !== user && !requestedReviewers.includes(teamSlug(name)));
  // Whoever has answered is no longer among those who are asked.
  const answered = unasked.length === 0 || age === 'new' ? [] : await github.reviewersOf(number);
  const reviewers = unasked.filter((name) => !hasAnswered(name, answered));
  if (reviewers.length === 0) return;
  const ask = (some: readonly string[]) =>
    write('request reviews', { number, reviewers: some }, () => github.requestReviewers(number, some));
  const answer = await ask(reviewers);
  if (answer === 'requested') return;
  // GitHub refuses all of them for one: the others are asked one by one.
  const refused = reviewers.length === 1 ? [{ name: reviewers[0], words: answer.refused }] : [];
  for (const name of reviewers.length === 1 ? [] : reviewers) {
    const single = await ask([name]);
    if (single !== 'requested') refused.push({ name, words: single.refused });
  }
  for (const { name, words } of refused) {
    log.warn(
      { repository: github.repository, number, reviewer: name, error: words },
      `GitHub does not ask ${name} to review #${number} of ${github.repository}; correct the annotation resizer.io/reviewers: ${words}`,
    );
  }
}

/** For a team any member answers, and GitHub does not say here who is one: then somebody has looked at it in any case. */
function hasAnswered(name: string, answered: readonly string[]): boolean {
  return name.includes('/') ? answered.length > 0 : answered.includes(name);
}
