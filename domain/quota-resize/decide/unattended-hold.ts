/**
 * Whether a raise may be merged without a person at this moment, by what its Lease remembers. `decide` asks the same before
 * it proposes; the gate asks again, because whoever may write decisions may write one that was never proposed.
 */
import { amountsText, quantityText } from '../../kernel/quantity-text.ts';
import type { QuotaTarget } from '../../kernel/target.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { type Decision, type DecisionFacts, decidedLimits, type LimitChange } from '../model/decision.ts';
import type { ResizeMemory } from '../model/memory.ts';
import type { LeaseRecord, MergeHold, QuotaObservation } from '../model/observation.ts';
import { asksForVerified } from '../policy/guardrail.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import { maxNeeded, type NeededLimits, needOf, unneededIn } from '../sizing/needed.ts';
import { lastRejection, partRejected } from './rejection.ts';
import { restUntil } from './rest.ts';

/** A raise, and what the Lease of its quota remembers. */
interface Raise {
  readonly changes: readonly LimitChange[];
  readonly policy: ResizePolicy;
  readonly lease: Pick<LeaseRecord, 'lastModified' | 'lastWithdrawal' | 'rejections'>;
  /** Since when the cooldown counts as skipped. */
  readonly skippedAt: EpochMs | null;
}

/** An approval is asked for, and taken, only where the policy requires one. */
export const BY_PERSON = 'only a person may merge it; an approval does not change that';

function byPersonUntil(until: EpochMs): string {
  return `until ${formatInstant(until)} ${BY_PERSON}`;
}

/** Why the raise waits for a person, or for a moment; null where it does not. */
export function unattendedHold({ changes, policy, lease, skippedAt }: Raise, now: EpochMs): MergeHold | null {
  const { lastModified, lastWithdrawal, rejections } = lease;
  const isUnattended = true;
  const ends = [lastModified, lastWithdrawal, lastRejection(rejections)];
  const restsUntil = restUntil(policy.cooldown, ends, { skippedAt, now });
  if (restsUntil !== null) {
    const detail = `the quota cools down, and ${byPersonUntil(restsUntil)}`;
    return { reason: 'CoolingDown', until: restsUntil, detail, isUnattended };
  }
  const memory = { rejections, cooldownSkippedAt: skippedAt };
  const { rejection } = partRejected(withoutEvidence(changes), { observation: { policy }, memory, now });
  if (rejection === null) return null;
  const until = rejection.at + policy.rejectionCooldown;
  const what = amountsText(decidedLimits({ changes }));
  const detail = `${rejection.by} rejected ${what} at ${formatInstant(rejection.at)}, and ${byPersonUntil(until)}`;
  return { reason: 'PreviouslyRejected', until, detail, isUnattended };
}

/** Why what a decision raises is more than its quotas need; null where it is not. */
export function neededHold(
  target: Pick<QuotaTarget, 'namespace' | 'quota'>,
  decision: Pick<Decision, 'changes' | 'batchedQuotas'>,
  limits: NeededLimits,
  policyOf: (quota: string) => ResizePolicy,
): MergeHold | null {
  const unneeded = unneededIn(target.quota, decision, limits, policyOf);
  if (unneeded === null) return null;
  const { quota, change, needed } = unneeded;
  const { resource, to } = change;
  const whose = quota === target.quota ? '' : ` of quota ${quota}`;
  const most = needed === null ? 'nothing needed more' : `${quantityText(resource, needed)} was needed at most`;
  const detail = `${resource}${whose} would become ${quantityText(resource, to)}, ${most} when Headroom read the cluster for it, and ${BY_PERSON}`;
  return { reason: 'MoreThanNeeded', until: null, detail, isUnattended: true };
}

/**
 * What keeps the decision in the Lease from being merged without a person, as the gate will say.
 *
 * @param known what its quotas needed when it was stored.
 */
export function holdOfDecision(
  observation: Omit<QuotaObservation, 'mergeHold'>,
  target: Pick<QuotaTarget, 'namespace' | 'quota'>,
  known: NeededLimits,
  now: EpochMs,
): MergeHold | null {
  const { lease, policy, otherQuotas } = observation;
  const { decision } = lease;
  if (decision === null || decision.merge !== null) return null;
  const rest = unattendedHold(
    { changes: decision.changes, policy, lease, skippedAt: countedSkip(decision, policy) },
    now,
  );
  if (rest !== null) return rest;
  for (const { quota, changes } of decision.batchedQuotas ?? []) {
    const other = otherQuotas.find(({ name }) => name === quota);
    if (other === undefined) continue;
    // Who skips a cooldown does so for one quota.
    const hold = unattendedHold({ changes, policy: other.policy, lease: other.lease, skippedAt: null }, now);
    if (hold !== null) return { ...hold, detail: `quota ${quota}: ${hold.detail}` };
  }
  // What the starters count is not in it yet.
  const isCounted = observation.usage !== 'off';
  if (isCounted || unneededIn(target.quota, decision, known) === null) return null;
  const needing = [
    { ...observation, name: target.quota },
    ...otherQuotas.map((other) => ({ ...observation, ...other })),
  ];
  const needed = needing.flatMap((one) => {
    const requirement = needOf(one, one.lease.lastModified);
    return requirement === null ? [] : [[one.name, decidedLimits(requirement)] as const];
  });
  const policyOf = (quota: string) => needing.find(({ name }) => name === quota)?.policy ?? policy;
  return neededHold(target, decision, maxNeeded(known, Object.fromEntries(needed)), policyOf);
}

/** What holds a merge that Headroom would make and no person is asked about; null where a person decides, or nothing holds it. */
export function holdOfOwnMerge(
  { mergeHold, policy }: Pick<QuotaObservation, 'mergeHold' | 'policy'>,
  { approvalRequirement }: Pick<DecisionFacts, 'approvalRequirement'>,
): MergeHold | null {
  return mergeHold?.isUnattended === true && policy.autoMerge.allowed && approvalRequirement === null
    ? mergeHold
    : null;
}

/**
 * Since when a decision says that an operator skipped the cooldown, as far as that counts: the command has a claimed name, as
 * an approval by a signal has.
 */
export function countedSkip(
  { cooldownSkippedAt }: Pick<DecisionFacts, 'cooldownSkippedAt'>,
  policy: Pick<ResizePolicy, 'guardrail'>,
): EpochMs | null {
  return asksForVerified(policy) ? null : (cooldownSkippedAt ?? null);
}

/** The decision with the moment at which an operator skipped the cooldown, if that was after the one it has: the gate reads it in the Lease. */
export function withSkip<D extends Pick<DecisionFacts, 'cooldownSkippedAt'>>(
  decision: D,
  { cooldownSkippedAt }: Pick<ResizeMemory, 'cooldownSkippedAt'>,
): D {
  const { cooldownSkippedAt: before } = decision;
  const isNewer = cooldownSkippedAt !== null && (before === undefined || cooldownSkippedAt > before);
  return isNewer ? { ...decision, cooldownSkippedAt } : decision;
}

function withoutEvidence(changes: readonly LimitChange[]): Parameters<typeof partRejected>[0] {
  return {
    changes,
    evidence: [],
    notes: [],
    unmetDemand: false,
    demandByMessage: false,
    approvalRequirement: null,
  };
}
