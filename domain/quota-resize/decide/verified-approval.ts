/** Approvals whose author the API server or the forge has verified: they are taken where they are, and not remembered. */
import type { Seen } from '../model/episode-observation.ts';
import { type Approval, approvedPlaces, approvedValues, type UnmergedDecision } from '../model/decision.ts';
import type { LeaseApproval } from '../model/lease-approval.ts';
import { type Unmerged, withApproval } from '../model/memory.ts';
import type { PullRequestObservation } from '../model/observation.ts';
import { isFor } from './approval.ts';

/** Where verified approvals are: in the quota's Lease, and in the reviews of the pull request's present head. */
export interface VerifiedSources {
  readonly lease?: LeaseApproval | undefined;
  readonly reviews?: Pick<PullRequestObservation, 'headSha' | 'approvals'> | null;
}

/**
 * The state with a verified approval, if there is one for the decision; without the one that it had, if that was taken
 * back. A rejection stands above both.
 */
export function withVerifiedApproval<State extends Unmerged>(
  state: State,
  { observation, pullRequest }: Pick<Seen, 'observation' | 'pullRequest'>,
): State {
  const { approval, decision, rejection } = state;
  if (rejection !== null) return state;
  const sources: VerifiedSources = { lease: observation.lease.approval, reviews: pullRequest };
  if (approval?.verified !== undefined && isStillGiven(approval, decision, sources)) return state;
  const found = verifiedApproval(decision, sources);
  if (found !== null) return withApproval(state, found);
  return approval?.verified === undefined ? state : withApproval(state, null);
}

/** A verified approval of exactly this decision, its limits and its head; null where there is none. */
export function verifiedApproval(decision: UnmergedDecision, { lease, reviews }: VerifiedSources): Approval | null {
  if (lease !== undefined && lease.decision === decision.id) {
    const { by, at, reason, limits, headSha, places } = lease;
    const approval: Approval = { by, at, reason, limits, headSha, places, verified: 'kubernetes' };
    if (isFor(approval, decision)) return approval;
  }
  const headSha = decision.pullRequest?.headSha;
  const [review] = reviews?.approvals ?? [];
  if (review === undefined || headSha === undefined || reviews?.headSha !== headSha) return null;
  const { by, at } = review;
  const limits = approvedValues(decision);
  return { by, at, reason: '', limits, headSha, places: approvedPlaces(decision), verified: 'forge' };
}

/** Whether the approval is where it was found. Reviews that were not read are taken to be as before. */
function isStillGiven({ verified, by, at }: Approval, { id }: UnmergedDecision, sources: VerifiedSources): boolean {
  const isSame = (other: { readonly by: string; readonly at: number }) => other.by === by && other.at === at;
  if (verified === 'kubernetes') return sources.lease?.decision === id && isSame(sources.lease);
  return sources.reviews?.approvals?.some(isSame) ?? true;
}
