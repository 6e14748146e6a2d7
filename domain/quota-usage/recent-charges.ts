/**
 * What admission has added to a quota's status lately. It charges a quota before it stores the object, and the watch of the
 * objects tells of it later still: until then a count that lacks the object is no reason to take the charge back.
 */
import { compareQuantities, addQuantities, parseQuantity, subtractQuantities } from '../kernel/quantity.ts';
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
 * Milliseconds for which a charge stands although its object was not counted. Kubernetes' service level objectives give a
 * call that changes something one second at the 99th percentile; the watch of the objects gets as long again behind the
 * quota's own. A charge for an object that was never made is taken back that much later.
 */
export const CHARGE_GRACE_MS = 2_000;

/** Milliseconds: charges of one such span are remembered as one, so that a thousand in a second are ten. */
const SPAN_MS = 100;

interface Charge {
  /** The end of the span in which the status rose. */
  readonly at: EpochMs;
  /** By how much, by resource; none is zero. */
  readonly amounts: ResourceList;
}

/** The oldest first. */
export type RecentCharges = readonly Charge[];

/**
 * Takes in a status at a moment. Whoever raised it: what another starter has counted and written may not be in these caches
 * yet either.
 *
 * @param before what the status said until now; null for a quota that was not known, whose status may have risen just now.
 * @param keepMs how long charges are remembered.
 */
export function noteStatus(
  charges: RecentCharges,
  before: ResourceList | null,
  now: ResourceList,
  { at, keepMs }: { readonly at: EpochMs; readonly keepMs: number },
): RecentCharges {
  const remaining = charges.filter((one) => at - one.at < keepMs);
  const amounts = increase(before ?? {}, now);
  if (Object.keys(amounts).length === 0) return remaining;
  const end = Math.ceil(at / SPAN_MS) * SPAN_MS;
  const last = remaining.at(-1);
  return last?.at === end
    ? [...remaining.slice(0, -1), { at: end, amounts: addLists(last.amounts, amounts) }]
    : [...remaining, { at: end, amounts }];
}

/**
 * An object came that the quota counts: it settles the oldest charges, as far as it is charged itself. Of what is charged all
 * the time only what is under way stands then. One that comes before its charge is told of settles nothing for it.
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

/** By how much each amount has risen; only what has. */
function increase(before: ResourceList, now: ResourceList): ResourceList {
  return resourceList(
    Object.entries(now).flatMap(([resource, text]) => {
      const difference = subtractQuantities(parseQuantity(text), quantityIn(before, resource));
      return difference.nano > 0n ? [[resource, difference] as const] : [];
    }),
  );
}

/**
 * The moment after which a charge may not be in the caches yet. A watch that is interrupted tells nothing of what came since
 * it last was connected, and gets as long as any other to tell it when it is connected again.
 */
export function unsettledSince(connections: readonly WatchConnection[], now: EpochMs): EpochMs {
  const reportedUntil = connections.map(({ connectedSince, lastConnectedAt }) =>
    connectedSince === null || now - connectedSince < CHARGE_GRACE_MS ? lastConnectedAt : now,
  );
  return Math.min(now, ...reportedUntil) - CHARGE_GRACE_MS;
}

/** What a quota was charged lately that may not be in the caches yet. */
export interface UnsettledCharges {
  readonly amounts: ResourceList;
  /** When it is worth while to count again, because less of it is; null while there is none. */
  readonly countAgainAt: EpochMs | null;
}

/** The charges after a moment. */
export function unsettledCharges(charges: RecentCharges, since: EpochMs, now: EpochMs): UnsettledCharges {
  const unsettled = charges.filter(({ at }) => at > since);
  const [oldest] = unsettled;
  if (oldest === undefined) return { amounts: {}, countAgainAt: null };
  const amounts = unsettled.map((one) => one.amounts).reduce(addLists);
  // Later where a watch is interrupted, for as long as it is.
  const graceEndsAt = oldest.at + CHARGE_GRACE_MS;
  return { amounts, countAgainAt: graceEndsAt > now ? graceEndsAt : now + CHARGE_GRACE_MS };
}

/**
 * The count with what may be missing in it, as far as the status says more than was counted: what was freed besides is freed,
 * and a status that has not risen lately is not held up.
 */
export function withUnsettledCharges(count: UsageCount, status: ResourceList, unsettled: ResourceList): UsageCount {
  const used = Object.entries(count.used).map(([resource, text]) => {
    const [counted, reported] = [parseQuantity(text), quantityIn(status, resource)];
    if (compareQuantities(counted, reported) >= 0 || !Object.hasOwn(unsettled, resource))
      return [resource, counted] as const;
    const most = addQuantities(counted, quantityIn(unsettled, resource));
    return [resource, compareQuantities(most, reported) < 0 ? most : reported] as const;
  });
  return { ...count, used: resourceList(used) };
}
