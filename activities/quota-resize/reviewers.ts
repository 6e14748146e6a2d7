/**
 * Asking people to review. Without names of the policy nothing is asked: GitHub itself asks the code owners of the changed
 * files when a pull request opens.
 */
import { type PullRequest, teamSlug } from '../forge/forge.ts';
import type { ForgeActivityDependencies, Write } from './own-work.ts';

/**
 * A name that the forge rejects (no collaborator, no such team) keeps nobody else from being asked, and fails nothing.
 *
 * @param age for one that was found, an earlier attempt may have asked and people may have answered.
 */
export async function requestReviews(
  { forge, log, write }: Pick<ForgeActivityDependencies, 'forge' | 'log'> & { readonly write: Write },
  { number, user, requestedReviewers }: PullRequest,
  names: readonly string[],
  age: 'new' | 'found',
): Promise<void> {
  // Nobody can review their own pull request; the whole list would be rejected.
  const unasked = names.filter((name) => name !== user && !requestedReviewers.includes(teamSlug(name)));
  // Whoever has answered is no longer among those who are asked.
  const answered = unasked.length === 0 || age === 'new' ? [] : await forge.pullRequests.reviewersOf(number);
  const reviewers = unasked.filter((name) => !hasAnswered(name, answered));
  if (reviewers.length === 0) return;
  const ask = (some: readonly string[]) =>
    write('request reviews', { number, reviewers: some }, () => forge.pullRequests.requestReviewers(number, some));
  const answer = await ask(reviewers);
  if (answer === 'requested') return;
  // One wrong name has all of them rejected: the others are asked one by one.
  const rejected = reviewers.length === 1 ? [{ name: reviewers[0], words: answer.rejected }] : [];
  for (const name of reviewers.length === 1 ? [] : reviewers) {
    const single = await ask([name]);
    if (single !== 'requested') rejected.push({ name, words: single.rejected });
  }
  for (const { name, words } of rejected) {
    log.warn(
      { repository: forge.repository, number, reviewer: name, error: words },
      `GitHub does not ask ${name} to review #${number} of ${forge.repository}; correct the annotation resizer.io/reviewers: ${words}`,
    );
  }
}

/** For a team any member answers, and GitHub does not say here who is one: then somebody has looked at it in any case. */
function hasAnswered(name: string, answered: readonly string[]): boolean {
  return name.includes('/') ? answered.length > 0 : answered.includes(name);
}
