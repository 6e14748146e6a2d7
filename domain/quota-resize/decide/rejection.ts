/** A person's no to some values, and what of a need it stands against. */
import { isZero, parseQuantity } from '../../kernel/quantity.ts';
import { quantityIn } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { LimitChange, Rejection } from '../model/decision.ts';
import type { ResizeMemory } from '../model/memory.ts';
import { approvalRequirementOf } from './approval-requirement.ts';
import { isIncrementAbove } from '../sizing/requirement.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';

/**
 * Parts a need into what may be asked for and what people refused. A rejection stands for each of its values until the
 * rejection cooldown ends or an operator skips it, and against a greater need up to one increment above: no number of
 * missing pods outvotes a person.
 *
 * @returns `wanted`: the rest of the need, null when nothing is left; `rejection`: the one that stands the longest.
 */
export function partRejected(
  requirement: Proposal,
  observation: QuotaObservation,
  memory: Pick<ResizeMemory, 'rejections' | 'cooldownSkippedAt'>,
  now: EpochMs,
): { readonly wanted: Proposal | null; readonly rejection: Rejection | null } {
  const inForce = memory.rejections
    .filter((rejection) => now < rejection.at + observation.policy.rejectionCooldown)
    .filter((rejection) => memory.cooldownSkippedAt === null || rejection.at > memory.cooldownSkippedAt)
    .toSorted((a, b) => b.at - a.at);
  const covers = (rejection: Rejection, change: LimitChange): boolean =>
    Object.hasOwn(rejection.limits, change.resource) &&
    !isIncrementAbove(change, quantityIn(rejection.limits, change.resource), observation.policy);
  const changes = requirement.changes.filter((change) => !inForce.some((rejection) => covers(rejection, change)));
  if (changes.length === requirement.changes.length) return { wanted: requirement, rejection: null };
  const rejection = inForce.find((one) => requirement.changes.some((change) => covers(one, change))) ?? null;
  if (changes.length === 0) return { wanted: null, rejection };
  const unmetDemand = changes.some((change) => !isZero(parseQuantity(change.demand)));
  const wanted: Proposal = {
    ...requirement,
    changes,
    evidence: unmetDemand ? requirement.evidence : [],
    unmetDemand,
    demandByMessage: unmetDemand && requirement.demandByMessage,
    approvalRequirement: approvalRequirementOf(observation.policy, changes),
  };
  return { wanted, rejection };
}
