/** `headroom memcached explain`: compares a Memcached with its objects now, and says what an episode would do. It only reads. */
import { createMemcachedActivities } from '../../../activities/memcached/kubernetes-activities.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { decide, freshMemory } from '../../../domain/memcached/decide/decide.ts';
import { listedServers } from '../../../domain/memcached/servers/server-list.ts';
import { memcachedName } from '../../../domain/memcached/target.ts';
import { readingFailure, withCluster } from '../cluster.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { chosen, readObjects } from './objects.ts';
import type { MemcachedArgument } from './argument.ts';

const RIGHTS =
  'headroom memcached explain reads with your own rights, and needs to get memcacheds and what they own: deployments, horizontalpodautoscalers, services, poddisruptionbudgets, servicemonitors, networkpolicies and configmaps; to list endpointslices; and the Lease of the operator before';

/** @throws {CommandFailed} where the cluster cannot be read. */
export async function explainMemcached(
  loaded: LoadedConfig,
  argument: MemcachedArgument,
  { output, shared }: CommandTools,
): Promise<void> {
  const { clusterName: cluster, systemNamespace } = loaded.config.kubernetes;
  const { formerNamespace } = loaded.config.memcached;
  const servers = listedServers(chosen(await readObjects(loaded), argument, cluster));
  const target = { cluster, ...argument };
  const seen = await withCluster(loaded, async ({ kubernetes }) => {
    const log = { warn: () => {} };
    const activities = createMemcachedActivities({ kubernetes, systemNamespace, formerNamespace, log });
    try {
      return await activities.observeMemcached({ target });
    } catch (error) {
      throw readingFailure(error, RIGHTS);
    }
  });
  const [, verdict] = decide(seen, freshMemory, false);
  if (shared().output === 'json') {
    output.json({ target, observation: seen, verdict, servers });
    return;
  }
  const lines = [
    `${memcachedName(target)}: ${verdict.phase} (${verdict.reason})`,
    sentence(verdict.detail),
    ...verdict.facts.map((fact) => `  ${sentence(fact)}`),
    ...servers.map(({ name, address }) => `  ${name} ${address}`),
  ];
  output.text(`${lines.join('\n')}\n`);
}
