import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { Runtime } from '@temporalio/worker';
import { namedPairs } from '../domain/kernel/controllers.ts';
import { CLUSTER_LABEL, sdkBuckets } from '../domain/kernel/monitoring/metric.ts';
import { taskQueue } from '../domain/kernel/target.ts';
import { clusterSchedule, controllerMonitoring } from '../domain/registry.ts';
import type { Log } from '../platform/log/log.ts';
import { collectAtRest } from '../platform/process/memory.ts';
import type { HeadroomProcess } from '../platform/process/process.ts';
import { release } from '../platform/process/release.ts';
import { connectWorker, runtimeOptions } from '../platform/temporal/worker-connection.ts';
import { versioned, watchDeployment } from '../platform/temporal/worker-deployment.ts';
import { keepReported } from '../platform/temporal/worker-reports.ts';
import type { WriteGate } from '../activities/kernel/write-gate.ts';
import type { Config } from './config.ts';
import type { WorkerEnvironment } from './controller.ts';
import { openPauseView } from './pauses.ts';
import { watchPolicies } from './policies.ts';
import { controllers } from './registry.ts';
import {
  createActivities,
  createActivityWorkers,
  createSharedWorkers,
  createWorkflowWorker,
  type NamedWorker,
} from './workers.ts';
import { workflowBundle } from './workflow-code.ts';
import { shareWorkflowThread } from './workflow-thread/one-workflow-thread.ts';

/**
 * Sets up what all workers of the process share. Before the first of them, and once.
 *
 * @param metricsAddress where Temporal's SDK serves its metrics, with a port other than 0.
 */
export function installRuntime(log: Log, cluster: string, metricsAddress: string): void {
  const buckets = Object.values(controllerMonitoring).map(({ metrics }) => sdkBuckets(metrics));
  const labels = { [CLUSTER_LABEL]: cluster };
  Runtime.install(runtimeOptions(log, { address: metricsAddress, labels, buckets: Object.assign({}, ...buckets) }));
}

/** Runs workflows and activities until the process stops. */
export async function runWorkers(
  headroom: HeadroomProcess<Config>,
  { kubeConfig, client, gate }: { readonly kubeConfig: KubeConfig; readonly client: Client; readonly gate: WriteGate },
): Promise<void> {
  const { config, cluster, log, readiness, identity, signal, onStop, stop, tracing } = headroom;
  shareWorkflowThread();
  const connection = await connectWorker(config.temporal, { log, signal, tracing });
  onStop('Temporal connection', async () => await connection.close());
  const environment: WorkerEnvironment = {
    createWorker: async (options) => await connection.createWorker({ ...options, identity }),
    shutdownForceTime: config.process.shutdownGrace,
  };
  watchPolicies(headroom, kubeConfig, gate);
  const held = async (maxAgeMs: number) => await gate.held(maxAgeMs);
  const pauses = openPauseView({ config, kubeConfig, held, signal, log });
  // Clusters that share a queue may have other releases: there the queue belongs to no version.
  const ofRelease: WorkerEnvironment = {
    ...environment,
    createWorker: async (options) =>
      await environment.createWorker({ ...options, ...versioned(config.temporal.deployment) }),
  };
  const activities = createActivities(controllers, { config, kubeConfig, temporal: client, pauses, tracing, log });
  const code = workflowBundle(tracing !== null);
  const shared = await createSharedWorkers(controllers, config, { ...environment, workflowBundle: code });
  const ofCluster = [
    await createWorkflowWorker(cluster, config, { ...ofRelease, workflowBundle: code }),
    ...(await createActivityWorkers(cluster, config, activities, ofRelease)),
  ];
  // The shared workers stop last: running activities may need their workflows.
  const running = [...keepRunning('shared workers', shared), ...keepRunning('workers', ofCluster)];
  const workers = [...shared, ...ofCluster].map(({ name }) => name);
  log.info({ cluster, taskQueue: taskQueue(cluster), workers }, 'the worker is running');
  collectAtRest();
  const schedule = clusterSchedule(config);
  const pairs = namedPairs(config.runs);
  const report = { cluster, scheduleId: schedule.id, worker: identity, release, pairs, settings: config.reported };
  void keepReported(client, report, { log, signal });
  void watchDeployment(client, config.temporal, { log, signal });
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
