/** The process that runs workflows and activities. Any number of them may run for one cluster. */
import { guardedRequests } from '../activities/kernel/guarded-requests.ts';
import { clusterSchedule, type ControllerConfig, controllerSettings } from '../domain/registry.ts';
import { switchedOff } from '../domain/kernel/controllers.ts';
import type { Constants } from '../platform/config/config.ts';
import { refuseSwitchedOff } from '../platform/config/config-problem.ts';
import { concreteAddress, serveHealth } from '../platform/health/health.ts';
import { collectOften } from '../platform/process/memory.ts';
import { connectProcess, runProcess } from '../platform/process/process.ts';
import { release } from '../platform/process/release.ts';
import { controllers } from './registry.ts';
import { installRuntime, runWorkers } from './run.ts';

/**
 * Starts the worker in this process, with the settings of its environment and arguments.
 *
 * @param constants other values of constants, as tests give them.
 */
export function start(constants: Constants = {}): void {
  collectOften();
  runProcess<ControllerConfig>(
    'worker',
    controllerSettings,
    async (headroom) => {
      const { config, cluster, log, readiness, onStop } = headroom;
      refuseSwitchedOff(switchedOff(controllers, config));
      const health = await serveHealth(config.process.healthAddress, readiness);
      onStop('health', async () => await health.close());
      const metricsAddress = await concreteAddress(config.process.metricsAddress);
      installRuntime(log, cluster, metricsAddress);
      log.info(
        { release, health: health.url, metrics: `http://${metricsAddress}/metrics`, cluster },
        'the worker is starting',
      );
      const { gate, requests } = guardedRequests(config.kubernetes.writePolicy, log);
      const connected = await connectProcess(headroom, { schedule: clusterSchedule(config), ...requests });
      await runWorkers(headroom, { ...connected, gate });
    },
    constants,
  );
}

if (import.meta.main) start();
