/** `headroom gc`: when Leases were last cleaned up, or a round of it now. */
import { priorities } from '../../../domain/kernel/priority.ts';
import { type Client, ScheduleNotFoundError } from '@temporalio/client';
import { leaseGcId } from '../../../domain/lease-gc/target.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import { withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { leaseGc } from '../../../workflows/lease-gc/workflow.ts';
import { withClient } from '../connection.ts';
import type { CommandLineController, CommandTools } from '../controller.ts';
import { CommandFailed } from '../shared.ts';

export const leaseGcCommands: CommandLineController = {
  addCommands: (program, tools) => {
    program
      .command('gc')
      .description('show when Leases were last cleaned up and when that is next, or clean up now')
      .option('--now', 'clean up now and print what was done')
      .action(
        async ({ now }: { now?: boolean }) =>
          await tools.run(
            async ({ config }) =>
              await withClient(
                config,
                async (client) => {
                  const { clusterName } = config.kubernetes;
                  await (now === true ? collectNow : showRounds)(client, clusterName, tools);
                },
                now === true ? 'gc' : null,
              ),
          ),
      );
  },
};

async function collectNow(client: Client, cluster: string, { output, shared }: CommandTools): Promise<void> {
  const handle = await client.workflow.start<typeof leaseGc>('leaseGc', {
    // One collection at a time: a second request joins the running one.
    workflowId: `${leaseGcId(cluster)}/now`,
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: taskQueue(cluster),
    args: [{ cluster }],
    priority: { priorityKey: priorities.person },
  });
  const result = await handle.result();
  if (shared().output === 'json') return output.json(result);
  output.line(`Leases: ${result.kept} kept, ${result.deleted.length} deleted, ${result.unlocked.length} unlocked.`);
  for (const name of result.deleted) output.line(`deleted  ${name}`);
  for (const name of result.unlocked) output.line(`unlocked ${name}`);
}

async function showRounds(client: Client, cluster: string, { output, shared }: CommandTools): Promise<void> {
  try {
    const { info } = await client.schedule.getHandle(leaseGcId(cluster)).describe();
    const last = info.recentActions.at(-1)?.takenAt.toISOString() ?? null;
    const next = info.nextActionTimes[0]?.toISOString() ?? null;
    if (shared().output === 'json') return output.json({ last, next });
    const text = `Last round: ${last ?? 'none yet'}\nNext round: ${next ?? 'none'}\nTo run a round now: headroom gc --now`;
    output.line(withRelativeTimes(text.replaceAll(/\.\d{3}Z/g, 'Z'), Date.now()));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw new CommandFailed(
      `There is no Schedule ${leaseGcId(cluster)}. Start a worker or a starter for the cluster "${cluster}" first.`,
    );
  }
}
