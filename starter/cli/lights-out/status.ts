/** `headroom lights-out status <schedule>`: what the workflow of a schedule says of itself. */
import { lightsOutId } from '../../../domain/kernel/target.ts';
import type { Config } from '../../config.ts';
import { type LightsOutStatus, status } from '../../../workflows/lights-out/messages.ts';
import { withClient } from '../connection.ts';
import { answered, print, type SharedOptions } from '../shared.ts';
import { whyNobodyAnswers } from './schedules.ts';
import { statusText } from './status-text.ts';

/** @throws {CommandFailed} where nobody answers; {UnknownName} where there is no such schedule. */
export async function printStatus(
  config: Config,
  schedule: string,
  { output }: Pick<SharedOptions, 'output'>,
): Promise<void> {
  const cluster = config.kubernetes.clusterName;
  const seen: LightsOutStatus = await withClient(config, async (client) => {
    const handle = client.workflow.getHandle(lightsOutId({ cluster, schedule }));
    const noneRuns = async () => await whyNobodyAnswers(config, schedule);
    return await answered(client, cluster, noneRuns, async () => await handle.query(status));
  });
  if (output === 'json') print(seen);
  else process.stdout.write(statusText(seen, Date.now()));
}
