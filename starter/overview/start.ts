import type { KubeConfig } from '@kubernetes/client-node';
import { workflowUrl } from '../../domain/kernel/temporal-ui.ts';
import { formatSpan } from '../../domain/kernel/time.ts';
import type { HeadroomProcess } from '../../platform/process/process.ts';
import type { Config } from '../config.ts';
import type { RunningController } from '../controller.ts';
import { givenCertificate } from '../admission/given.ts';
import { keepCertificate } from '../admission/keep.ts';
import type { WaitingWorkflows } from '../kernel/waiting-workflows.ts';
import { OtherWorkflows } from './other-workflows.ts';
import { type OverviewServerOptions, serveOverview } from './server.ts';
import { reviewsBy, Visitors } from './visitor.ts';

export interface OverviewOptions {
  readonly kubeConfig: KubeConfig;
  readonly waiting: WaitingWorkflows;
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
  headroom: HeadroomProcess<Config>,
  { kubeConfig, waiting, started, pauses }: OverviewOptions,
): Promise<void> {
  const { config, cluster, log, onStop } = headroom;
  const { temporalUi } = config;
  const running = [pauses, ...Object.values(started)];
  const controllers = Object.fromEntries(Object.entries(started).map(([name, { workflows }]) => [name, workflows]));
  const options: Omit<OverviewServerOptions, 'address'> = {
    cluster,
    overviews: running.flatMap(({ overview }) => (overview === undefined ? [] : [overview])),
    workflows: new OtherWorkflows(waiting, controllers),
    workflowUrl: (id) => (temporalUi === null ? null : workflowUrl(temporalUi, id)),
    troubles: () => troublesOf(running),
    log,
  };
  const server = await serveOverview({ ...options, address: config.overview.address });
  onStop('overview', async () => await server.close());
  log.info({ url: server.url }, 'the starter serves the overview');
  if (config.overview.certificate !== undefined) {
    await openOverview(headroom, { kubeConfig, options, folder: config.overview.certificate });
  }
}

/** Serves it to others as well, once there is a certificate. */
async function openOverview(
  { config, log, signal, onStop, stop }: HeadroomProcess<Config>,
  {
    kubeConfig,
    options,
    folder,
  }: {
    readonly kubeConfig: KubeConfig;
    readonly options: Omit<OverviewServerOptions, 'address'>;
    readonly folder: string;
  },
): Promise<void> {
  const address = config.overview.openAddress;
  const visitors = new Visitors(reviewsBy(kubeConfig), log);
  const server = await serveOverview({ ...options, address }, { kind: 'opened', visitors });
  const kept = keepCertificate({
    source: givenCertificate({ of: 'the overview', folder }),
    use: (certificate) => server.useCertificate(certificate),
    onWait: () => {},
    log,
    signal,
  }).catch((error: unknown) => stop('the certificate of the overview could not be kept', error));
  onStop('opened overview', async () => {
    await server.close();
    await kept;
  });
  log.info({ url: server.url }, 'the starter serves the overview to whoever may read it');
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
