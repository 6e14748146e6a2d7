/** `headroom usage --diff`: counts everything itself and tells where the status of a quota says something else. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { eventLastSeen } from '../../../domain/quota-resize/demand/event-message.ts';
import type { UsageArgument } from './argument.ts';
import { readQuotas } from '../quotas.ts';
import type { Counting, CountingCluster } from './cluster.ts';
import { countQuotas, FEW_NAMESPACES, limitsOf } from './count.ts';
import { type CountSnapshot, type Difference, type QuotaDifferences, confirm } from './difference.ts';

/** What `--diff --output json` prints. */
export interface Comparison {
  readonly cluster: string;
  /** When the comparison ended, RFC 3339. */
  readonly at: string;
  /** How many quotas were compared. */
  readonly compared: number;
  readonly wrong: readonly WrongQuota[];
  /** Quotas that changed all the time, so that what is wrong could not be told from what is late. */
  readonly restless: readonly {
    readonly namespace: string;
    readonly quota: string;
    readonly resources: readonly string[];
  }[];
  /** Limits that could not be counted, and why. */
  readonly unmeasured: readonly {
    readonly namespace: string;
    readonly quota: string;
    readonly resources: readonly string[];
    readonly reason: string;
  }[];
}

export interface WrongQuota {
  readonly namespace: string;
  readonly quota: string;
  readonly differences: readonly Difference[];
  /** What Headroom itself reported of it in mode audit; null where it did not, or has reported since that it is true again. */
  readonly reported: { readonly at: string; readonly message: string } | null;
}

export async function compareQuotas(cluster: CountingCluster, argument: UsageArgument | null): Promise<Comparison> {
  const quotas = await readQuotas(cluster, argument);
  const counting = await cluster.counting(quotas.flatMap(limitsOf));
  const first = await countSnapshots(cluster, counting, quotas);
  const { wrong, restless } = await confirm(first, async (snapshots) => await countAgain(cluster, counting, snapshots));
  return {
    cluster: cluster.name,
    wrong: await Promise.all(wrong.map(async (quota) => await withReport(cluster, quota))),
    restless: restless.map(({ namespace, quota, differences }) => ({
      namespace,
      quota,
      resources: [...new Set(differences.map(({ resource }) => resource))],
    })),
    unmeasured: first.flatMap(({ namespace, quota, unmeasured }) =>
      unmeasured.map(({ keys, reason }) => ({ namespace, quota, resources: keys, reason })),
    ),
    compared: quotas.length,
    at: formatInstant(Date.now()),
  };
}

async function countSnapshots(
  cluster: CountingCluster,
  counting: Counting,
  quotas: readonly V1ResourceQuota[],
): Promise<readonly CountSnapshot[]> {
  const counted = await countQuotas(cluster, counting, quotas);
  return counted.map(({ quota: { namespace, name, uid, spec, status }, count }) => ({
    namespace,
    quota: name,
    uid,
    hard: spec.hard ?? {},
    status: { hard: status.hard ?? {}, used: status.used ?? {} },
    counted: count.used,
    unmeasured: count.unmeasured,
  }));
}

async function countAgain(
  cluster: CountingCluster,
  counting: Counting,
  snapshots: readonly CountSnapshot[],
): Promise<readonly CountSnapshot[]> {
  const { core } = cluster.kubernetes;
  const namespaces = [...new Set(snapshots.map(({ namespace }) => namespace))];
  const quotas =
    namespaces.length > FEW_NAMESPACES
      ? await listAll((range) => core.listResourceQuotaForAllNamespaces(range))
      : (
          await Promise.all(
            namespaces.map(
              async (namespace) => await listAll((range) => core.listNamespacedResourceQuota({ namespace, ...range })),
            ),
          )
        ).flat();
  const uids = new Set(snapshots.map(({ uid }) => uid));
  return await countSnapshots(
    cluster,
    counting,
    quotas.filter(({ metadata }) => uids.has(metadata?.uid ?? '')),
  );
}

/** Adds what an Event of Headroom's says of the quota. Events live for an hour; whoever may not read them does without. */
async function withReport(
  { kubernetes: { core } }: CountingCluster,
  { namespace, quota, uid, differences }: QuotaDifferences,
): Promise<WrongQuota> {
  try {
    const fieldSelector = `involvedObject.kind=ResourceQuota,involvedObject.name=${quota}`;
    const events = await listAll((range) => core.listNamespacedEvent({ namespace, fieldSelector, ...range }));
    const own = events
      .filter(({ involvedObject, reason }) => involvedObject.uid === uid && /^Usage(?:Wrong|True)$/.test(reason ?? ''))
      .toSorted((a, b) => (eventLastSeen(b) ?? 0) - (eventLastSeen(a) ?? 0));
    const [last] = own;
    const reported =
      last?.reason === 'UsageWrong'
        ? { at: formatInstant(eventLastSeen(last) ?? 0), message: last.message ?? '' }
        : null;
    return { namespace, quota, differences, reported };
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    return { namespace, quota, differences, reported: null };
  }
}
