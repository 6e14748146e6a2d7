/** Tells the workflow of a schedule what an operator wants, and prints what it answers. */
import { sentence } from '../../../domain/kernel/sentence.ts';
import { lightsOutId } from '../../../domain/kernel/target.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { Config } from '../../config.ts';
import {
  commandUpdates,
  type LightsOutCommand,
  type LightsOutCommandInput,
} from '../../../workflows/lights-out/messages.ts';
import { withClient } from '../connection.ts';
import { answered, print, type SharedOptions } from '../shared.ts';
import { whyNobodyAnswers } from './schedules.ts';

/** @throws {CommandFailed} where the workflow refuses, or nobody answers; {UnknownName} where there is no such schedule. */
export async function sendCommand(
  config: Config,
  schedule: string,
  command: LightsOutCommand,
  input: LightsOutCommandInput,
  { output }: Pick<SharedOptions, 'output'>,
): Promise<void> {
  const cluster = config.kubernetes.clusterName;
  const answer = await withClient(config, async (client) => {
    const handle = client.workflow.getHandle(lightsOutId({ cluster, schedule }));
    const noneRuns = async () => await whyNobodyAnswers(config, schedule);
    return await answered(
      client,
      cluster,
      noneRuns,
      async () => await handle.executeUpdate(commandUpdates[command], { args: [input] }),
    );
  });
  if (output === 'json') print({ command, answer });
  else console.log(withRelativeTimes(sentence(answer), Date.now()));
}
