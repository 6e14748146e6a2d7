/** A person's no to some values, and what of a need it stands against. */
import { isZero, parseQuantity } from '../../kernel/quantity.ts';
import { quantityIn } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { LimitChange, Refusal } from '../model/decision.ts';
import type { ResizeMemory } from '../model/memory.ts';
import { gateOf } from './approval-requirement.ts';
import { isIncrementAbove } from '../sizing/requirement.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';

/**
 * Parts a need into what may be asked for and what people refused. A refusal stands for each of its values until the
 * rejection cooldown ends or an operator skips it, and against a greater need up to one increment above: no number of
 * missing pods outvotes a person.
 *
 * @returns `wanted`: the rest of the need, null when nothing is left; `refusal`: the one that stands the longest.
 */
export function partRefused(
  need: Proposal,
  look: QuotaObservation,
  memory: Pick<ResizeMemory, 'rejections' | 'cooldownSkippedAt'>,
  now: EpochMs,
): { readonly wanted: Proposal | null; readonly refusal: Refusal | null } {
  const standing = memory.rejections
    .filter((refusal) => now < refusal.at + look.policy.rejectionCooldown)
    .filter((refusal) => memory.cooldownSkippedAt === null || refusal.at > memory.cooldownSkippedAt)
    .toSorted((a, b) => b.at - a.at);
  const covers = (refusal: Refusal, change: LimitChange): boolean =>
    Object.hasOwn(refusal.limits, change.resource) &&
    !isIncrementAbove(change, quantityIn(refusal.limits, change.resource), look.policy);
  const changes = need.changes.filter((change) => !standing.some((refusal) => covers(refusal, change)));
  if (changes.length === need.changes.length) return { wanted: need, refusal: null };
  const refusal = standing.find((one) => need.changes.some((change) => covers(one, change))) ?? null;
  if (changes.length === 0) return { wanted: null, refusal };
  const unmetDemand = changes.some((change) => !isZero(parseQuantity(change.demand)));
  const wanted: Proposal = {
    ...need,
    changes,
    evidence: unmetDemand ? need.evidence : [],
    unmetDemand,
    demandByMessage: unmetDemand && need.demandByMessage,
    gate: gateOf(look.policy, changes),
  };
  return { wanted, refusal };
}
