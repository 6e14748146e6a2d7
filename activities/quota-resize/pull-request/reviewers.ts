/**
 * Requests reviews. Without reviewers in the policy nobody is asked: the forge itself asks the code owners of the changed
 * files when a pull request opens.
 */
import { type PullRequest, teamSlug } from '../../forge/forge.ts';
import type { ForgeActivityDependencies, Write } from './own-work.ts';

/**
 * A name that the forge rejects (no collaborator, no such team) is skipped; the others are still asked and nothing
 * fails.
 *
 * @param age for `found`, an earlier attempt may have asked and people may have reviewed.
 */
export async function requestReviews(
  { forge, log, write }: Pick<ForgeActivityDependencies, 'forge' | 'log'> & { readonly write: Write },
  { number, user, requestedReviewers }: PullRequest,
  names: readonly string[],
  age: 'new' | 'found',
): Promise<void> {
  // Authors cannot review their own pull request; the forge would reject the whole list.
  const unasked = names.filter((name) => name !== user && !requestedReviewers.includes(teamSlug(name)));
  // People who have reviewed are no longer in the list of requested reviewers.
  const answered = unasked.length === 0 || age === 'new' ? [] : await forge.pullRequests.reviewersOf(number);
  const reviewers = unasked.filter((name) => !hasAnswered(name, answered));
  if (reviewers.length === 0) return;
  const ask = (some: readonly string[]) =>
    write('request reviews', { number, reviewers: some }, () => forge.pullRequests.requestReviewers(number, some));
  const answer = await ask(reviewers);
  if (answer === 'requested') return;
  // One invalid name makes the forge reject the whole list, so the names are then tried one by one.
  const rejected = reviewers.length === 1 ? [{ name: reviewers[0], words: answer.rejected }] : [];
  for (const name of reviewers.length === 1 ? [] : reviewers) {
    const single = await ask([name]);
    if (single !== 'requested') rejected.push({ name, words: single.rejected });
  }
  for (const { name, words } of rejected) {
    log.warn(
      { repository: forge.repository, number, reviewer: name, error: words },
      `${forge.service} does not ask ${name} to review #${number} of ${forge.repository}; correct the annotation resizer.io/reviewers: ${words}`,
    );
  }
}

/** A team has reviewed if anybody has: GitHub does not tell here who is a member. */
function hasAnswered(name: string, answered: readonly string[]): boolean {
  return name.includes('/') ? answered.length > 0 : answered.includes(name);
}
