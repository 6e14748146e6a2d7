/** A count, put upon a status that admission has gone on charging since. */
import { addLists, equalLists, negativeKeys, type ResourceList, subtractLists } from '../kernel/resource-list.ts';

/**
 * What the status should say when it is not what it was counted against any more: what admission has charged meanwhile, and
 * what the count found to be different. Null when not only admission has written since, which adds to numbers and never
 * makes one: then the difference may be in the status already, and has to be counted anew.
 *
 * An object that the count had seen already, and whose charge had not been seen, is in both and counts twice until the next
 * count; one whose charge was there before the object is missing in both, as it is in any count.
 *
 * @param counted what the status was to say.
 * @param before what it said when that was counted.
 * @param now what it says.
 */
export function rebase(counted: ResourceList, before: ResourceList, now: ResourceList): ResourceList | null {
  const isSameKeys =
    Object.keys(before).length === Object.keys(now).length &&
    Object.keys(before).every((key) => Object.hasOwn(now, key));
  if (!isSameKeys || negativeKeys(subtractLists(now, before)).length > 0 || equalLists(counted, now)) return null;
  const rebased = addLists(now, subtractLists(counted, before));
  return Object.fromEntries(Object.entries(rebased).filter(([key]) => Object.hasOwn(counted, key)));
}
