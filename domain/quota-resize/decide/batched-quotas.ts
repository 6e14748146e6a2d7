/**
 * When several quotas of a namespace lack room for the same workloads, one of them raises all of them in one pull
 * request, so that the denied workloads fit after one merge.
 */
import type { EpochMs } from '../../kernel/time.ts';
import {
  type BatchedQuota,
  type DecisionFacts,
  decidedLimits,
  isDemandByMessage,
  type LimitChange,
  type UnmergedDecision,
} from '../model/decision.ts';
import { approvalRequirementOf, approvalRequirementOfDecision, fromInForce } from './approval-requirement.ts';
import { computeRequirement, mergeChanges, outgrows } from '../sizing/requirement.ts';
import { isHeldByOthers, type QuotaObservation, type OtherQuota } from '../model/observation.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import { type GivenRaise, withoutGiven } from '../policy/totals.ts';
import { lastRejection, partRejected } from './rejection.ts';
import { restUntil } from './rest.ts';
import type { Proposal } from '../model/verdict.ts';

/** The other quotas that go into the same pull request: those that may be raised under the same rules. */
export function batchedQuotasFor(
  observation: QuotaObservation,
  requirement: Proposal,
  now: EpochMs,
): readonly BatchedQuota[] {
  if (!requirement.unmetDemand) return [];
  const given: GivenRaise[] = [{ hard: observation.quota?.hard ?? {}, changes: requirement.changes }];
  return observation.otherQuotas.flatMap((otherQuota): BatchedQuota[] => {
    const theirs = requirementOf(observation, afterGiving(otherQuota, given), now);
    if (theirs === null) return [];
    const { name, quota, candidates } = otherQuota;
    const { changes, approvalRequirement } = theirs;
    given.push({ hard: quota.hard, changes });
    const notes = { ...usageNotesOf(theirs), ...byMessage(theirs.demandByMessage) };
    return [{ quota: name, quotaUid: quota.uid, changes, ...notes, approvalRequirement, candidates }];
  });
}

/** Another quota of the namespace, with what is left for it after the same decision raised others. */
function afterGiving(otherQuota: OtherQuota, given: readonly GivenRaise[]): OtherQuota {
  return { ...otherQuota, policy: withoutGiven(otherQuota.policy, given) };
}

/**
 * The other quota that is to raise this one too, or null when this quota is the batch owner. Each quota computes this
 * by itself, without communication: the owner is the quota with the smallest UID.
 */
export function batchOwnerFor(observation: QuotaObservation, requirement: Proposal, now: EpochMs): OtherQuota | null {
  const own = observation.quota?.uid;
  if (own === undefined || !requirement.unmetDemand) return null;
  const before = observation.otherQuotas.filter(
    (otherQuota) => otherQuota.quota.uid < own && requirementOf(observation, otherQuota, now) !== null,
  );
  return before.toSorted((a, b) => (a.quota.uid < b.quota.uid ? -1 : 1))[0] ?? null;
}

/**
 * The batched quotas with larger limits where their demand has grown since the decision; null where none has.
 *
 * @param ownGrowth of the decision's own quota: what it takes is not left for the others.
 */
export function grownBatchedQuotas(
  observation: QuotaObservation,
  batchedQuotas: readonly BatchedQuota[],
  ownGrowth: readonly LimitChange[],
  now: EpochMs,
): readonly BatchedQuota[] | null {
  let grew = false;
  const given: GivenRaise[] = [{ hard: observation.quota?.hard ?? {}, changes: ownGrowth }];
  const all = batchedQuotas.map((batchedQuota): BatchedQuota => {
    const other = observation.otherQuotas.find(({ name }) => name === batchedQuota.quota);
    if (other === undefined) return batchedQuota;
    const otherQuota = afterGiving(other, given);
    const requirement = demandOf(observation, otherQuota);
    const theirs = requirement === null ? null : notRejected(requirement, otherQuota, now);
    if (theirs === null || !outgrows(theirs, decidedLimits(batchedQuota), otherQuota.policy)) return batchedQuota;
    grew = true;
    const changes = mergeChanges(batchedQuota.changes, theirs.changes, otherQuota.policy);
    given.push({ hard: other.quota.hard, changes: growthOf(batchedQuota.changes, changes) });
    const demandByMessage = theirs.demandByMessage || isDemandByMessage(batchedQuota);
    return {
      ...batchedQuota,
      changes,
      ...usageNotesOf(theirs),
      ...byMessage(demandByMessage),
      approvalRequirement: approvalRequirementOf(otherQuota.policy, changes, demandByMessage),
    };
  });
  return grew ? all : null;
}

/** How far changes go beyond those that were decided before, which count towards the totals already. */
export function growthOf(before: readonly LimitChange[], after: readonly LimitChange[]): readonly LimitChange[] {
  const decided = decidedLimits({ changes: before });
  return after.map((change) => ({ ...change, from: decided[change.resource] ?? change.from }));
}

function byMessage(demandByMessage: boolean): Pick<BatchedQuota, 'demandByMessage'> {
  return demandByMessage ? { demandByMessage } : {};
}

/**
 * The decision with the approvals that the policies of now require, its own and those of its batched quotas, so that a changed
 * annotation or limit takes effect at once. The gate before the merge asks the same.
 */
export function withRequirementsOfNow<D extends UnmergedDecision>(
  { policy, quota, otherQuotas }: Pick<QuotaObservation, 'policy' | 'quota' | 'otherQuotas'>,
  decided: D,
): D {
  const batchedQuotas = decided.batchedQuotas?.map((batchedQuota): BatchedQuota => {
    const other = otherQuotas.find(({ name }) => name === batchedQuota.quota);
    if (other === undefined) return batchedQuota;
    const changes = fromInForce(batchedQuota.changes, other.quota.hard);
    const approvalRequirement = approvalRequirementOf(other.policy, changes, isDemandByMessage(batchedQuota));
    return { ...batchedQuota, approvalRequirement };
  });
  const decision = batchedQuotas === undefined ? decided : { ...decided, batchedQuotas };
  return { ...decision, approvalRequirement: approvalRequirementOfDecision(policy, decision, quota?.hard) };
}

function usageNotesOf({ usageNotes }: Proposal): Pick<BatchedQuota, 'usageNotes'> {
  return usageNotes === undefined ? {} : { usageNotes };
}

/**
 * The batched quotas that must not be raised by the pull request any more: they lack nothing now, they are paused, or
 * their policy has changed (opted out, mode observe, a freeze of their own).
 */
export function leavingBatchedQuotas(
  observation: QuotaObservation,
  { batchedQuotas = [] }: Pick<DecisionFacts, 'batchedQuotas'>,
): readonly string[] {
  const forbidden = forbiddenBatchedQuotas(observation, { batchedQuotas });
  const isMissing = ({ quota }: BatchedQuota): boolean => observation.otherQuotas.every(({ name }) => name !== quota);
  return batchedQuotas
    .filter((batchedQuota) => isMissing(batchedQuota) || forbidden.includes(batchedQuota.quota))
    .map(({ quota }) => quota);
}

/** Those of them that something forbids to raise along, however much they need it: nobody is to merge them by hand either. */
export function forbiddenBatchedQuotas(
  observation: QuotaObservation,
  { batchedQuotas = [] }: Pick<DecisionFacts, 'batchedQuotas'>,
): readonly string[] {
  return batchedQuotas
    .filter(({ quota, quotaUid }) => {
      const otherQuota = observation.otherQuotas.find(({ name }) => name === quota);
      if (otherQuota === undefined) return false;
      return otherQuota.quota.uid !== quotaUid || !maySharePullRequest(observation, otherQuota);
    })
    .map(({ quota }) => quota);
}

/** Why they leave, as a sentence. */
export function leavingSentence(leaving: readonly string[]): string {
  const names = leaving.map((quota) => `quota ${quota}`).join(' and ');
  return `${names} is no longer raised in it, because it needs no more, is paused, or its policy changed`;
}

function maySharePullRequest(observation: QuotaObservation, { policy }: OtherQuota): boolean {
  return policy.enabled && policy.mode === 'propose' && isAsFree(policy, observation.policy);
}

/**
 * The requirement of another quota of the namespace for what was denied and is still missing; null when only its
 * threshold is exceeded, or nothing.
 */
function demandOf(observation: QuotaObservation, otherQuota: OtherQuota): Proposal | null {
  const requirement = computeRequirement({ ...observation, ...otherQuota }, otherQuota.lease.lastModified);
  return requirement?.unmetDemand === true ? requirement : null;
}

/**
 * The requirement of another quota of the namespace, if its Lease is free and it may be raised under the same rules;
 * null otherwise, because it then has its own episode.
 */
function requirementOf(observation: QuotaObservation, otherQuota: OtherQuota, now: EpochMs): Proposal | null {
  const { policy, lease, counting } = otherQuota;
  if (counting?.kind === 'unavailable') return null;
  if (!maySharePullRequest(observation, otherQuota)) return null;
  if (isHeldByOthers(lease, null) || lease.decision !== null) return null;
  const ends = [lease.lastModified, lease.lastWithdrawal, lastRejection(lease.rejections)];
  if (restUntil(policy.cooldown, ends, { skippedAt: null, now }) !== null) return null;
  const requirement = demandOf(observation, otherQuota);
  if (requirement === null) return null;
  return notRejected(requirement, otherQuota, now) === requirement ? requirement : null;
}

/** What of another quota's requirement its people have not rejected: an operator skips the cooldown of one quota, not of others. */
function notRejected(requirement: Proposal, otherQuota: OtherQuota, now: EpochMs): Proposal | null {
  const memory = { rejections: otherQuota.lease.rejections, cooldownSkippedAt: null };
  return partRejected(requirement, { observation: otherQuota, memory, now }).wanted;
}

/**
 * Whether the same rules and the same people decide about both quotas. Approval requirements may differ, because an
 * approval covers the whole pull request.
 */
export function isAsFree(a: ResizePolicy, b: ResizePolicy): boolean {
  const rules = ({ autoMerge, approval, freezeUntil, mergeWindows, reviewers }: ResizePolicy) =>
    JSON.stringify([autoMerge.allowed, approval, freezeUntil, mergeWindows, reviewers]);
  return rules(a) === rules(b);
}
