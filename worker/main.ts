/** The process that runs workflows and activities. Any number of them may run for one cluster. */
import { fileURLToPath } from 'node:url';
import { Runtime, Worker } from '@temporalio/worker';
import { taskQueue } from '../domain/kernel/target.ts';
import { ClusterNameTaken, claimCluster } from './kernel/cluster-claim.ts';
import type { Config } from './kernel/config.ts';
import { exitCodes } from './kernel/exit-codes.ts';
import { concreteAddress, Readiness, serveHealth } from './kernel/health.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from './kernel/heartbeat.ts';
import { KubernetesAccessError, loadKubeConfig, waitForKubernetes } from './kernel/kubernetes-access.ts';
import { createLog, type Log } from './kernel/log.ts';
import { readProcessConfig } from './kernel/process-config.ts';
import { ensureSearchAttributes, SearchAttributesError } from './kernel/search-attributes.ts';
import { installShutdown, type Shutdown } from './kernel/shutdown.ts';
import { connectClient, connectWorker, runtimeOptions } from './kernel/temporal.ts';
import { createAllActivities } from './registry.ts';

const config = readProcessConfig('worker');
const log = createLog({ name: 'headroom-worker', level: config.process.logLevel });
const shutdown = installShutdown({ log, graceMs: config.process.shutdownGrace });
run(config, log, shutdown).catch((error: unknown) => {
  if (shutdown.signal.aborted) return;
  if (
    error instanceof ClusterNameTaken ||
    error instanceof KubernetesAccessError ||
    error instanceof SearchAttributesError
  ) {
    log.fatal(error.message);
    process.exit(exitCodes.configuration);
  }
  shutdown.stop('the worker failed', error);
});

async function run(config: Config, log: Log, { signal, onStop, stop }: Shutdown): Promise<void> {
  for (const notice of config.notices) log.warn(notice);
  const cluster = config.kubernetes.clusterName;
  const readiness = new Readiness();
  const health = await serveHealth(config.process.healthAddress, readiness);
  onStop('health', async () => await health.close());
  const metricsAddress = await concreteAddress(config.process.metricsAddress);
  Runtime.install(runtimeOptions(log, metricsAddress));
  log.info({ health: health.url, metrics: `http://${metricsAddress}/metrics`, cluster }, 'the worker is starting');

  const waiting = (name: string) => (reason: string | undefined) =>
    readiness.set(name, reason === undefined ? { ready: true } : { ready: false, reason });
  waiting('kubernetes')('not connected yet');
  waiting('temporal')('not connected yet');
  const kubeConfig = loadKubeConfig(
    { ...config.kubernetes, requestTimeoutMs: config.timings.requestTimeout },
    process.env,
  );
  const uid = await waitForKubernetes(kubeConfig, { log, signal, onWait: waiting('kubernetes') });
  const identity = `headroom-worker@${cluster}/${process.pid}`;
  const client = await connectClient(config.temporal, { log, signal, identity, onWait: waiting('temporal') });
  onStop('Temporal client', async () => await client.connection.close());
  await ensureSearchAttributes(client, { log, signal });
  await claimCluster(client, { cluster, uid, leaseGcIntervalMs: config.timings.leaseGcInterval });

  const connection = await connectWorker(config.temporal, { log, signal });
  onStop('Temporal connection', async () => await connection.close());
  const worker = await Worker.create({
    connection,
    namespace: config.temporal.namespace,
    identity,
    taskQueue: taskQueue(cluster),
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
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
