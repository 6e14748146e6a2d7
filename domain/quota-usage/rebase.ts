/** Rebases a count on a status that admission has charged since. */
import { addLists, equalLists, negativeKeys, type ResourceList, subtractLists } from '../kernel/resource-list.ts';

/**
 * The right status after the status changed since the count: the new charges of admission plus the corrections of the
 * count. Null when not only admission has written since: admission increases values and never creates one, so otherwise
 * the correction may already be in the status and the usage has to be counted again.
 *
 * An object that was counted before its charge was seen is counted twice until the next count; an object whose charge
 * came first is missing, as in any count.
 *
 * @param counted the right usage by the count.
 * @param before the usage in the status at the time of the count.
 * @param now the present usage in the status.
 */
export function rebase(counted: ResourceList, before: ResourceList, now: ResourceList): ResourceList | null {
  const isSameKeys =
    Object.keys(before).length === Object.keys(now).length &&
    Object.keys(before).every((key) => Object.hasOwn(now, key));
  if (!isSameKeys || negativeKeys(subtractLists(now, before)).length > 0 || equalLists(counted, now)) return null;
  const rebased = addLists(now, subtractLists(counted, before));
  return Object.fromEntries(Object.entries(rebased).filter(([key]) => Object.hasOwn(counted, key)));
}
