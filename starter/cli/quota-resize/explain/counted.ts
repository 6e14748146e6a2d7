/** Counts a namespace's usage in the command itself, where an episode would ask a starter. */
import { listAll } from '../../../../activities/kubernetes/list.ts';
import type { CountedQuota } from '../../../../activities/quota-usage/interface.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import { withCounts } from '../../../../domain/quota-resize/demand/counted-usage.ts';
import type { QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import type { CountingCluster } from '../../quota-usage/cluster.ts';
import { countQuotas, limitsOf } from '../../quota-usage/count.ts';
import type { HypotheticalCluster } from './hypothetical-cluster.ts';

/**
 * The quotas of the target's namespace with what was counted for each of them.
 *
 * @throws {CommandFailed} when the cluster does not say which resources it has.
 */
export async function countNamespace(
  cluster: Pick<CountingCluster, 'get' | 'counting'>,
  { kubernetes: { core }, gone }: Pick<HypotheticalCluster, 'kubernetes' | 'gone'>,
  { namespace }: QuotaTarget,
): Promise<readonly CountedQuota[]> {
  const quotas = await listAll((range) => core.listNamespacedResourceQuota({ namespace, ...range }));
  const counting = await cluster.counting(quotas.flatMap(limitsOf));
  return await countQuotas(cluster, counting, quotas, gone);
}

/**
 * The observation with counts in place of `status.used`, as in an episode.
 *
 * @param troubles gets a sentence for each thing that the user may not read: there the result uses the status although
 *   an episode would use the count.
 */
export function observationWithCounts(
  observation: QuotaObservation,
  counts: readonly CountedQuota[],
  troubles: string[],
): QuotaObservation {
  const counted = withCounts(observation, counts);
  if (counted.counting?.kind === 'counted') {
    for (const { keys, reason } of counted.counting.unmeasured) {
      troubles.push(
        `${keys.join(', ')}: ${reason}, so the number of the status counts here; an episode asks a starter for its count`,
      );
    }
  }
  return counted;
}
