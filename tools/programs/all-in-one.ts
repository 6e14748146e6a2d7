/**
 * Worker and starter in one process, to try Headroom on a small cluster: it takes one account with the rights of both, and no
 * webhooks. `headroom all-in-one` runs it.
 */
import { guardedRequests } from '../../activities/kernel/guarded-requests.ts';
import { clusterSchedule, type ControllerConfig, controllerSettings } from '../../domain/registry.ts';
import type { Constants } from '../../platform/config/config.ts';
import { concreteAddress, serveHealth, serveMetrics } from '../../platform/health/health.ts';
import { collectOften } from '../../platform/process/memory.ts';
import { connectProcess, runProcess } from '../../platform/process/process.ts';
import { release } from '../../platform/process/release.ts';
import { createMetrics, startWatching } from '../../starter/run.ts';
import { installRuntime, runWorkers } from '../../worker/run.ts';

/** Where Temporal's SDK serves what belongs to the metrics of this process: on some free port of the loopback. */
const SDK_METRICS = { host: '127.0.0.1', port: 0 };

/**
 * Starts both in this process, with the settings of its environment and arguments.
 *
 * @param constants other values of constants, as tests give them.
 */
export function start(constants: Constants = {}): void {
  collectOften();
  runProcess<ControllerConfig>(
    'all-in-one',
    controllerSettings,
    async (headroom) => {
      const { config, cluster, log, readiness, onStop } = headroom;
      const health = await serveHealth(config.process.healthAddress, readiness);
      onStop('health', async () => await health.close());
      const sdkMetrics = await concreteAddress(SDK_METRICS);
      installRuntime(log, cluster, sdkMetrics);
      const metrics = createMetrics(cluster);
      const served = await serveMetrics(config.process.metricsAddress, metrics, `http://${sdkMetrics}/metrics`);
      onStop('metrics', async () => await served.close());
      log.info(
        { release, health: health.url, metrics: served.url, cluster },
        'worker and starter are starting in one process',
      );
      const { gate, requests } = guardedRequests(config.kubernetes.writePolicy, log);
      const connected = await connectProcess(headroom, { schedule: clusterSchedule(config), ...requests });
      await Promise.all([
        runWorkers(headroom, { ...connected, gate }),
        startWatching(headroom, { ...connected, gate, metrics, hasRuntime: true }),
      ]);
    },
    constants,
  );
}

if (import.meta.main) start();
