/** A count, put upon a status that admission has gone on charging since. */
import { addLists, maskList, type ResourceList, subtractLists } from '../kernel/resource-list.ts';

/**
 * What the status should say when it is not what it was counted against any more: what admission has charged meanwhile, and
 * what the count found to be different. A key that either of the two statuses lacks is as it was counted.
 *
 * An object that the count had seen already, and whose charge had not been seen, is in both and counts twice until the next
 * count; one whose charge was there before the object is missing in both, as it is in any count.
 *
 * @param counted what the status was to say.
 * @param before what it said when that was counted.
 * @param now what it says.
 */
export function rebase(counted: ResourceList, before: ResourceList, now: ResourceList): ResourceList {
  const keys = Object.keys(counted).filter((key) => Object.hasOwn(before, key) && Object.hasOwn(now, key));
  const difference = subtractLists(maskList(counted, keys), maskList(before, keys));
  return { ...counted, ...addLists(maskList(now, keys), difference) };
}
