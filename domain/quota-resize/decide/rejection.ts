/** A person's rejection of values, and which part of a requirement it covers. */
import { isZero, parseQuantity } from '../../kernel/quantity.ts';
import { quantityIn } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { LimitChange, Rejection } from '../model/decision.ts';
import { approvalRequirementOf } from './approval-requirement.ts';
import { toleranceFor } from '../policy/policy.ts';
import { isIncrementAbove } from '../sizing/requirement.ts';
import type { ResizeMemory } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';

/**
 * Splits a requirement into the part that may be proposed and the part that people rejected. A rejection covers each of
 * its values until the rejection cooldown ends or an operator skips it. It also covers a greater requirement up to one
 * increment above, the policy's or the installation's, whichever is greater: no number of missing pods overrules a person,
 * and neither does an annotation.
 *
 * @returns `wanted`: the rest of the requirement, null when nothing is left; `rejection`: the latest one that covers a
 * value.
 */
export function partRejected(
  requirement: Proposal,
  {
    observation,
    memory,
    now,
  }: {
    readonly observation: Pick<QuotaObservation, 'policy'>;
    readonly memory: Pick<ResizeMemory, 'rejections' | 'cooldownSkippedAt'>;
    readonly now: EpochMs;
  },
): { readonly wanted: Proposal | null; readonly rejection: Rejection | null } {
  const inForce = memory.rejections
    .filter((rejection) => now < rejection.at + observation.policy.rejectionCooldown)
    .filter((rejection) => memory.cooldownSkippedAt === null || rejection.at > memory.cooldownSkippedAt)
    .toSorted((a, b) => b.at - a.at);
  const { policy } = observation;
  const covers = (rejection: Rejection, change: LimitChange): boolean => {
    const { resource } = change;
    if (!Object.hasOwn(rejection.limits, resource)) return false;
    return !isIncrementAbove(change, quantityIn(rejection.limits, resource), policy, toleranceFor(policy, resource));
  };
  const changes = requirement.changes.filter((change) => !inForce.some((rejection) => covers(rejection, change)));
  if (changes.length === requirement.changes.length) return { wanted: requirement, rejection: null };
  const rejection =
    inForce.find((candidate) => requirement.changes.some((change) => covers(candidate, change))) ?? null;
  if (changes.length === 0) return { wanted: null, rejection };
  const unmetDemand = changes.some((change) => !isZero(parseQuantity(change.demand)));
  const demandByMessage = unmetDemand && requirement.demandByMessage;
  const wanted: Proposal = {
    ...requirement,
    changes,
    evidence: unmetDemand ? requirement.evidence : [],
    unmetDemand,
    demandByMessage,
    approvalRequirement: approvalRequirementOf(observation.policy, changes, demandByMessage),
  };
  return { wanted, rejection };
}

/** When the last decision was rejected; null where none was. */
export function lastRejection(rejections: readonly Rejection[]): EpochMs | null {
  return rejections.reduce<EpochMs | null>((last, { at }) => (last === null ? at : Math.max(last, at)), null);
}
