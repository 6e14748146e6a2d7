/**
 * Recent charges of admission. Admission charges a quota before it stores the object, and the watch reports the object
 * even later: until then a count without the object is no reason to revert the charge. Quotas and objects come by
 * different watches, so that an object may also be reported before its charge, and one watch may be silent while the other
 * lives. So a charge stands until its object has come, or the caches are known to hold everything that was stored up to a
 * moment after it.
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
import type { MonotonicMs } from '../kernel/time.ts';
import type { UsageCount } from './calculate.ts';

/**
 * Milliseconds from the report of a charge to when its object is stored, if it ever is. Kubernetes' service level objectives
 * allow one second for a write at the 99th percentile; this is twice as long. A charge for an object that was never created
 * is reverted that much later.
 */
export const CHARGE_GRACE_MS = 2_000;

/** Milliseconds: charges within one such span are combined, so that a thousand per second need ten entries. */
const SPAN_MS = 100;
/** Beyond so many entries two neighbours are combined, and stand for as long as the newer one: a silent watch may last. */
const MOST_CHARGES = 64;

interface Charge {
  /** The end of the span in which the status increased. */
  readonly at: MonotonicMs;
  /** The increase by resource; none is zero. */
  readonly amounts: ResourceList;
}

/** An object that was reported before the charge for it. */
interface EarlyArrival {
  readonly at: MonotonicMs;
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
 */
export function noteStatus(
  recent: RecentCharges,
  before: ResourceList | null,
  now: ResourceList,
  { at, version }: { readonly at: MonotonicMs; readonly version: string },
): RecentCharges {
  const { charges, early } = noteVersion(recent, version);
  const [amounts, left] = settle(increase(before ?? {}, now), early);
  if (Object.keys(amounts).length === 0) return { charges, early: left };
  const end = Math.ceil(at / SPAN_MS) * SPAN_MS;
  const last = charges.at(-1);
  return last?.at === end
    ? { charges: [...charges.slice(0, -1), combined(last, { at: end, amounts })], early: left }
    : { charges: bounded([...charges, { at: end, amounts }]), early: left };
}

/**
 * Combines the two neighbours that then span the least. So those of a long time are evenly spread over it, and the older ones
 * can be confirmed while more come; the oldest stays as it is, because its own span may be of any length.
 */
function bounded(charges: readonly Charge[]): readonly Charge[] {
  if (charges.length <= MOST_CHARGES) return charges;
  const spans = charges.slice(2).map(({ at }, index) => at - (charges[index]?.at ?? at));
  const earlier = 1 + spans.indexOf(Math.min(...spans));
  const both = charges.slice(earlier, earlier + 2).reduce(combined);
  return charges.toSpliced(earlier, 2, both);
}

function combined(earlier: Charge, later: Charge): Charge {
  return { at: later.at, amounts: addLists(earlier.amounts, later.amounts) };
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
  { at, version, reportedUpTo }: { readonly at: MonotonicMs; readonly version: string; readonly reportedUpTo: string },
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
 * Without the charges whose objects would have been counted by now, because everything is in the caches that was stored up to
 * a moment by which they are stored, if they ever are.
 *
 * @param currentAsOf up to which moment the caches that a resource is counted from hold what was stored.
 */
export function withoutConfirmed(
  { charges, early }: RecentCharges,
  currentAsOf: (resource: string) => MonotonicMs,
): RecentCharges {
  const moments = new Map<string, MonotonicMs>();
  const asOf = (resource: string): MonotonicMs => {
    const known = moments.get(resource) ?? currentAsOf(resource);
    moments.set(resource, known);
    return known;
  };
  const left = charges.map(({ at, amounts }) => {
    const unconfirmed = Object.keys(amounts).filter((resource) => asOf(resource) < at + CHARGE_GRACE_MS);
    return { at, amounts: maskList(amounts, unconfirmed) };
  });
  return { charges: left.filter(({ amounts }) => Object.keys(amounts).length > 0), early };
}

/** The charges that may not be in the caches yet. */
export function unsettledCharges({ charges }: RecentCharges): ResourceList {
  return charges.map(({ amounts }) => amounts).reduce(addLists, {});
}

/** When the first of the charges of these resources can be confirmed; null without any. */
export function confirmableFrom({ charges }: RecentCharges, resources: readonly string[]): MonotonicMs | null {
  const oldest = charges.find(({ amounts }) => resources.some((resource) => Object.hasOwn(amounts, resource)));
  return oldest === undefined ? null : oldest.at + CHARGE_GRACE_MS;
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
