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
const lists = z.strictObject({ a: list, b: list });
const one = z.strictObject({ a: list });
const names = z.array(z.string());

/** Kubernetes has sets of names; nothing of Headroom would be asked. */
const setOfNames = notApplicable("an operation on a set of names, for which Headroom has JavaScript's own sets");

export const resourceListKinds: Readonly<Record<string, Adapter>> = {
  quotaEquals: adapter(lists, z.boolean(), ({ a, b }) => equalLists(a, b), sameJson),
  quotaLessThanOrEqual: adapter(
    lists,
    z.strictObject({ ok: z.boolean(), exceeded: names }),
    ({ a, b }) => ({ ok: exceededKeys(a, b).length === 0, exceeded: exceededKeys(a, b) }),
    sameJson,
  ),
  quotaMax: adapter(lists, list, ({ a, b }) => maxLists(a, b), sameAmounts),
  quotaAdd: adapter(lists, list, ({ a, b }) => addLists(a, b), sameAmounts),
  quotaSubtract: adapter(lists, list, ({ a, b }) => subtractLists(a, b), sameAmounts),
  quotaSubtractNonNegative: adapter(lists, list, ({ a, b }) => subtractListsToZero(a, b), sameAmounts),
  quotaMask: adapter(z.strictObject({ a: list, names }), list, (input) => maskList(input.a, input.names), sameAmounts),
  quotaRemoveZeros: adapter(one, list, ({ a }) => withoutZeros(a), sameAmounts),
  quotaIsNegative: adapter(one, names, ({ a }) => negativeKeys(a), sameMembers),
  quotaIntersection: setOfNames,
  quotaDifference: setOfNames,
  quotaIsZero: adapter(one, z.boolean(), ({ a }) => Object.keys(withoutZeros(a)).length === 0, sameJson),
  quotaContains: setOfNames,
  quotaContainsPrefix: setOfNames,
  quotaResourceNames: setOfNames,
  quotaToSet: setOfNames,
};
