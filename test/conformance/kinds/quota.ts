/** The cases of Kubernetes' quota library and evaluators, as far as Headroom charges pods and claims. */
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
import { type Claim, claimCharge } from '../../../domain/quota-usage/claim-charge.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';
import { podCharge, podLimits, podRequests, type PodResourcesOptions } from '../../../domain/quota-usage/pod-charge.ts';
import { podMatchesScope } from '../../../domain/quota-usage/scopes.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameAmounts, sameJson, sameMembers } from '../compare.ts';

const list = z.record(z.string(), z.string());
const lists = z.object({ a: list, b: list });
const names = z.object({ a: z.array(z.string()), b: z.array(z.string()) });

/** A pod as a case writes it. Its shape is the API server's business, not the runner's. */
const pod = z.custom<Pod>((value) => typeof value === 'object');

/** The moment that "now" means in the cases. */
const NOW = Date.UTC(2026, 0, 1);

/** `now-60s`, `now+5s` or `now` as an instant; anything else as it is. */
function instant(text: unknown): unknown {
  const relative = typeof text === 'string' ? /^now(?:([+-][0-9]+)s)?$/.exec(text) : null;
  return relative === null ? text : new Date(NOW + Number(relative[1] ?? 0) * 1000).toISOString();
}

function inTime(given: Pod): Pod {
  const deletionTimestamp = instant(given.metadata?.deletionTimestamp);
  return deletionTimestamp === undefined
    ? given
    : { ...given, metadata: { ...given.metadata, deletionTimestamp: deletionTimestamp as string } };
}

/** Pod-level resources are part of every cluster that Headroom supports; a case without them is a pod without them. */
function ungated(given: Pod, gates: Readonly<Record<string, boolean>> | undefined): Pod {
  if (gates?.['PodLevelResources'] !== false || given.spec === undefined) {
    return given;
  }
  const { resources: _, ...spec } = given.spec;
  return { ...given, spec };
}

const options = z
  .object({
    useStatusResources: z.boolean().optional(),
    skipPodLevelResources: z.boolean().optional(),
    excludeOverhead: z.boolean().optional(),
  })
  .strict();

function optionsOf(given: z.infer<typeof options>): PodResourcesOptions {
  return {
    status: given.useStatusResources ?? false,
    podLevel: given.skipPodLevelResources !== true,
    overhead: given.excludeOverhead !== true,
  };
}

const podWithOptions = z.object({ pod, options });
const selector = z.object({
  scopeName: z.string(),
  operator: z.string().optional(),
  values: z.array(z.string()).optional(),
});

const bothSides = z.object({ requests: list, limits: list });

export const quotaKinds: Readonly<Record<string, Adapter>> = {
  podUsage: adapter(
    z.object({ pod, featureGates: z.record(z.string(), z.boolean()).optional() }),
    (input) => podCharge(inTime(ungated(input.pod, input.featureGates)), NOW),
    sameAmounts,
  ),
  podRequests: adapter(podWithOptions, (input) => podRequests(input.pod, optionsOf(input.options)), sameAmounts),
  podLimits: adapter(podWithOptions, (input) => podLimits(input.pod, optionsOf(input.options)), sameAmounts),
  podRequestsAndLimits: adapter(
    podWithOptions,
    (input) => ({
      requests: podRequests(input.pod, optionsOf(input.options)),
      limits: podLimits(input.pod, optionsOf(input.options)),
    }),
    (expected, got) => {
      const [wanted, given] = [bothSides.parse(expected), bothSides.parse(got)];
      return sameAmounts(wanted.requests, given.requests) && sameAmounts(wanted.limits, given.limits);
    },
  ),
  podMatchingScopes: adapter(
    z.object({ pod, selectors: z.array(selector) }),
    (input) => input.selectors.filter((one) => podMatchesScope(one, input.pod)),
    sameJson,
  ),
  pvcUsage: adapter(
    z.object({ pvc: z.custom<Claim>((value) => typeof value === 'object') }),
    ({ pvc }) => claimCharge(pvc),
    sameAmounts,
  ),
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
};
