/** Which rejections are remembered. */
import { compareQuantities } from '../../kernel/quantity.ts';
import { quantityIn } from '../../kernel/resource-list.ts';
import type { Rejection } from './decision.ts';

/** Who rejected what nobody answered in time. */
export const NOBODY = 'nobody';

/** The annotations of a Lease share 256 KiB. */
const MAX_REJECTIONS = 20;

/**
 * The rejections to remember, the oldest first. Where they are too many, those go that a later one covers, unless the earlier
 * one is worth more; then those that are worth least. Nobody's are, because a tenant can wait for as many of them as it likes; then
 * those that a command gave in a claimed name; those that the forge tells of go last.
 */
export function keptRejections(rejections: readonly Rejection[]): readonly Rejection[] {
  const all = rejections.toSorted((a, b) => a.at - b.at);
  if (all.length <= MAX_REJECTIONS) return all;
  const said = all.filter((earlier, index) => !all.slice(index + 1).some((later) => includes(later, earlier)));
  const surplus = Math.max(0, said.length - MAX_REJECTIONS);
  const leaving = new Set(said.toSorted((a, b) => worthOf(a) - worthOf(b)).slice(0, surplus));
  return said.filter((rejection) => !leaving.has(rejection));
}

function worthOf({ by, verified }: Rejection): number {
  if (verified !== undefined) return 2;
  return by === NOBODY ? 0 : 1;
}

/** Whether the later rejection is of all that the earlier one is of, and more. */
function includes(later: Rejection, earlier: Rejection): boolean {
  if (worthOf(earlier) > worthOf(later)) return false;
  return Object.keys(earlier.limits).every(
    (resource) =>
      Object.hasOwn(later.limits, resource) &&
      compareQuantities(quantityIn(later.limits, resource), quantityIn(earlier.limits, resource)) >= 0,
  );
}
