/** What quotas use, counted from the objects of their namespaces, which are read from the API. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { CountedQuota } from '../../../activities/quota-usage/interface.ts';
import { calculateUsage, resourcesToCount } from '../../../domain/quota-usage/calculate.ts';
import type { Cluster } from '../cluster.ts';
import type { Counting } from './cluster.ts';
import { contextOf, CountedObjects } from './objects.ts';

/** Up to so many namespaces are listed one by one. */
export const FEW_NAMESPACES = 10;

/**
 * Counts what each of the quotas uses. The quotas were read before, so that a difference is never older than they are.
 *
 * @param without the UIDs of objects that are counted as if they were not there.
 */
export async function countQuotas(
  { get }: Pick<Cluster, 'get'>,
  { evaluators, countable }: Counting,
  quotas: readonly V1ResourceQuota[],
  without: ReadonlySet<string> = new Set(),
): Promise<readonly CountedQuota[]> {
  const byNamespace = Map.groupBy(quotas, ({ metadata }) => metadata?.namespace ?? '');
  const everywhere = byNamespace.size > FEW_NAMESPACES ? new CountedObjects(get, countable, null, 'counted') : null;
  const { byName: deviceClasses } = countable.deviceClasses;
  const counted: CountedQuota[] = [];
  for (const [namespace, own] of byNamespace) {
    const objects = everywhere ?? new CountedObjects(get, countable, namespace, 'counted');
    await objects.read(resourcesToCount(own.flatMap(limitsOf), evaluators, { deviceClasses }));
    const objectsOf = objects.of(namespace, without);
    const context = contextOf(objectsOf, deviceClasses, Date.now());
    for (const { metadata, spec = {}, status = {} } of own) {
      const { name = '', uid = '', resourceVersion = '' } = metadata ?? {};
      counted.push({
        quota: { namespace, name, uid, resourceVersion, spec, status },
        count: calculateUsage(spec, evaluators, objectsOf, context),
      });
    }
  }
  return counted;
}

/** The names of what a quota limits. */
export function limitsOf({ spec }: Pick<V1ResourceQuota, 'spec'>): readonly string[] {
  return Object.keys(spec?.hard ?? {});
}
