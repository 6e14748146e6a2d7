/** The cases of Kubernetes' own quota controller: what a sync writes, what goes first, what is monitored. */
import * as z from 'zod';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import { calculateUsage, type ObjectsOf } from '../../../domain/quota-usage/calculate.ts';
import type { CountedObject, UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import { type Discovery, type Monitored, nextMonitors } from '../../../domain/quota-usage/monitors.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { isUrgent, desiredStatus } from '../../../domain/quota-usage/status.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameAmounts, sameMembers } from '../compare.ts';

const list = z.record(z.string(), z.string());

const quota = z
  .object({
    metadata: z.object({ name: z.string(), namespace: z.string() }),
    spec: z.object({
      hard: list.optional(),
      scopes: z.array(z.string()).optional(),
      scopeSelector: z
        .object({
          matchExpressions: z
            .array(
              z.object({
                scopeName: z.string(),
                operator: z.string().optional(),
                values: z.array(z.string()).optional(),
              }),
            )
            .optional(),
        })
        .optional(),
    }),
    status: z.object({ hard: list.optional(), used: list.optional() }).optional(),
  })
  .transform(
    ({ metadata, spec, status = {} }): CachedQuota => ({ ...metadata, uid: '1', resourceVersion: '1', spec, status }),
  );

/** The cases have no devices, and their clock does not matter. */
const context: UsageContext = { now: 0, deviceClasses: new Map(), podNamed: () => undefined };

/** The texts that a case writes about what fails, under whatever name. */
function failures(input: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(input).filter(([key]) => /error|fail/i.test(key)));
}

/** One resource has objects, the others have none, and those that the case says so of cannot be listed. */
function listing(pods: readonly CountedObject[], failing: string): ObjectsOf {
  return (resource) => {
    const name = groupResourceName(resource);
    if (new RegExp(`\\b${name}\\b`).test(failing)) return { unavailable: 'error listing' };
    return { objects: name === 'pods' ? pods : [] };
  };
}

const synced = z.object({
  statusHard: list.nullish(),
  statusUsed: list.nullish(),
  updateStatusCalled: z.boolean(),
  error: z.string().nullish(),
});

/** A group-version: `apps/v1`, `v1`. */
const GROUP_VERSION = /(?:[a-z0-9.-]+\/)?\bv[0-9]+(?:(?:alpha|beta)[0-9]+)?\b/g;

/** The group-versions of resources that a case names without one. */
const GROUP_OF: Readonly<Record<string, string>> = { deployments: 'apps/v1' };

function versioned(resource: string, groupVersion: string): Monitored {
  const [version = '', group = ''] = groupVersion.split('/').toReversed();
  return { group, version, resource };
}

const discoveryInput = z.object({
  discovered: z.record(z.string(), z.array(z.string())).optional(),
  error: z.unknown().optional(),
  previousMonitors: z.array(z.string()),
});

/** An error that names group-versions is about those alone, unless nothing at all was found. */
function roundOf({ discovered = {}, error }: z.infer<typeof discoveryInput>): Discovery {
  const reason = JSON.stringify(error ?? null);
  const failed = [...reason.matchAll(GROUP_VERSION)].map(([text]) => text.replace(/^core\//, ''));
  const resources = Object.entries(discovered).flatMap(([groupVersion, names]) =>
    names.map((name) => ({
      ...versioned(name, groupVersion),
      namespaced: true,
      verbs: ['create', 'delete', 'list', 'watch'],
    })),
  );
  const isTotal = error !== undefined && (failed.length === 0 || resources.length === 0);
  return isTotal ? { kind: 'failed', reason } : { kind: 'discovered', resources, failed };
}

export const quotaControllerKinds: Readonly<Record<string, Adapter>> = {
  syncResourceQuota: adapter(
    z.looseObject({ quota, pods: z.array(z.custom<CountedObject>((value) => typeof value === 'object')).optional() }),
    (input) => {
      const count = calculateUsage(
        input.quota.spec,
        staticEvaluators,
        listing(input.pods ?? [], failures(input)),
        context,
      );
      const { hard, used, isWritten } = desiredStatus(input.quota, count);
      return { hard, used, isWritten, reasons: count.unmeasured.map(({ reason }) => reason) };
    },
    (expected, got) => {
      const wanted = synced.parse(expected);
      const given = z
        .object({ hard: list, used: list, isWritten: z.boolean(), reasons: z.array(z.string()) })
        .parse(got);
      const { error } = wanted;
      return (
        sameAmounts(wanted.statusHard ?? {}, given.hard) &&
        sameAmounts(wanted.statusUsed ?? {}, given.used) &&
        wanted.updateStatusCalled === !given.isWritten &&
        (error ? given.reasons.some((reason) => error.includes(reason)) : given.reasons.length === 0)
      );
    },
  ),
  addQuotaQueue: adapter(
    z.object({ quota }),
    (input) => (isUrgent(input.quota, staticEvaluators, context) ? 'priority' : 'ordinary'),
    // Kubernetes calls its queue of urgent quotas "missing usage".
    (expected, got) =>
      /missingUsage|priority/i.test(z.object({ queue: z.string() }).parse(expected).queue) === (got === 'priority'),
  ),
  discoverySync: adapter(
    discoveryInput,
    (input) => {
      const groupVersions = Object.entries(input.discovered ?? {}).flatMap(([groupVersion, names]) =>
        names.map((name) => [name, groupVersion] as const),
      );
      const existing = new Map([...Object.entries(GROUP_OF), ...groupVersions]);
      const previous = input.previousMonitors.map((name) => versioned(name, existing.get(name) ?? 'v1'));
      return nextMonitors(previous, roundOf(input)).map(({ resource }) => resource);
    },
    // Headroom has no lock that discovery could hold: counts go on while a cache is being filled.
    (expected, got) => sameMembers(z.object({ monitors: z.array(z.string()) }).parse(expected).monitors, got),
  ),
};
