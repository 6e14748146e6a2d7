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
import { type Adapter, adapter } from '../adapter.ts';
import { sameAmounts, sameJson, sameMembers } from '../compare.ts';

const list = z.record(z.string(), z.string());
const lists = z.object({ a: list, b: list });
const names = z.object({ a: z.array(z.string()), b: z.array(z.string()) });
const member = z.object({ a: z.array(z.string()), b: z.string() });

export const quotaKinds: Readonly<Record<string, Adapter>> = {
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
  quotaIntersection: adapter(names, ({ a, b }) => [...new Set(a)].filter((name) => b.includes(name)), sameMembers),
  quotaDifference: adapter(names, ({ a, b }) => [...new Set(a)].filter((name) => !b.includes(name)), sameMembers),
  quotaIsZero: adapter(z.object({ a: list }), ({ a }) => Object.keys(withoutZeros(a)).length === 0, sameJson),
  quotaContains: adapter(member, ({ a, b }) => a.includes(b), sameJson),
  quotaContainsPrefix: adapter(member, ({ a, b }) => a.some((prefix) => b.startsWith(prefix)), sameJson),
  quotaResourceNames: adapter(z.object({ a: list }), ({ a }) => Object.keys(a), sameMembers),
  quotaToSet: adapter(z.object({ a: z.array(z.string()) }), ({ a }) => [...new Set(a)], sameMembers),
};
