/** The cases of Kubernetes' quota library: the arithmetic of resource lists. */
import * as z from 'zod';
import {
  addLists,
  equalLists,
  exceededKeys,
  maskList,
  maxLists,
  negativeKeys,
  subtractLists,
  subtractListsToZero,
  withoutZeros,
} from '../../../domain/kernel/resource-list.ts';
import { type Adapter, adapter, notApplicable } from '../adapter.ts';
import { sameAmounts, sameJson, sameMembers } from '../compare.ts';

const list = z.record(z.string(), z.string());
const lists = z.object({ a: list, b: list });
/** Kubernetes has sets of names; nothing of Headroom would be asked. */
const setOfNames = notApplicable("an operation on a set of names, for which Headroom has JavaScript's own sets");

export const resourceListKinds: Readonly<Record<string, Adapter>> = {
  quotaEquals: adapter(lists, ({ a, b }) => equalLists(a, b), sameJson),
  quotaLessThanOrEqual: adapter(
    lists,
    ({ a, b }) => ({ ok: exceededKeys(a, b).length === 0, exceeded: exceededKeys(a, b) }),
    sameJson,
  ),
  quotaMax: adapter(lists, ({ a, b }) => maxLists(a, b), sameAmounts),
  quotaAdd: adapter(lists, ({ a, b }) => addLists(a, b), sameAmounts),
  quotaSubtract: adapter(lists, ({ a, b }) => subtractLists(a, b), sameAmounts),
  quotaSubtractNonNegative: adapter(lists, ({ a, b }) => subtractListsToZero(a, b), sameAmounts),
  quotaMask: adapter(
    z.object({ a: list, names: z.array(z.string()) }),
    (input) => maskList(input.a, input.names),
    sameAmounts,
  ),
  quotaRemoveZeros: adapter(z.object({ a: list }), ({ a }) => withoutZeros(a), sameAmounts),
  quotaIsNegative: adapter(z.object({ a: list }), ({ a }) => negativeKeys(a), sameMembers),
  quotaIntersection: setOfNames,
  quotaDifference: setOfNames,
  quotaIsZero: adapter(z.object({ a: list }), ({ a }) => Object.keys(withoutZeros(a)).length === 0, sameJson),
  quotaContains: setOfNames,
  quotaContainsPrefix: setOfNames,
  quotaResourceNames: setOfNames,
  quotaToSet: setOfNames,
};
