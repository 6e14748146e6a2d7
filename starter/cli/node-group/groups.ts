/** The NodeGroups of a cluster, as they are there, with the rights of whoever asks. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { GROUP, KIND, NAMESPACE, PLURAL, VERSION } from '../../../domain/node-group/api/names.ts';
import { type ApiGet, listPath, listPlainPages } from '../../../activities/kubernetes/api-get.ts';
import { readingFailure, withCluster } from '../cluster.ts';
import type { LoadedConfig } from '../controller.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import { CommandFailed } from '../shared.ts';

/** A NodeGroup as the API server sends it. Its spec may be anything that an older definition let through. */
export interface GroupObject extends KubernetesObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/**
 * All of them, sorted by name.
 *
 * @throws {CommandFailed} where the cluster knows no such thing, cannot be reached or does not let one see.
 */
export async function readGroups(loaded: LoadedConfig): Promise<readonly GroupObject[]> {
  return await withCluster(loaded, async ({ get, name }) => {
    try {
      return await listGroups(get);
    } catch (error) {
      throw listingFailure(error, name, `headroom node-groups reads with your own rights, and needs to list ${PLURAL}`);
    }
  });
}

/** @throws {ApiException} */
export async function listGroups(get: ApiGet): Promise<readonly GroupObject[]> {
  const path = listPath({ group: GROUP, version: VERSION, resource: PLURAL }, NAMESPACE);
  const objects = await listAll(listPlainPages<GroupObject>(get, { path, metadataOnly: false }));
  return objects.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

export function nameOf({ metadata }: KubernetesObject): string {
  return metadata?.name ?? '';
}

/** The one with this name, of all those that there are. @throws {UnknownName} with those that may have been meant. */
export function chosen(objects: readonly GroupObject[], group: string, location: string): GroupObject {
  const found = objects.find((object) => nameOf(object) === group);
  if (found !== undefined) return found;
  throw new UnknownName(
    `there is no ${KIND} "${group}" in ${location}${whatThereIs(group, objects.map(nameOf), 'it has none')}`,
  );
}

/** Why no workflow answers for a NodeGroup: it does not exist, or nobody follows it. */
export async function whyNobodyAnswers(loaded: LoadedConfig, group: string): Promise<Error> {
  const cluster = loaded.config.kubernetes.clusterName;
  try {
    chosen(await readGroups(loaded), group, cluster);
  } catch (error) {
    if (error instanceof UnknownName) return error;
    if (!(error instanceof CommandFailed)) throw error;
    return new CommandFailed(`no workflow of ${group} runs in ${cluster}, and ${error.message}`);
  }
  return new CommandFailed(
    `no workflow follows ${group} in ${cluster}: it is new, or no starter and worker with HEADROOM_NODE_GROUPS=true run for the cluster`,
  );
}

const DEFINITION = 'kubectl apply --server-side -f deploy/chart-crds/definitions/node-group.yaml';

/** @param rights which ones the command needs, as a sentence of its own. */
export function listingFailure(error: unknown, cluster: string, rights: string): unknown {
  if (statusCode(error) !== 404) return readingFailure(error, rights);
  return new CommandFailed(
    `Cluster ${cluster} has no definition of ${KIND} (${PLURAL}.${GROUP}): install it with "${DEFINITION}", and switch nodeGroups.enabled on`,
  );
}
