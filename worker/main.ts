/** The process that runs workflows and activities. Any number of them may run for one cluster. */
import { Runtime } from '@temporalio/worker';
import { taskQueue } from '../domain/kernel/target.ts';
import { auditKubernetesWrites } from '../activities/kernel/audit.ts';
import { requestCancellation } from '../activities/kernel/cancellation.ts';
import { clusterSchedule, type ControllerConfig, controllerSettings } from '../domain/registry.ts';
import { concreteAddress, serveHealth } from '../platform/health/health.ts';
import { release } from '../platform/process/release.ts';
import { collectAfterStart, collectOften } from '../platform/process/memory.ts';
import { connectProcess, type HeadroomProcess, runProcess } from '../platform/process/process.ts';
import { shareWorkflowThread } from './workflow-thread/one-workflow-thread.ts';
import { keepReported } from '../platform/temporal/worker-reports.ts';
import { connectWorker, runtimeOptions } from '../platform/temporal/worker-connection.ts';
import type { Config } from './config.ts';
import type { WorkerEnvironment } from './controller.ts';
import { openPauseView } from './pauses.ts';
import { controllers } from './registry.ts';
import {
  createActivities,
  createActivityWorkers,
  createSharedWorkers,
  createWorkflowWorker,
  type NamedWorker,
} from './workers.ts';
import { workflowBundle } from './workflow-code.ts';

collectOften();
runProcess<ControllerConfig>('worker', controllerSettings, run);

async function run(headroom: HeadroomProcess<Config>): Promise<void> {
  const { config, cluster, log, readiness, identity, signal, onStop, stop } = headroom;
  const health = await serveHealth(config.process.healthAddress, readiness);
  onStop('health', async () => await health.close());
  const metricsAddress = await concreteAddress(config.process.metricsAddress);
  const buckets = Object.values(controllers).map(({ histogramBuckets }) => histogramBuckets);
  Runtime.install(runtimeOptions(log, metricsAddress, Object.assign({}, ...buckets)));
  log.info({ health: health.url, metrics: `http://${metricsAddress}/metrics`, cluster }, 'the worker is starting');
  const { kubeConfig, client } = await connectProcess(headroom, {
    schedule: clusterSchedule(config),
    requestCancellation,
    onWrite: auditKubernetesWrites(log),
  });

  shareWorkflowThread();
  const connection = await connectWorker(config.temporal, { log, signal });
  onStop('Temporal connection', async () => await connection.close());
  const environment: WorkerEnvironment = {
    createWorker: async (options) => await connection.createWorker({ ...options, identity }),
    shutdownForceTime: config.process.shutdownGrace,
  };
  const workflows = { ...environment, workflowBundle };
  const pauses = openPauseView({ config, kubeConfig, signal, log });
  const activities = createActivities(controllers, { config, kubeConfig, temporal: client, pauses, log });
  const shared = await createSharedWorkers(controllers, config, workflows);
  const ofCluster = [
    await createWorkflowWorker(cluster, config, workflows),
    ...(await createActivityWorkers(cluster, config, activities, environment)),
  ];
  // The shared workers stop last: running activities may need their workflows.
  const running = [...keepRunning('shared workers', shared), ...keepRunning('workers', ofCluster)];
  const workers = [...shared, ...ofCluster].map(({ name }) => name);
  log.info({ cluster, taskQueue: taskQueue(cluster), workers }, 'the worker is running');
  collectAfterStart();
  const schedule = clusterSchedule(config);
  const report = { cluster, scheduleId: schedule.id, worker: identity, release, settings: config.reported };
  void keepReported(client, report, { log, signal });
  await Promise.race(running);
  if (!signal.aborted) stop('the worker ended by itself', new Error('the worker ended by itself'));

  /** Runs workers until the process stops; then all stop at the same time. */
  function keepRunning(step: string, workers: readonly NamedWorker[]): readonly Promise<void>[] {
    for (const { name, worker } of workers) {
      readiness.watch(name, () => {
        const state = worker.getState();
        return state === 'RUNNING' ? { ready: true } : { ready: false, reason: `the ${name} is ${state}` };
      });
    }
    const runs = workers.map(async ({ worker }) => await worker.run());
    onStop(step, async () => {
      for (const { worker } of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await Promise.all(runs);
    });
    return runs;
  }
}
