/** The cluster as `headroom usage` reads it, with the rights of whoever asks. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import type { Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { orNull, statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { groupOf } from '../../../domain/kernel/group-resource.ts';
import type { Evaluator } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorsFor } from '../../../domain/quota-usage/evaluators.ts';
import { nextMonitors } from '../../../domain/quota-usage/monitors.ts';
import type { Config } from '../../config.ts';
import type { ApiGet } from '../../kernel/api-get.ts';
import { createDiscovery } from '../../quota-usage/discovery.ts';
import { type Cluster, connect } from '../cluster.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import { CommandFailed } from '../shared.ts';
import type { UsageArgument } from './argument.ts';
import { type Countable, readDeviceClasses } from './objects.ts';

/** A cluster, with what can be counted there; asked for once. */
export interface CountingCluster extends Cluster {
  readonly counting: (limits: readonly string[]) => Promise<Counting>;
}

/** How the limits of quotas are counted in this cluster. */
export interface Counting {
  readonly evaluators: readonly Evaluator[];
  readonly countable: Countable;
}

/** @throws {CommandFailed} when there is no cluster to talk to. */
export function connectCounting(config: Config): CountingCluster {
  const cluster = connect(config);
  return { ...cluster, counting: async (limits) => await readCounting(cluster.get, limits) };
}

async function readCounting(get: ApiGet, limits: readonly string[]): Promise<Counting> {
  const round = await createDiscovery(get)();
  if (round.kind === 'failed') throw new CommandFailed(`the cluster's resources are not known: ${round.reason}`);
  const resources = nextMonitors([], round);
  return {
    evaluators: evaluatorsFor(resources),
    countable: {
      resources,
      silentGroups: new Set(round.failed.map(groupOf)),
      deviceClasses: await readDeviceClasses(get, resources, limits),
    },
  };
}

/** The quotas of the cluster, of a namespace, or the one that is named. */
export async function readQuotas(
  { kubernetes: { core }, name: cluster }: Pick<Cluster, 'kubernetes' | 'name'>,
  argument: UsageArgument | null,
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
async function checkNamespace(core: Kubernetes['core'], namespace: string, cluster: string): Promise<void> {
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
