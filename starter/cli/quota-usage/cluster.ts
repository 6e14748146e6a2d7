/** The cluster as `headroom usage` reads it, with the rights of whoever asks. */
import { groupOf } from '../../../domain/kernel/group-resource.ts';
import type { Evaluator } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorsFor } from '../../../domain/quota-usage/evaluators.ts';
import { nextMonitors } from '../../../domain/quota-usage/monitors.ts';
import type { ApiGet } from '../../../activities/kubernetes/api-get.ts';
import { createDiscovery } from '../../quota-usage/discovery.ts';
import type { Cluster } from '../cluster.ts';
import { CommandFailed } from '../shared.ts';
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

export function counting(cluster: Cluster): CountingCluster {
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
