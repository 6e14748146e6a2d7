/** The process that runs workflows and activities. Any number of them may run for one cluster. */
import { Runtime, Worker } from '@temporalio/worker';
import { taskQueue } from '../domain/kernel/target.ts';
import { concreteAddress, serveHealth } from './kernel/health.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from './kernel/heartbeat.ts';
import { connectProcess, type HeadroomProcess, runProcess } from './kernel/process.ts';
import { connectWorker, runtimeOptions } from './kernel/temporal.ts';
import { workflowCode } from './kernel/workflow-code.ts';
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
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    identity,
    taskQueue: taskQueue(cluster),
    ...workflowCode(config.worker.workflowBundle),
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
  readiness.watch('worker', () => {
    const state = worker.getState();
    return state === 'RUNNING' ? { ready: true } : { ready: false, reason: `the worker is ${state}` };
  });
  const running = worker.run();
  onStop('worker', async () => {
    if (worker.getState() === 'RUNNING') worker.shutdown();
    await running;
  });
  log.info({ cluster, taskQueue: taskQueue(cluster), mode: config.resize.mode }, 'the worker is running');
  await running;
  if (!signal.aborted) stop('the worker ended by itself', new Error('the worker ended by itself'));
}
