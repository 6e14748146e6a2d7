/** The cases of Kubernetes' own quota controller: what a sync writes, what goes first, what is monitored. */
import * as z from 'zod';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import { calculateUsage, type ObjectsOf } from '../../../domain/quota-usage/calculate.ts';
import type { CountedObject, UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import { type Discovery, type Monitored, nextMonitors } from '../../../domain/quota-usage/monitors.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { isUrgent, desiredStatus } from '../../../domain/quota-usage/status.ts';
import { type Adapter, adapter, NotCompared } from '../adapter.ts';
import { kubernetesObject } from '../kubernetes-object.ts';
import { sameAmounts, sameMembers } from '../compare.ts';

const list = z.record(z.string(), z.string());

const quota = z
  .strictObject({
    metadata: z.strictObject({ name: z.string(), namespace: z.string() }),
    spec: z.strictObject({
      hard: list.optional(),
      scopes: z.array(z.string()).optional(),
      scopeSelector: z
        .strictObject({
          matchExpressions: z
            .array(
              z.strictObject({
                scopeName: z.string(),
                operator: z.string().optional(),
                values: z.array(z.string()).optional(),
              }),
            )
            .optional(),
        })
        .optional(),
    }),
    status: z.strictObject({ hard: list.optional(), used: list.optional() }).optional(),
  })
  .transform(
    ({ metadata, spec, status = {} }): CachedQuota => ({ ...metadata, uid: '1', resourceVersion: '1', spec, status }),
  );

/** The cases have no devices, and their clock does not matter. */
const context: UsageContext = { now: 0, deviceClasses: new Map(), podNamed: () => undefined };

/** What fails in a case may have any name: `listError`, `failingResource`. */
const FAILURE = /error|fail/i;

const syncInput = z
  .record(z.string(), z.unknown())
  .transform((fields): Readonly<Record<string, unknown>> => {
    const others = Object.entries(fields).filter(([key]) => !FAILURE.test(key));
    const failing = Object.entries(fields).filter(([key, value]) => FAILURE.test(key) && Boolean(value));
    return { ...Object.fromEntries(others), failing: failing.length > 0 ? JSON.stringify(failing) : null };
  })
  .pipe(
    z.strictObject({
      quota,
      pods: z.array(kubernetesObject<CountedObject>('V1Pod')).default([]),
      /** The resource that can be listed; the others have no objects. */
      listedResource: z.string().default('pods'),
      failing: z.string().nullable(),
    }),
  );

/** The listed resource has the objects. What fails is the resource that the case names there, or else that one. */
function listing({ pods, listedResource, failing }: z.output<typeof syncInput>): ObjectsOf {
  return (resource) => {
    const name = groupResourceName(resource);
    const isNamed = (other: string) => failing !== null && new RegExp(`\\b${other}\\b`).test(failing);
    const names = staticEvaluators.map((evaluator) => groupResourceName(evaluator.resource));
    const fails = failing !== null && (names.some(isNamed) ? isNamed(name) : name === listedResource);
    if (fails) return { unavailable: 'error listing' };
    return { objects: name === listedResource ? pods : [] };
  };
}

const synced = z.strictObject({
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

const discoveryInput = z.strictObject({
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

const queueAnswer = z.strictObject({ queue: z.string() });
const monitorsAnswer = z.strictObject({ monitors: z.array(z.string()), workersBlocked: z.boolean().optional() });

const NEVER_BLOCKED = 'Headroom has no lock that discovery could hold: counts go on while a cache is being filled';

export const quotaControllerKinds: Readonly<Record<string, Adapter>> = {
  syncResourceQuota: adapter(
    syncInput,
    synced,
    (input) => {
      const count = calculateUsage(input.quota.spec, staticEvaluators, listing(input), context);
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
    // The note is prose.
    z.strictObject({ quota, note: z.string().optional() }),
    queueAnswer,
    (input) => (isUrgent(input.quota, staticEvaluators, context) ? 'priority' : 'ordinary'),
    // Kubernetes calls its queue of urgent quotas "missing usage".
    (expected, got) => /missingUsage|priority/i.test(queueAnswer.parse(expected).queue) === (got === 'priority'),
  ),
  discoverySync: adapter(
    discoveryInput,
    monitorsAnswer,
    (input) => {
      const groupVersions = Object.entries(input.discovered ?? {}).flatMap(([groupVersion, names]) =>
        names.map((name) => [name, groupVersion] as const),
      );
      const existing = new Map([...Object.entries(GROUP_OF), ...groupVersions]);
      const previous = input.previousMonitors.map((name) => versioned(name, existing.get(name) ?? 'v1'));
      const monitors = nextMonitors(previous, roundOf(input)).map(({ resource }) => resource);
      return { monitors, workersBlocked: new NotCompared(NEVER_BLOCKED) };
    },
    (expected, got) => sameMembers(monitorsAnswer.parse(expected).monitors, monitorsAnswer.parse(got).monitors),
  ),
};
