/** `headroom lights-out list`: every schedule of the cluster, with where its workflow stands. */
import type { Client } from '@temporalio/client';
import { lightsOutId } from '../../../domain/lights-out/target.ts';
import type { Config } from '../../config.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import type { Output } from '../output.ts';
import { TemporalUnreachable, withClient } from '../connection.ts';
import { innermost, isTemporalAnswer } from '../shared.ts';
import { readCalendars } from './calendars.ts';
import { listText } from './list-text.ts';
import { rowsOf } from './rows.ts';
import { readSchedules } from './schedules.ts';

/**
 * Prints the list. Without Temporal it is what the cluster itself says, with a sentence on standard error.
 *
 * @throws {CommandFailed} where the cluster cannot be read.
 */
export async function listSchedules(loaded: LoadedConfig, { output, shared }: CommandTools): Promise<void> {
  const cluster = loaded.config.kubernetes.clusterName;
  const objects = await readSchedules(loaded);
  const phases = await readPhases(loaded.config, output);
  const { systemNamespace } = loaded.config.kubernetes;
  const calendars = await readCalendars(loaded, objects, { systemNamespace, output });
  const rows = rowsOf(objects, phases, { now: Date.now(), calendars });
  if (shared().output === 'json') output.json(rows);
  else output.text(listText(cluster, rows, output.terminal));
}

/** The phase of each schedule whose workflow runs; null where Temporal does not say. */
async function readPhases(config: Config, output: Output): Promise<ReadonlyMap<string, string> | null> {
  try {
    return await withClient(config, async (client) => await listPhases(client, config.kubernetes.clusterName));
  } catch (error) {
    if (!(error instanceof TemporalUnreachable) && !isTemporalAnswer(error)) throw error;
    output.note(`The phases are not known: ${innermost(error)}`);
    return null;
  }
}

async function listPhases(client: Client, cluster: string): Promise<ReadonlyMap<string, string>> {
  const name = cluster.replaceAll("'", '');
  const query = `HeadroomController = 'lights-out' AND HeadroomCluster = '${name}' AND ExecutionStatus = 'Running'`;
  const prefix = lightsOutId({ cluster, schedule: '' });
  const phases = new Map<string, string>();
  for await (const { workflowId, searchAttributes } of client.workflow.list({ query })) {
    if (!workflowId.startsWith(prefix)) continue;
    phases.set(workflowId.slice(prefix.length), String(searchAttributes?.['HeadroomPhase']?.[0] ?? 'Starting'));
  }
  return phases;
}
