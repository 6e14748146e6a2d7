import type { Client } from '@temporalio/client';
import { workflowUrl } from '../../domain/kernel/temporal-ui.ts';
import { formatSpan } from '../../domain/kernel/time.ts';
import type { HeadroomProcess } from '../../platform/process/process.ts';
import type { Config } from '../config.ts';
import type { RunningController } from '../controller.ts';
import { serveOverview } from './server.ts';
import { WaitingWorkflows } from './waiting-workflows.ts';

export interface OverviewOptions {
  readonly client: Client;
  /** What runs in this process, by the name of the controller. */
  readonly started: Readonly<Record<string, RunningController>>;
  readonly pauses: RunningController;
}

/**
 * Serves the overview of what runs in this process.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function startOverview(
  { config, cluster, log, onStop }: HeadroomProcess<Config>,
  { client, started, pauses }: OverviewOptions,
): Promise<void> {
  const { temporalUi } = config;
  const running = [pauses, ...Object.values(started)];
  const controllers = Object.fromEntries(Object.entries(started).map(([name, { workflows }]) => [name, workflows]));
  const server = await serveOverview({
    address: config.starter.overviewAddress,
    cluster,
    overviews: running.flatMap(({ overview }) => (overview === undefined ? [] : [overview])),
    workflows: new WaitingWorkflows({ client, cluster, controllers, log }),
    workflowUrl: (id) => (temporalUi === null ? null : workflowUrl(temporalUi, id)),
    troubles: () => troublesOf(running),
    log,
  });
  onStop('overview', async () => await server.close());
  log.info({ url: server.url }, 'the starter serves the overview');
}

/** What of the page is older than it looks. */
function troublesOf(running: readonly RunningController[]): readonly string[] {
  return running.flatMap(({ informers }) =>
    Object.entries(informers).flatMap(([name, informer]) => {
      if (!informer.isSynced()) return [`The first list of ${name} is not in yet: what it has is missing here.`];
      const seconds = Math.round(informer.staleSeconds());
      if (seconds === 0) return [];
      return [`The watch of ${name} has been broken for ${formatSpan(seconds * 1000)}: what it has is that old.`];
    }),
  );
}
