/**
 * Recent charges of admission. Admission charges a quota before it stores the object, and the watch reports the object
 * even later: until then a count without the object is no reason to revert the charge.
 */
import {
  addQuantities,
  compareQuantities,
  type Quantity,
  quantityOf,
  quantityOrNull,
  subtractQuantities,
} from '../kernel/quantity.ts';
import {
  addLists,
  maskList,
  type ResourceList,
  quantityIn,
  resourceList,
  subtractListsToZero,
  withoutZeros,
} from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { WatchConnection } from '../kernel/watch-connection.ts';
import type { UsageCount } from './calculate.ts';

/**
 * Milliseconds for which a charge holds although its object was not counted. Kubernetes' service level objectives allow
 * one second for a write at the 99th percentile; the same again is allowed for the watch. A charge for an object that
 * was never created is reverted that much later.
 */
export const CHARGE_GRACE_MS = 2_000;

/** Milliseconds: charges within one such span are combined, so that a thousand per second need ten entries. */
const SPAN_MS = 100;

interface Charge {
  /** The end of the span in which the status increased. */
  readonly at: EpochMs;
  /** The increase by resource; none is zero. */
  readonly amounts: ResourceList;
}

/** The oldest first. */
export type RecentCharges = readonly Charge[];

/**
 * Adds a status at a moment. Increases by any writer count: what another starter has counted and written may not be in
 * these caches yet either.
 *
 * @param before the earlier usage in the status; null for a quota that was unknown, whose status may have increased
 *   just now.
 * @param keepMs how long charges are remembered.
 */
export function noteStatus(
  charges: RecentCharges,
  before: ResourceList | null,
  now: ResourceList,
  { at, keepMs }: { readonly at: EpochMs; readonly keepMs: number },
): RecentCharges {
  const remaining = charges.filter((charge) => at - charge.at < keepMs);
  const amounts = increase(before ?? {}, now);
  if (Object.keys(amounts).length === 0) return remaining;
  const end = Math.ceil(at / SPAN_MS) * SPAN_MS;
  const last = remaining.at(-1);
  return last?.at === end
    ? [...remaining.slice(0, -1), { at: end, amounts: addLists(last.amounts, amounts) }]
    : [...remaining, { at: end, amounts }];
}

/**
 * Removes a new object's charge from the oldest charges, so that under constant load only charges in progress remain.
 * An object that arrives before its charge is reported removes nothing.
 */
export function noteArrival(charges: RecentCharges, charge: ResourceList): RecentCharges {
  let rest = charge;
  const left = charges.map(({ at, amounts }) => {
    const unsettled = subtractListsToZero(amounts, maskList(rest, Object.keys(amounts)));
    rest = subtractListsToZero(rest, maskList(amounts, Object.keys(rest)));
    return { at, amounts: withoutZeros(unsettled) };
  });
  return left.filter(({ amounts }) => Object.keys(amounts).length > 0);
}

/** The increase of each amount; only positive ones. From one that cannot be read, the whole amount is an increase. */
function increase(before: ResourceList, now: ResourceList): ResourceList {
  return resourceList(
    Object.entries(now).flatMap(([resource, text]) => {
      const amount = quantityOrNull(text);
      if (amount === null) return [];
      const difference = subtractQuantities(amount, quantityOrNull(before[resource] ?? '0') ?? quantityOf(0n));
      return difference.nano > 0n ? [[resource, difference] as const] : [];
    }),
  );
}

/**
 * The moment after which charges may not be in the caches yet. An interrupted watch reports nothing since it was last
 * connected; once connected again it gets the same grace time as any other.
 */
export function unsettledSince(connections: readonly WatchConnection[], now: EpochMs): EpochMs {
  const reportedUntil = connections.map(({ connectedSince, lastConnectedAt }) =>
    connectedSince === null || now - connectedSince < CHARGE_GRACE_MS ? lastConnectedAt : now,
  );
  return Math.min(now, ...reportedUntil) - CHARGE_GRACE_MS;
}

/** Charges of a quota that may not be in the caches yet. */
export interface UnsettledCharges {
  readonly amounts: ResourceList;
  /** When counting again is worthwhile because some of them are settled; null when there are none. */
  readonly countAgainAt: EpochMs | null;
}

/** The charges after a moment. */
export function unsettledCharges(charges: RecentCharges, since: EpochMs, now: EpochMs): UnsettledCharges {
  const unsettled = charges.filter(({ at }) => at > since);
  const [oldest] = unsettled;
  if (oldest === undefined) return { amounts: {}, countAgainAt: null };
  const amounts = unsettled.map((charge) => charge.amounts).reduce(addLists);
  // Later while a watch is interrupted.
  const graceEndsAt = oldest.at + CHARGE_GRACE_MS;
  return { amounts, countAgainAt: graceEndsAt > now ? graceEndsAt : now + CHARGE_GRACE_MS };
}

/**
 * The count plus charges that may be missing in it, as far as the status is above the count. Freed usage is thus not
 * delayed, nor is a status that has not increased recently.
 */
export function withUnsettledCharges(count: UsageCount, status: ResourceList, unsettled: ResourceList): UsageCount {
  const raised = Object.keys(unsettled).flatMap((resource): (readonly [string, Quantity])[] => {
    const counted = quantityOrNull(count.used[resource] ?? '');
    const reported = quantityOrNull(status[resource] ?? '0');
    if (counted === null || reported === null || compareQuantities(counted, reported) >= 0) return [];
    const most = addQuantities(counted, quantityIn(unsettled, resource));
    return [[resource, compareQuantities(most, reported) < 0 ? most : reported]];
  });
  return raised.length === 0 ? count : { ...count, used: { ...count.used, ...resourceList(raised) } };
}
