/**
 * Several quotas of a namespace miss room for the same workloads: one of them raises them all, in one pull request, so that
 * everything refused fits after one merge.
 */
import type { EpochMs } from '../../kernel/time.ts';
import { type Companion, decidedLimits } from '../model/decision.ts';
import { gateOf } from './approval-requirement.ts';
import { computeNeed, mergeChanges, outgrows } from '../sizing/requirement.ts';
import type { QuotaObservation, SiblingQuota } from '../model/observation.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import { partRefused } from './rejection.ts';
import type { Proposal } from '../model/verdict.ts';

const MINUTE_MS = 60_000;

/** The quotas that go into the pull request of `need`: those that may be raised under the same rules. */
export function companionsFor(look: QuotaObservation, need: Proposal, now: EpochMs): readonly Companion[] {
  if (!need.unmetDemand) return [];
  return look.siblings.flatMap((sibling): Companion[] => {
    const theirs = needOf(look, sibling, now);
    if (theirs === null) return [];
    const { name, quota, hints } = sibling;
    const { changes, gate } = theirs;
    return [{ quota: name, quotaUid: quota.uid, changes, ...usageNotesOf(theirs), gate, hints }];
  });
}

/**
 * The quota that is to raise this one as well, or null when this one has the first word. Every one of them comes to the
 * same answer by itself: the oldest rule that needs no talking, the smallest UID.
 */
export function leaderFor(look: QuotaObservation, need: Proposal, now: EpochMs): SiblingQuota | null {
  const own = look.quota?.uid;
  if (own === undefined || !need.unmetDemand) return null;
  const before = look.siblings.filter((sibling) => sibling.quota.uid < own && needOf(look, sibling, now) !== null);
  return before.toSorted((a, b) => (a.quota.uid < b.quota.uid ? -1 : 1))[0] ?? null;
}

/** The companions as they grew with the demand since they were decided on, or null where none did. */
export function grownCompanions(look: QuotaObservation, companions: readonly Companion[]): readonly Companion[] | null {
  let grew = false;
  const now = companions.map((companion): Companion => {
    const sibling = look.siblings.find(({ name }) => name === companion.quota);
    const theirs = sibling === undefined ? null : demandOf(look, sibling);
    if (sibling === undefined || theirs === null) return companion;
    if (!outgrows(theirs, decidedLimits(companion), sibling.policy)) return companion;
    grew = true;
    const changes = mergeChanges(companion.changes, theirs.changes);
    return { ...companion, changes, ...usageNotesOf(theirs), gate: gateOf(sibling.policy, changes) };
  });
  return grew ? now : null;
}

function usageNotesOf({ usageNotes }: Proposal): Pick<Companion, 'usageNotes'> {
  return usageNotes === undefined ? {} : { usageNotes };
}

/**
 * The companions that must not be merged along any more: nothing of theirs is missing now, or their policy has become
 * another one (opted out, mode observe, a freeze of their own).
 */
export function leavingCompanions(look: QuotaObservation, companions: readonly Companion[]): readonly string[] {
  return companions
    .filter(({ quota, quotaUid }) => {
      const sibling = look.siblings.find(({ name }) => name === quota);
      return sibling === undefined || sibling.quota.uid !== quotaUid || !maySharePullRequest(look, sibling);
    })
    .map(({ quota }) => quota);
}

function maySharePullRequest(look: QuotaObservation, { policy }: SiblingQuota): boolean {
  return policy.enabled && policy.mode === 'propose' && isAsFree(policy, look.policy);
}

/** What a sibling needs for what is refused and still missing; null where a threshold alone presses, or nothing. */
function demandOf(look: QuotaObservation, sibling: SiblingQuota): Proposal | null {
  const need = computeNeed({ ...look, ...sibling, siblings: [] }, sibling.lease.lastModified);
  return need?.unmetDemand === true ? need : null;
}

/** What a sibling needs, if it is free and may be raised like this quota; null otherwise: then it has its own episode. */
function needOf(look: QuotaObservation, sibling: SiblingQuota, now: EpochMs): Proposal | null {
  const { policy, lease, counting } = sibling;
  if (counting?.kind === 'unavailable') return null;
  if (!maySharePullRequest(look, sibling)) return null;
  if ((lease.holder !== null && !lease.holderIsAbandoned) || lease.decision !== null) return null;
  if (lease.lastModified !== null && now < lease.lastModified + policy.cooldownMinutes * MINUTE_MS) return null;
  const need = demandOf(look, sibling);
  if (need === null) return null;
  const { wanted } = partRefused(
    need,
    { ...look, ...sibling, siblings: [] },
    { rejections: lease.refusals, cooldownSkippedAt: null },
    now,
  );
  return wanted === need ? need : null;
}

/** Whether the same rules and people decide about both. Their gates may differ: an approval is for the whole pull request. */
function isAsFree(a: ResizePolicy, b: ResizePolicy): boolean {
  const rules = ({ autoMerge, approval, freezeUntil, mergeWindows, reviewers }: ResizePolicy) =>
    JSON.stringify([autoMerge.allowed, approval, freezeUntil, mergeWindows, reviewers]);
  return rules(a) === rules(b);
}
