/** The process that runs workflows and activities. Any number of them may run for one cluster. */
import { Runtime, Worker } from '@temporalio/worker';
import { taskQueue } from '../domain/kernel/target.ts';
import { createGitHubBudgetWorker } from './github-budget/worker.ts';
import { concreteAddress, serveHealth } from '../platform/health/health.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from '../platform/temporal/heartbeat.ts';
import { connectProcess, type HeadroomProcess, runProcess } from '../platform/process/process.ts';
import { connectWorker, runtimeOptions } from '../platform/temporal/temporal.ts';
import { workflowBundle } from './workflow-code.ts';
import { createAllActivities } from './registry.ts';

runProcess('worker', run);

async function run(headroom: HeadroomProcess): Promise<void> {
  const { config, cluster, log, readiness, identity, signal, onStop, stop } = headroom;
  const health = await serveHealth(config.process.healthAddress, readiness);
  onStop('health', async () => await health.close());
  const metricsAddress = await concreteAddress(config.process.metricsAddress);
  Runtime.install(runtimeOptions(log, metricsAddress));
  log.info({ health: health.url, metrics: `http://${metricsAddress}/metrics`, cluster }, 'the worker is starting');
  const { kubeConfig, client } = await connectProcess(headroom);

  const connection = await connectWorker(config.temporal, { log, signal });
  onStop('Temporal connection', async () => await connection.close());
  const code = await workflowBundle(config.worker.workflowBundle);
  const { namespace } = config.temporal;
  const worker = await Worker.create({
    connection,
    namespace,
    identity,
    taskQueue: taskQueue(cluster),
    workflowBundle: code,
    activities: createAllActivities({ config, kubeConfig, temporal: client, log }),
    interceptors: { activity: [heartbeatWhileRunning] },
    // The SDK would hold heartbeats back for most of their timeout.
    maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
    maxCachedWorkflows: config.worker.maxCachedWorkflows,
    maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentActivities,
    maxConcurrentWorkflowTaskExecutions: config.worker.maxConcurrentWorkflowTasks,
    // An activity under way may end by itself in this time; then it is cancelled and another worker repeats it.
    shutdownGraceTime: config.process.shutdownGrace / 2,
    shutdownForceTime: config.process.shutdownGrace,
  });
  const shutdownForceTime = config.process.shutdownGrace;
  const budgetWorker =
    config.github === undefined
      ? null
      : await createGitHubBudgetWorker({ connection, namespace, identity, workflowBundle: code, shutdownForceTime });
  // Stopped first the last one: activities that are still under way may need a permit of the budget.
  const running = [
    ...(budgetWorker === null ? [] : [keepRunning('worker of the GitHub budget', budgetWorker)]),
    keepRunning('worker', worker),
  ];
  log.info({ cluster, taskQueue: taskQueue(cluster), mode: config.resize.mode }, 'the worker is running');
  await Promise.race(running);
  if (!signal.aborted) stop('the worker ended by itself', new Error('the worker ended by itself'));

  async function keepRunning(name: string, one: Worker): Promise<void> {
    readiness.watch(name, () => {
      const state = one.getState();
      return state === 'RUNNING' ? { ready: true } : { ready: false, reason: `the ${name} is ${state}` };
    });
    const run = one.run();
    onStop(name, async () => {
      if (one.getState() === 'RUNNING') one.shutdown();
      await run;
    });
    await run;
  }
}
