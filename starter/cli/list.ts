import type { Client } from '@temporalio/client';
import type { Command } from 'commander';
import { controllerNames } from '../../domain/kernel/controllers.ts';
import { formatInstant, fromNow } from '../../domain/kernel/time.ts';
import { columns } from './columns.ts';
import { withClient } from './connection.ts';
import type { CommandTools } from './controller.ts';

interface Row {
  readonly controller: string;
  readonly target: string;
  readonly phase: string;
  readonly since: string;
  readonly workflow: string;
}

/** `headroom list`: what runs for this cluster, of every controller in the order in which people know them. */
export function addListCommand(program: Command, tools: CommandTools): void {
  program
    .command('list')
    .description('list what runs now, of every controller')
    .action(
      async () =>
        await tools.run(
          async ({ config }) =>
            await withClient(config, async (client) => await list(client, config.kubernetes.clusterName, tools)),
        ),
    );
}

async function list(client: Client, name: string, { output, shared }: CommandTools): Promise<void> {
  const cluster = name.replaceAll("'", '');
  const rows = await running(client, cluster);
  if (shared().output === 'json') return output.json(rows);
  if (rows.length === 0) return output.line(`Nothing of Headroom runs in ${cluster}.`);
  const now = Date.now();
  const lines = columns(
    rows.map(({ controller, target, phase, since }) => [
      controller,
      target,
      phase,
      `since ${formatInstant(Date.parse(since))} (${fromNow(Date.parse(since), now)})`,
    ]),
  );
  output.line(lines.join('\n'));
}

async function running(client: Client, cluster: string): Promise<readonly Row[]> {
  const query = `HeadroomCluster = '${cluster}' AND ExecutionStatus = 'Running'`;
  const rows: Row[] = [];
  for await (const { searchAttributes, startTime, workflowId } of client.workflow.list({ query })) {
    const attribute = (name: string): string => String(searchAttributes?.[name]?.[0] ?? '');
    rows.push({
      controller: attribute('HeadroomController'),
      target: attribute('HeadroomTarget'),
      phase: attribute('HeadroomPhase'),
      since: startTime.toISOString(),
      workflow: workflowId,
    });
  }
  const order: readonly string[] = controllerNames;
  return rows.toSorted(
    (a, b) => order.indexOf(a.controller) - order.indexOf(b.controller) || a.target.localeCompare(b.target),
  );
}
