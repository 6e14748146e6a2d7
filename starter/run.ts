import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { WriteGate } from '../activities/kernel/write-gate.ts';
import { controllersToldOf, pairNames, runningControllers } from '../domain/kernel/controllers.ts';
import { CLUSTER_LABEL } from '../domain/kernel/monitoring/metric.ts';
import { sharedMetrics } from '../domain/kernel/monitoring/shared-metrics.ts';
import { sharedMonitoring } from '../domain/kernel/monitoring/shared-monitoring.ts';
import { controllerMonitoring } from '../domain/registry.ts';
import type { Readiness } from '../platform/health/health.ts';
import { collectAtRest } from '../platform/process/memory.ts';
import type { HeadroomProcess } from '../platform/process/process.ts';
import { createAdmissionMetrics, startAdmission } from './admission/start.ts';
import type { Config } from './config.ts';
import type { RunningController } from './controller.ts';
import { CacheHost } from './kernel/cache-host.ts';
import { CountedUsage } from './kernel/counted-usage.ts';
import { collectGauge } from './kernel/metrics.ts';
import { Outlooks } from './kernel/outlooks.ts';
import { tellPauses } from './kernel/pause-watch.ts';
import { RequestMetrics } from './kernel/request-metrics.ts';
import { registerWaitingMetrics } from './kernel/waiting-metrics.ts';
import { WaitingWorkflows } from './kernel/waiting-workflows.ts';
import { startOverview } from './overview/start.ts';
import { controllers } from './registry.ts';

/**
 * How often the event loop's lag is measured. prom-client's default of ten milliseconds takes three quarters of the CPU
 * time of an idle starter. A lag that is longer than this is seen in full.
 */
const EVENT_LOOP_SAMPLE_MS = 250;

/** The metrics of a process that watches a cluster, with those of Node. */
export function createMetrics(cluster: string): Registry {
  const metrics = new Registry();
  metrics.setDefaultLabels({ [CLUSTER_LABEL]: cluster });
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  return metrics;
}

interface Watching {
  readonly kubeConfig: KubeConfig;
  readonly client: Client;
  readonly metrics: Registry;
  readonly gate: WriteGate;
  /** Whether the process has set up Temporal's runtime already, as one with workers has. */
  readonly hasRuntime?: boolean;
}

/** Starts to watch, to count, and to start and wake workflows, for as long as the process runs. */
export async function startWatching(
  headroom: HeadroomProcess<Config>,
  { kubeConfig, client, metrics, gate, hasRuntime = false }: Watching,
): Promise<void> {
  const { config, cluster, log, readiness } = headroom;
  const requestMetrics = new RequestMetrics(metrics);
  const countedUsage = new CountedUsage();
  const outlooks = new Outlooks();
  const enabled = runningControllers(controllers, config);
  const started: Record<string, RunningController> = {};
  const cacheHost = new CacheHost(headroom, hasRuntime);
  const common = { headroom, kubeConfig, client, metrics, countedUsage, outlooks, requestMetrics, cacheHost };
  const pauses = tellPauses(common, gate);
  const context = { ...common, pauseOf: pauses.pauseOf, pauses: pauses.pauses };
  for (const name of enabled) started[name] = await controllers[name].start(context);
  const running = [...Object.values(started), pauses];
  await serveWebhooks(headroom, { kubeConfig, metrics, running });
  const toldOf = controllersToldOf(controllers, config);
  const waiting = new WaitingWorkflows({ client, cluster, phases: waitingPhases(), controllers: toldOf, log });
  await startOverview(headroom, { kubeConfig, waiting, started, pauses });
  registerMetrics(metrics, running);
  registerWaitingMetrics(metrics, waiting);
  const pairs = pairNames.filter((name) => controllers[name].isEnabled(config));
  collectGauge(metrics, sharedMetrics.controllers, () =>
    pairs.map((controller) => [{ controller }, config.runs.has(controller) ? 1 : 0] as const),
  );
  watchReadiness(readiness, running);
  log.info({ cluster, controllers: enabled }, 'the starter is watching');
  collectAtRest();
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
  collectGauge(metrics, sharedMetrics.watchStale, () =>
    running.flatMap(({ informers }) =>
      Object.entries(informers).map(([resource, informer]) => [{ resource }, informer.staleSeconds()] as const),
    ),
  );
}

/** The phases of all controllers: the one that names a phase is the one whose workflows are in it. */
function waitingPhases(): readonly string[] {
  const all = [sharedMonitoring, ...Object.values(controllerMonitoring)];
  return [...new Set(all.flatMap(({ waitingPhases: own }) => own))];
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
