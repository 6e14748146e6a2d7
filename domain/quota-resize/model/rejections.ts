/** Which rejections are remembered. */
import { compareQuantities } from '../../kernel/quantity.ts';
import { quantityIn } from '../../kernel/resource-list.ts';
import type { Rejection } from './decision.ts';

/** Who rejected what nobody answered in time. */
export const NOBODY = 'nobody';

/** The annotations of a Lease share 256 KiB. */
const MAX_REJECTIONS = 20;

/**
 * The rejections to remember, the oldest first. Where they are too many, those go that a later one covers, unless only the
 * earlier one is a person's; then those that no person gave, because a tenant can wait for as many of them as it likes.
 */
export function keptRejections(rejections: readonly Rejection[]): readonly Rejection[] {
  const all = rejections.toSorted((a, b) => a.at - b.at);
  if (all.length <= MAX_REJECTIONS) return all;
  const said = all.filter((earlier, index) => !all.slice(index + 1).some((later) => includes(later, earlier)));
  const surplus = Math.max(0, said.length - MAX_REJECTIONS);
  const leaving = new Set([...said.filter(isOfNobody), ...said.filter(isOfPerson)].slice(0, surplus));
  return said.filter((rejection) => !leaving.has(rejection));
}

function isOfNobody({ by }: Rejection): boolean {
  return by === NOBODY;
}

function isOfPerson(rejection: Rejection): boolean {
  return !isOfNobody(rejection);
}

/** Whether the later rejection is of all that the earlier one is of, and more. */
function includes(later: Rejection, earlier: Rejection): boolean {
  if (isOfPerson(earlier) && isOfNobody(later)) return false;
  return Object.keys(earlier.limits).every(
    (resource) =>
      Object.hasOwn(later.limits, resource) &&
      compareQuantities(quantityIn(later.limits, resource), quantityIn(earlier.limits, resource)) >= 0,
  );
}
