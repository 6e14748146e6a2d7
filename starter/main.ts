/**
 * The process that watches a cluster, counts from its caches, and starts and wakes workflows. It writes nothing to the
 * cluster but the status of quotas, where Headroom counts them itself.
 */
import { guardedRequests } from '../activities/kernel/guarded-requests.ts';
import { clusterSchedule, type ControllerConfig, controllerSettings } from '../domain/registry.ts';
import { switchedOff } from '../domain/kernel/controllers.ts';
import type { Constants } from '../platform/config/config.ts';
import { refuseSwitchedOff } from '../platform/config/config-problem.ts';
import { serveHealth, serveMetrics } from '../platform/health/health.ts';
import { connectProcess, runProcess } from '../platform/process/process.ts';
import { release } from '../platform/process/release.ts';
import { watchWritePolicy } from './policies.ts';
import { controllers } from './registry.ts';
import { createMetrics, startWatching } from './run.ts';

/**
 * Starts the starter in this process, with the settings of its environment and arguments.
 *
 * @param constants other values of constants, as tests give them.
 */
export function start(constants: Constants = {}): void {
  runProcess<ControllerConfig>(
    'starter',
    controllerSettings,
    async (headroom) => {
      const { config, cluster, log, readiness, onStop } = headroom;
      refuseSwitchedOff(switchedOff(controllers, config));
      const metrics = createMetrics(cluster);
      const health = await serveHealth(config.process.healthAddress, readiness);
      onStop('health', async () => await health.close());
      const served = await serveMetrics(config.process.metricsAddress, metrics);
      onStop('metrics', async () => await served.close());
      log.info({ release, health: health.url, metrics: served.url, cluster }, 'the starter is starting');
      const { gate, requests } = guardedRequests(config.kubernetes.writePolicy, log);
      const connected = await connectProcess(headroom, { schedule: clusterSchedule(config), ...requests });
      watchWritePolicy(headroom, connected.kubeConfig, gate);
      await startWatching(headroom, { ...connected, gate, metrics });
    },
    constants,
  );
}

if (import.meta.main) start();
