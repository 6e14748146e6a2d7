/** `headroom gc`: when Leases were last cleaned up, or a round of it now. */
import { priorities } from '../../../domain/kernel/priority.ts';
import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import { leaseGcId } from '../../../domain/lease-gc/target.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { leaseGc } from '../../../workflows/lease-gc/workflow.ts';
import type { Config } from '../../config.ts';
import { withClient } from '../connection.ts';
import type { CommandLineController } from '../controller.ts';
import { CommandFailed, print, type SharedOptions } from '../shared.ts';

export const leaseGcCommands: CommandLineController = {
  addCommands: (program, { run, shared }) => {
    program
      .command('gc')
      .description('show when Leases were last cleaned up and when that is next, or clean up now')
      .option('--now', 'clean up now and print what was done')
      .action(
        async ({ now }: { now?: boolean }) =>
          await run(
            async (config) =>
              await withClient(config, async (client) => await gc(client, config, now ?? false, shared())),
          ),
      );
  },
};

async function gc(client: Client, config: Config, now: boolean, { output }: SharedOptions): Promise<void> {
  const cluster = config.kubernetes.clusterName;
  if (now) {
    const handle = await client.workflow.start<typeof leaseGc>('leaseGc', {
      // One collection at a time: a second request joins the running one.
      workflowId: `${leaseGcId(cluster)}/now`,
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue: taskQueue(cluster),
      args: [{ cluster }],
      priority: { priorityKey: priorities.person },
    });
    const result = await handle.result();
    if (output === 'json') return print(result);
    console.log(`Leases: ${result.kept} kept, ${result.deleted.length} deleted, ${result.unlocked.length} unlocked.`);
    for (const name of result.deleted) console.log(`deleted  ${name}`);
    for (const name of result.unlocked) console.log(`unlocked ${name}`);
    return;
  }
  try {
    const { info } = await client.schedule.getHandle(leaseGcId(cluster)).describe();
    const last = info.recentActions.at(-1)?.takenAt.toISOString() ?? null;
    const next = info.nextActionTimes[0]?.toISOString() ?? null;
    if (output === 'json') return print({ last, next });
    const text = `Last round: ${last ?? 'none yet'}\nNext round: ${next ?? 'none'}\nTo run a round now: headroom gc --now`;
    console.log(withRelativeTimes(text.replaceAll(/\.\d{3}Z/g, 'Z'), Date.now()));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw new CommandFailed(
      `There is no Schedule ${leaseGcId(cluster)}. Start a worker or a starter for the cluster "${cluster}" first.`,
    );
  }
}
