/** The LightsOutSchedules of a cluster, as they are there, with the rights of whoever asks. */
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { statusCode } from '../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../activities/kubernetes/list.ts';
import { GROUP, KIND, PLURAL, VERSION } from '../../../domain/lights-out/schedule/names.ts';
import type { LoadedConfig } from '../controller.ts';
import { CommandFailed } from '../shared.ts';
import { UnknownName, whatThereIs } from '../names.ts';
import { readingFailure, withCluster } from '../cluster.ts';

/** A schedule as the API server sends it. Its spec may be anything that an older definition let through. */
export interface ScheduleObject extends KubernetesObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/**
 * All of them, sorted by name.
 *
 * @throws {CommandFailed} where the cluster knows no such thing, cannot be reached or does not let one see.
 */
export async function readSchedules(loaded: LoadedConfig): Promise<readonly ScheduleObject[]> {
  return await withCluster(loaded, async ({ kubernetes: { custom }, name }) => {
    try {
      const objects = await listAll<ScheduleObject>(async (range) => {
        const answer: unknown = await custom.listClusterCustomObject({
          group: GROUP,
          version: VERSION,
          plural: PLURAL,
          ...range,
        });
        return pageOf(answer);
      });
      return objects.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    } catch (error) {
      throw listingFailure(error, name);
    }
  });
}

/** The list of the generic client: its metadata is as in the API server's JSON, not as in the generated clients. */
function pageOf(answer: unknown): KubernetesListObject<ScheduleObject> {
  const { items, metadata } = answer as {
    readonly items: ScheduleObject[];
    readonly metadata?: { readonly continue?: string };
  };
  const next = metadata?.continue;
  return { items, metadata: next === undefined ? {} : { _continue: next } };
}

export function nameOf({ metadata }: ScheduleObject): string {
  return metadata?.name ?? '';
}

/** The one with this name, of all those that there are. @throws {UnknownName} with those that may have been meant. */
export function chosen(objects: readonly ScheduleObject[], schedule: string, location: string): ScheduleObject {
  const found = objects.find((object) => nameOf(object) === schedule);
  if (found !== undefined) return found;
  throw new UnknownName(
    `there is no ${KIND} "${schedule}" in ${location}${whatThereIs(schedule, objects.map(nameOf), 'it has none')}`,
  );
}

/** Why no workflow answers for a schedule: it does not exist, or nobody follows it. */
export async function whyNobodyAnswers(loaded: LoadedConfig, schedule: string): Promise<Error> {
  const cluster = loaded.config.kubernetes.clusterName;
  try {
    chosen(await readSchedules(loaded), schedule, cluster);
  } catch (error) {
    if (error instanceof UnknownName) return error;
    if (!(error instanceof CommandFailed)) throw error;
    return new CommandFailed(`no workflow of ${schedule} runs in ${cluster}, and ${error.message}`);
  }
  return new CommandFailed(`no workflow follows ${schedule} in ${cluster}: ${NOBODY_FOLLOWS}`);
}

/** Why a schedule that exists has no workflow, as the end of a sentence. */
export const NOBODY_FOLLOWS =
  'it is new, or no starter and worker with HEADROOM_LIGHTS_OUT=true run for the cluster; what is down stays down meanwhile';

const DEFINITION = 'kubectl apply --server-side -f deploy/chart-crds/definitions/lights-out.yaml';
const RIGHTS = `headroom lights-out reads with your own rights, and needs to list ${PLURAL}`;

function listingFailure(error: unknown, cluster: string): unknown {
  if (statusCode(error) !== 404) return readingFailure(error, RIGHTS);
  return new CommandFailed(
    `Cluster ${cluster} has no definition of ${KIND} (${PLURAL}.${GROUP}): install it with "${DEFINITION}", and switch lightsOut.enabled on`,
  );
}
