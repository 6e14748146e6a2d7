/**
 * The process that watches a cluster, counts from its caches, and starts and wakes workflows. It writes nothing to the
 * cluster but the status of quotas, where Headroom counts them itself.
 */
import type { KubeConfig } from '@kubernetes/client-node';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { auditKubernetesWrites } from '../activities/kernel/audit.ts';
import { requestCancellation } from '../activities/kernel/cancellation.ts';
import { clusterSchedule, type ControllerConfig, controllerSettings } from '../domain/registry.ts';
import { type Readiness, serveHealth, serveMetrics } from '../platform/health/health.ts';
import { collectAfterStart } from '../platform/process/memory.ts';
import { connectProcess, type HeadroomProcess, runProcess } from '../platform/process/process.ts';
import { createAdmissionMetrics, startAdmission } from './admission/start.ts';
import type { Config } from './config.ts';
import type { RunningController } from './controller.ts';
import { CacheHost } from './kernel/cache-host.ts';
import { CountedUsage } from './kernel/counted-usage.ts';
import { watchPauses } from './kernel/pause-watch.ts';
import { RequestMetrics } from './kernel/request-metrics.ts';
import { controllers } from './registry.ts';

/**
 * How often the event loop's lag is measured. prom-client's default of ten milliseconds takes three quarters of the CPU
 * time of an idle starter. A lag that is longer than this is seen in full.
 */
const EVENT_LOOP_SAMPLE_MS = 250;

runProcess<ControllerConfig>('starter', controllerSettings, run);

async function run(headroom: HeadroomProcess<Config>): Promise<void> {
  const { config, cluster, log, readiness, onStop } = headroom;
  const metrics = new Registry();
  metrics.setDefaultLabels({ cluster });
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  const health = await serveHealth(config.process.healthAddress, readiness);
  onStop('health', async () => await health.close());
  const served = await serveMetrics(config.process.metricsAddress, metrics);
  onStop('metrics', async () => await served.close());
  log.info({ health: health.url, metrics: served.url, cluster }, 'the starter is starting');
  const { kubeConfig, client } = await connectProcess(headroom, {
    schedule: clusterSchedule(config),
    requestCancellation,
    onWrite: auditKubernetesWrites(log),
  });

  const requestMetrics = new RequestMetrics(metrics);
  const countedUsage = new CountedUsage();
  const enabled = Object.entries(controllers).filter(([, { isEnabled }]) => isEnabled(config));
  const running: RunningController[] = [];
  const cacheHost = new CacheHost(headroom);
  const common = { headroom, kubeConfig, client, metrics, countedUsage, requestMetrics, cacheHost };
  const pauses = watchPauses(common);
  const context = { ...common, pauseOf: pauses.pauseOf, pauses: pauses.pauses };
  for (const [, { start }] of enabled) running.push(await start(context));
  running.push(pauses);
  await serveWebhooks(headroom, { kubeConfig, metrics, running });
  registerMetrics(metrics, running);
  watchReadiness(readiness, running);
  log.info({ cluster, controllers: enabled.map(([name]) => name) }, 'the starter is watching');
  collectAfterStart();
}

/** Serves the admission webhooks of the controllers that have any. */
async function serveWebhooks(
  headroom: HeadroomProcess<Config>,
  {
    kubeConfig,
    metrics,
    running,
  }: {
    readonly kubeConfig: KubeConfig;
    readonly metrics: Registry;
    readonly running: readonly RunningController[];
  },
): Promise<void> {
  const all = running.flatMap(({ admission }) => admission ?? []);
  if (all.length === 0) return;
  const admissionMetrics = createAdmissionMetrics(metrics);
  for (const webhooks of all) await startAdmission(headroom, { kubeConfig, metrics: admissionMetrics, webhooks });
}

function registerMetrics(metrics: Registry, running: readonly RunningController[]): void {
  metrics.registerMetric(
    new Gauge({
      name: 'headroom_starter_watch_stale_seconds',
      help: 'How long a watch has been broken; 0 while it is connected.',
      labelNames: ['resource'],
      registers: [],
      collect() {
        for (const { informers } of running) {
          for (const [resource, informer] of Object.entries(informers)) this.set({ resource }, informer.staleSeconds());
        }
      },
    }),
  );
}

function watchReadiness(readiness: Readiness, running: readonly RunningController[]): void {
  for (const [resource, informer] of running.flatMap(({ informers }) => Object.entries(informers))) {
    readiness.watch(`watch ${resource}`, () => {
      if (!informer.isSynced()) {
        const trouble = informer.trouble();
        return { ready: false, reason: `the first list is not in yet${trouble === null ? '' : `: ${trouble}`}` };
      }
      const seconds = Math.round(informer.staleSeconds());
      return seconds === 0 ? { ready: true } : { ready: false, reason: `broken for ${seconds} s` };
    });
  }
}
