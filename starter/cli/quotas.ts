/** The quotas of the cluster as commands name them, and what to answer where there is no such thing. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import { orNull, statusCode } from '../../activities/kubernetes/failure.ts';
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { listAll } from '../../activities/kubernetes/list.ts';
import { type Cluster, readingFailure, withCluster } from './cluster.ts';
import type { LoadedConfig } from './controller.ts';
import { UnknownName, whatThereIs } from './names.ts';
import { CommandFailed } from './shared.ts';

/**
 * Looks whether there is such a quota, or such a namespace where no quota is named.
 *
 * @throws {UnknownName} with what may have been meant.
 * @throws {CommandFailed} where the cluster cannot be read.
 */
export async function assertExists(
  loaded: LoadedConfig,
  { namespace, quota }: { readonly namespace: string; readonly quota: string | null },
): Promise<void> {
  try {
    await withCluster(loaded, async (cluster) => {
      if (quota !== null) await readQuotas(cluster, { namespace, quota });
      else await checkNamespace(cluster.kubernetes.core, namespace, cluster.name);
    });
  } catch (error) {
    if (error instanceof UnknownName || error instanceof CommandFailed) throw error;
    throw readingFailure(
      error,
      'headroom checks that the target exists, and needs the right to list resourcequotas for it; with --ignore-not-found it does not check',
    );
  }
}

/** The quotas of the cluster, of a namespace, or the one that is named. */
export async function readQuotas(
  { kubernetes: { core }, name: cluster }: Pick<Cluster, 'kubernetes' | 'name'>,
  argument: { readonly namespace: string; readonly quota: string | null } | null,
): Promise<readonly V1ResourceQuota[]> {
  if (argument === null) return await listAll((range) => core.listResourceQuotaForAllNamespaces(range));
  const { namespace, quota } = argument;
  const quotas = await listAll((range) => core.listNamespacedResourceQuota({ namespace, ...range }));
  const names = quotas.map(({ metadata }) => metadata?.name ?? '').toSorted();
  if (quotas.length === 0) await checkNamespace(core, namespace, cluster);
  if (quota === null) return quotas;
  if (names.includes(quota)) return quotas.filter(({ metadata }) => metadata?.name === quota);
  throw new UnknownName(
    `there is no ResourceQuota "${quota}" in ${namespace}${whatThereIs(quota, names, 'it has none')}`,
  );
}

/** @throws {UnknownName} when there is no such namespace, with what may have been meant as far as one may know. */
export async function checkNamespace(core: Kubernetes['core'], namespace: string, cluster: string): Promise<void> {
  if (await mayBeThere(core, namespace)) return;
  const names = await namespaceNames(core);
  const advice = names === null ? '' : whatThereIs(namespace, names, 'it has none');
  throw new UnknownName(`there is no namespace "${namespace}" in ${cluster}${advice}`);
}

async function mayBeThere(core: Kubernetes['core'], name: string): Promise<boolean> {
  try {
    return (await orNull(core.readNamespace({ name }))) !== null;
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    return true;
  }
}

async function namespaceNames(core: Kubernetes['core']): Promise<readonly string[] | null> {
  try {
    const namespaces = await listAll((range) => core.listNamespace(range));
    return namespaces.map(({ metadata }) => metadata?.name ?? '').toSorted();
  } catch (error) {
    if (statusCode(error) !== 403) throw error;
    return null;
  }
}
