/** Which reviews approve a pull request. */
import type { ForgeApproval } from '../forge.ts';

/** A submitted review, or one that is still being written. */
export interface GivenReview {
  readonly by: string;
  /** False for apps. */
  readonly isPerson: boolean;
  readonly state: string;
  readonly headSha: string | null;
  readonly at: ForgeApproval['at'];
}

/**
 * Those whose author's last word, of more than a comment, is an approval. Apps and the author of the pull request are
 * left out.
 *
 * @param reviews the oldest first.
 */
export function approvingReviews<Review extends GivenReview>(
  reviews: readonly Review[],
  author: string | null,
): readonly Review[] {
  const latest = new Map<string, Review>();
  for (const review of reviews) {
    // Logins have no case.
    const by = review.by.toLowerCase();
    if (!review.isPerson || by === author?.toLowerCase()) continue;
    if (review.state === 'COMMENTED' || review.state === 'PENDING') continue;
    latest.set(by, review);
  }
  return [...latest.values()].filter(({ state }) => state === 'APPROVED');
}
