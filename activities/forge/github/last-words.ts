/** Which reviews of a pull request approve it, and which request changes. */
import type { ForgeApproval } from '../forge.ts';

/** A submitted review, or one that is still being written. */
export interface GivenReview {
  /** The account, as REST writes it: a person and an app of the same name are told apart. */
  readonly by: string;
  /** `User`, `Bot` for apps, and others. */
  readonly type: string;
  readonly state: string;
  readonly headSha: string | null;
  readonly at: ForgeApproval['at'];
}

/** Those whose author's last word is an approval. Apps and the author of the pull request are left out. */
export function approvingReviews<Review extends GivenReview>(
  reviews: readonly Review[],
  author: string | null,
): readonly Review[] {
  return lastWords(reviews).filter(
    ({ by, type, state }) => state === 'APPROVED' && type === 'User' && by.toLowerCase() !== author?.toLowerCase(),
  );
}

/** Those whose author's last word requests changes. GitHub lets nobody request changes of a pull request of their own. */
export function requestingReviews<Review extends GivenReview>(reviews: readonly Review[]): readonly Review[] {
  return lastWords(reviews).filter(({ state }) => state === 'CHANGES_REQUESTED');
}

/**
 * Of each account the last review that says more than a comment does.
 *
 * @param reviews the oldest first.
 */
function lastWords<Review extends GivenReview>(reviews: readonly Review[]): readonly Review[] {
  const latest = new Map<string, Review>();
  for (const review of reviews) {
    if (review.state === 'COMMENTED' || review.state === 'PENDING') continue;
    // Logins have no case.
    latest.set(review.by.toLowerCase(), review);
  }
  return [...latest.values()];
}
