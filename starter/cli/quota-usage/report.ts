/** What `headroom usage` tells: of the whole cluster, or of a namespace with what uses it and what waits for room. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { NamespaceView } from '../../../activities/quota-resize/quota/namespace-view.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { type ObjectsOf, resourcesToCount } from '../../../domain/quota-usage/calculate.ts';
import type { UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';
import { podInScopes } from '../../../domain/quota-usage/scopes.ts';
import { countsPods } from '../../../domain/quota-usage/usage.ts';
import { warningsLog } from '../warnings-log.ts';
import type { UsageArgument } from './argument.ts';
import type { Cluster } from '../cluster.ts';
import { readQuotas } from '../quotas.ts';
import type { CountingCluster } from './cluster.ts';
import { fullness, type QuotaFullness, quotaFullness } from '../../../domain/kernel/quota-fullness.ts';
import { contextOf, CountedObjects } from './objects.ts';
import { type MissingWorkload, type Pending, readMissingWorkloads } from './pending.ts';
import { pendingPods, type WaitingPod } from './pending-pods.ts';
import { type ResourceUses, usesOf } from './uses.ts';
import type { Between, ClaimingSet, Owned } from './workload.ts';

/** What `headroom usage --output json` prints. */
export interface Overview {
  readonly cluster: string;
  /** When it was looked at, RFC 3339. */
  readonly at: string;
  /** The fullest first. */
  readonly quotas: readonly QuotaFullness[];
}

/** What `headroom usage <namespace> --output json` prints, and with `/<quota>` as well. */
export interface NamespaceUsage {
  readonly cluster: string;
  readonly at: string;
  readonly namespace: string;
  /** The fullest first. */
  readonly quotas: readonly DetailedUsage[];
  readonly pending: Pending;
  /** What could not be read, one sentence each. */
  readonly warnings: readonly string[];
}

export interface DetailedUsage extends QuotaFullness {
  /** What uses each limit, in the order of `resources`. */
  readonly usedBy: readonly ResourceUses[];
}

export async function overviewOf(cluster: Cluster): Promise<Overview> {
  const quotas = (await readQuotas(cluster, null)).map(quotaFullness).toSorted(byFullestLimit);
  return { cluster: cluster.name, at: formatInstant(Date.now()), quotas };
}

function byFullestLimit(a: QuotaFullness, b: QuotaFullness): number {
  const of = ({ resources: [first] }: QuotaFullness): number => (first === undefined ? -3 : fullness(first));
  const name = ({ namespace, quota }: QuotaFullness): string => `${namespace}/${quota}`;
  return of(b) - of(a) || (name(a) < name(b) ? -1 : 1);
}

export async function namespaceUsageOf(cluster: CountingCluster, argument: UsageArgument): Promise<NamespaceUsage> {
  const { namespace } = argument;
  const quotas = await readQuotas(cluster, argument);
  const limits = quotas.flatMap(({ spec }) => Object.keys(spec?.hard ?? {}));
  const { evaluators, countable } = await cluster.counting(limits);
  const { byName: deviceClasses } = countable.deviceClasses;
  const objects = new CountedObjects(cluster.get, countable, namespace, 'whole');
  const counted = resourcesToCount(limits, evaluators, { deviceClasses });
  // Pods are needed in any case, for those that do not run yet; the others to find out whose they are.
  await objects.read([...counted, PODS, REPLICA_SETS, JOBS]);
  const objectsOf = objects.of(namespace);
  const context = contextOf(objectsOf, deviceClasses, Date.now());

  const warnings: string[] = [];
  for (const resource of [...counted, PODS, REPLICA_SETS, JOBS]) {
    const answer = objectsOf(resource);
    if ('unavailable' in answer && !warnings.includes(answer.unavailable)) warnings.push(answer.unavailable);
  }
  const countsClaims = counted.some(({ resource }) => resource === 'persistentvolumeclaims');
  const statefulSets = countsClaims ? await readStatefulSets(cluster, namespace, warnings) : [];
  const between: Between = { objects: byUid(objectsOf, [PODS, REPLICA_SETS, JOBS]), statefulSets };
  const detailed = quotas.map((quota): DetailedUsage => {
    const usage = quotaFullness(quota);
    const uses = new Map(usesOf(quota, evaluators, objectsOf, between, context).map((use) => [use.resource, use]));
    return { ...usage, usedBy: usage.resources.flatMap(({ resource }) => uses.get(resource) ?? []) };
  });
  const pods = (objectsIn(objectsOf, PODS) as readonly (Pod & WaitingPod)[]).filter(
    (pod) =>
      argument.quota === null || quotas.some(({ spec }) => countsPods(spec ?? {}) && podInScopes(spec ?? {}, pod)),
  );
  return {
    cluster: cluster.name,
    at: formatInstant(context.now),
    namespace,
    quotas: detailed.toSorted(byFullestLimit),
    pending: {
      workloads: await readWorkloads(cluster, namespace, quotas, between, context, warnings),
      pods: pendingPods(pods),
    },
    warnings,
  };
}

const PODS = { group: '', resource: 'pods' };
const REPLICA_SETS = { group: 'apps', resource: 'replicasets' };
const JOBS = { group: 'batch', resource: 'jobs' };

function objectsIn(objectsOf: ObjectsOf, resource: typeof PODS): readonly object[] {
  const answer = objectsOf(resource);
  return 'objects' in answer ? answer.objects : [];
}

function byUid(objectsOf: ObjectsOf, resources: readonly (typeof PODS)[]): ReadonlyMap<string, Owned> {
  const owned = resources.flatMap((resource) => objectsIn(objectsOf, resource) as readonly Owned[]);
  return new Map(owned.map((entry) => [entry.metadata?.uid ?? '', entry]));
}

/** The StatefulSets, to tell whose a claim is; without the right to read them a claim goes by its own name. */
async function readStatefulSets(
  { kubernetes: { apps } }: Cluster,
  namespace: string,
  warnings: string[],
): Promise<readonly ClaimingSet[]> {
  try {
    return await listAll((range) => apps.listNamespacedStatefulSet({ namespace, ...range }));
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    warnings.push('you may not list statefulsets.apps');
    return [];
  }
}

async function readWorkloads(
  { kubernetes }: Cluster,
  namespace: string,
  quotas: readonly V1ResourceQuota[],
  between: Between,
  context: UsageContext,
  warnings: string[],
): Promise<readonly MissingWorkload[]> {
  if (quotas.length === 0) return [];
  const log = warningsLog(warnings);
  try {
    return await readMissingWorkloads(log, new NamespaceView(kubernetes, namespace), quotas, between, context);
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    warnings.push('you may not read what admission denied: events, replicasets or replicationcontrollers');
    return [];
  }
}
