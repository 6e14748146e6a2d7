/** Turns a proposal into a decision once the quota's location and its current limits in Git are known. */
import type { EpochMs } from '../../kernel/time.ts';
import {
  type BatchedQuota,
  FOUND_IN_GIT,
  isDemandByMessage,
  type LockedDecision,
  type MergedDecision,
} from '../model/decision.ts';
import type { QuotaObservation, SourceObservation } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import { asWritten, beyondMaximum, coveredBy } from '../sizing/requirement.ts';
import { approvalRequirementOfDecision } from './approval-requirement.ts';

type FoundInGit = Extract<SourceObservation, { kind: 'found' }>;

/** A decision to raise the quota, or the finding that Git already holds all of the values. */
export type PlacedProposal =
  | { readonly kind: 'raise'; readonly decision: LockedDecision }
  | { readonly kind: 'alreadyInGit'; readonly decision: MergedDecision }
  /** The value can only be written as one that the policy forbids; a sentence. */
  | { readonly kind: 'unplaceable'; readonly message: string };

/**
 * Turns the proposal into a decision, with its values in the unit of the manifest.
 *
 * @param decided the id and the moment of the new decision, and when its cooldown was skipped.
 */
export function placeProposal(
  { quota, policy }: Pick<QuotaObservation, 'quota' | 'policy'>,
  proposal: Proposal,
  source: FoundInGit,
  decided: { readonly id: string; readonly at: EpochMs; readonly cooldownSkippedAt?: EpochMs | undefined },
): PlacedProposal {
  const message = beyondMaximum(source, policy);
  if (message !== null) return { kind: 'unplaceable', message };
  const { changes, evidence, demandByMessage, notes, usageNotes, approvalRequirement } = asWritten(
    proposal,
    source,
    policy,
  );
  const decision: LockedDecision = {
    id: decided.id,
    quotaUid: quota?.uid ?? '',
    decidedAt: decided.at,
    changes,
    evidence,
    demandByMessage,
    ...(decided.cooldownSkippedAt === undefined ? {} : { cooldownSkippedAt: decided.cooldownSkippedAt }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(usageNotes === undefined ? {} : { usageNotes }),
    approvalRequirement,
    source: { repository: source.repository, base: source.base, how: source.how, placement: source.placement },
    pullRequest: null,
    merge: null,
  };
  if (!coveredBy(changes, source.limits)) return { kind: 'raise', decision };
  const merge = { sha: source.baseSha, at: decided.at, by: FOUND_IN_GIT, limits: source.limits };
  return { kind: 'alreadyInGit', decision: { ...decision, merge } };
}

/** A quota to be raised by another quota's proposal, under its own policy. */
interface BatchedProposal {
  readonly batchedQuota: BatchedQuota;
  readonly proposal: Proposal;
  readonly policy: ResizePolicy;
}

/**
 * Another quota of the namespace with its location in Git; null where the pull request cannot raise it, because it is
 * in another repository or branch, cannot be placed, or has the values already. Such a quota has its own episode.
 */
export function placeBatchedQuota(
  { batchedQuota, proposal, policy }: BatchedProposal,
  source: SourceObservation,
  own: FoundInGit,
): BatchedQuota | null {
  if (source.kind === 'blocked' || source.repository !== own.repository || source.base !== own.base) return null;
  if (coveredBy(batchedQuota.changes, source.limits) || beyondMaximum(source, policy) !== null) return null;
  const demandByMessage = proposal.demandByMessage || isDemandByMessage(batchedQuota);
  const written = asWritten({ ...proposal, changes: batchedQuota.changes, demandByMessage }, source, policy);
  const { changes, approvalRequirement } = written;
  const byMessage = demandByMessage ? { demandByMessage } : {};
  return { ...batchedQuota, changes, ...byMessage, approvalRequirement, placement: source.placement };
}

/** The decision with these batched quotas, and the approval that all of them together require. */
export function withPlacedQuotas(
  decision: LockedDecision,
  placed: readonly BatchedQuota[],
  policy: ResizePolicy,
): LockedDecision {
  if (placed.length === 0) return decision;
  const together = { ...decision, batchedQuotas: placed };
  return { ...together, approvalRequirement: approvalRequirementOfDecision(policy, together) };
}
