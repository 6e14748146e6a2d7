/**
 * Recent charges of admission. Admission charges a quota before it stores the object, and the watch reports the object
 * even later: until then a count without the object is no reason to revert the charge. Quotas and objects come by
 * different watches, so that an object may also be reported before its charge.
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
import { isAtLeast } from '../kernel/resource-version.ts';
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

/** An object that was reported before the charge for it. */
interface EarlyArrival {
  readonly at: EpochMs;
  /** The resourceVersion of the object. Its charge has a smaller one, because admission comes before the store. */
  readonly version: string;
  /** The part of its charge that has settled nothing yet; none is zero. */
  readonly charge: ResourceList;
}

/** The charges of a quota that no object has settled, and the objects that have settled none; the oldest first. */
export interface RecentCharges {
  readonly charges: readonly Charge[];
  readonly early: readonly EarlyArrival[];
}

export const noCharges: RecentCharges = { charges: [], early: [] };

/**
 * Adds a status at a moment. Increases by any writer count: what another starter has counted and written may not be in
 * these caches yet either. Objects that were stored after this version and are already here settle the increase.
 *
 * @param before the earlier usage in the status; null for a quota that was unknown, whose status may have increased
 *   just now.
 * @param version the quota's resourceVersion with this status.
 * @param keepMs how long charges are remembered.
 */
export function noteStatus(
  recent: RecentCharges,
  before: ResourceList | null,
  now: ResourceList,
  { at, version, keepMs }: { readonly at: EpochMs; readonly version: string; readonly keepMs: number },
): RecentCharges {
  const { early } = noteVersion(recent, version);
  const remaining = recent.charges.filter((charge) => at - charge.at < keepMs);
  const [amounts, left] = settle(increase(before ?? {}, now), early);
  if (Object.keys(amounts).length === 0) return { charges: remaining, early: left };
  const end = Math.ceil(at / SPAN_MS) * SPAN_MS;
  const last = remaining.at(-1);
  const charges =
    last?.at === end
      ? [...remaining.slice(0, -1), { at: end, amounts: addLists(last.amounts, amounts) }]
      : [...remaining, { at: end, amounts }];
  return { charges, early: left };
}

/**
 * Records that the quota has been reported up to a version: the charge of an object that is not newer has been reported
 * too, if there was one. Where versions cannot be compared, no object is taken for an early one.
 */
export function noteVersion({ charges, early }: RecentCharges, version: string): RecentCharges {
  return { charges, early: early.filter((arrival) => !isAtLeast(version, arrival.version)) };
}

/**
 * Removes a new object's charge from the oldest charges, so that under constant load only charges in progress remain.
 * What is left of it settles a charge that is reported later, if that was made before the object was stored.
 *
 * @param reportedUpTo the resourceVersion of the quota as it was reported last.
 */
export function noteArrival(
  { charges, early }: RecentCharges,
  charge: ResourceList,
  { at, version, reportedUpTo }: { readonly at: EpochMs; readonly version: string; readonly reportedUpTo: string },
): RecentCharges {
  let rest = charge;
  const left = charges.map((unsettled) => {
    const settled = split(unsettled.amounts, rest);
    rest = settled.rest;
    return { at: unsettled.at, amounts: settled.amounts };
  });
  const unreported = early.filter((arrival) => at - arrival.at < CHARGE_GRACE_MS);
  return {
    charges: left.filter(({ amounts }) => Object.keys(amounts).length > 0),
    early:
      Object.keys(rest).length === 0 || isAtLeast(reportedUpTo, version)
        ? unreported
        : [...unreported, { at, version, charge: rest }],
  };
}

/** Takes early arrivals off an increase. Returns what is left of it, and of them. */
function settle(
  increased: ResourceList,
  early: readonly EarlyArrival[],
): readonly [amounts: ResourceList, early: readonly EarlyArrival[]] {
  let amounts = increased;
  const left = early.map((arrival) => {
    const settled = split(amounts, arrival.charge);
    amounts = settled.amounts;
    return { ...arrival, charge: settled.rest };
  });
  return [amounts, left.filter(({ charge }) => Object.keys(charge).length > 0)];
}

/** What is left of amounts after a charge has settled them, and what is left of the charge; none is zero. */
function split(
  amounts: ResourceList,
  charge: ResourceList,
): { readonly amounts: ResourceList; readonly rest: ResourceList } {
  return {
    amounts: withoutZeros(subtractListsToZero(amounts, maskList(charge, Object.keys(amounts)))),
    rest: withoutZeros(subtractListsToZero(charge, maskList(amounts, Object.keys(charge)))),
  };
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
export function unsettledCharges({ charges }: RecentCharges, since: EpochMs, now: EpochMs): UnsettledCharges {
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
