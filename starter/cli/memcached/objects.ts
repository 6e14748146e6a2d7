/** The Memcacheds of a cluster, as they are there, with the rights of whoever asks. */
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { type ReadMemcached, readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { GROUP, KIND, PLURAL, VERSION } from '../../../domain/memcached/api/names.ts';
import { memcachedName } from '../../../domain/memcached/target.ts';
import { readingFailure, withCluster } from '../cluster.ts';
import type { LoadedConfig } from '../controller.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import { CommandFailed } from '../shared.ts';
import type { MemcachedArgument } from './argument.ts';

/**
 * All of them, sorted by namespace and name.
 *
 * @throws {CommandFailed} where the cluster knows no such thing, cannot be reached or does not let one see.
 */
export async function readObjects(loaded: LoadedConfig): Promise<readonly ReadMemcached[]> {
  return await withCluster(loaded, async ({ kubernetes: { custom }, name }) => {
    try {
      const objects = await listAll<KubernetesObject>(async (range) =>
        pageOf(await custom.listClusterCustomObject({ group: GROUP, version: VERSION, plural: PLURAL, ...range })),
      );
      return objects.map(readMemcached).toSorted((a, b) => (memcachedName(a) < memcachedName(b) ? -1 : 1));
    } catch (error) {
      throw listingFailure(error, name);
    }
  });
}

/** The list of the generic client: its metadata is as in the API server's JSON, not as in the generated clients. */
function pageOf(answer: unknown): KubernetesListObject<KubernetesObject> {
  const { items, metadata } = answer as {
    readonly items: KubernetesObject[];
    readonly metadata?: { readonly continue?: string };
  };
  const next = metadata?.continue;
  return { items, metadata: next === undefined ? {} : { _continue: next } };
}

/** The one with this name, of all those that there are. @throws {UnknownName} with those that may have been meant. */
export function chosen(
  objects: readonly ReadMemcached[],
  argument: MemcachedArgument,
  location: string,
): ReadMemcached {
  const name = memcachedName(argument);
  const found = objects.find((object) => memcachedName(object) === name);
  if (found !== undefined) return found;
  const existing = whatThereIs(name, objects.map(memcachedName), 'it has none');
  throw new UnknownName(`there is no ${KIND} "${name}" in ${location}${existing}`);
}

/** Why no episode answers for a Memcached: it does not exist, or there is nothing to do. */
export async function whyNothingRuns(loaded: LoadedConfig, argument: MemcachedArgument): Promise<Error> {
  const cluster = loaded.config.kubernetes.clusterName;
  try {
    const { status } = chosen(await readObjects(loaded), argument, cluster);
    const isSeen = status['observedGeneration'] !== undefined;
    const why = isSeen
      ? 'it is as specified; "headroom memcached explain" compares it now'
      : 'it is new, or no starter and worker with HEADROOM_MEMCACHED=true run for the cluster';
    return new CommandFailed(`Nothing runs for ${memcachedName(argument)} in ${cluster}: ${why}`);
  } catch (error) {
    if (error instanceof UnknownName || error instanceof CommandFailed) return error;
    throw error;
  }
}

const DEFINITION = 'kubectl apply --server-side -f deploy/chart-crds/definitions/memcached.yaml';
const RIGHTS = `headroom memcached reads with your own rights, and needs to list ${PLURAL}`;

function listingFailure(error: unknown, cluster: string): unknown {
  if (statusCode(error) !== 404) return readingFailure(error, RIGHTS);
  return new CommandFailed(
    `Cluster ${cluster} has no definition of ${KIND} (${PLURAL}.${GROUP}): install it with "${DEFINITION}", and switch memcached.enabled on`,
  );
}
