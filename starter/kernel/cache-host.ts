import type { Worker } from '@temporalio/worker';
import type { WorkerConnection } from '../../platform/temporal/worker-connection.ts';
import { HEARTBEAT_INTERVAL_MS, heartbeatWhileRunning } from '../../platform/temporal/heartbeat.ts';
import type { HeadroomProcess } from '../../platform/process/process.ts';
import type { Config } from '../config.ts';

interface HostedActivities {
  readonly taskQueue: string;
  readonly activities: object;
  /** How many of them run at once. */
  readonly workers: number;
}

/**
 * Hosts activities that read this starter's caches, each set on a task queue of its own. It runs no workflows. The SDK's worker with
 * its native library is loaded only when the first set comes: a starter that hosts nothing does not need it.
 */
export class CacheHost {
  readonly #headroom: HeadroomProcess<Config>;
  readonly #hasRuntime: boolean;
  #connection: Promise<WorkerConnection> | null = null;

  /** @param hasRuntime whether the process has set up Temporal's runtime already, which is possible once. */
  constructor(headroom: HeadroomProcess<Config>, hasRuntime: boolean) {
    this.#headroom = headroom;
    this.#hasRuntime = hasRuntime;
  }

  /**
   * Hosts activities until the process stops. Waits while Temporal is unavailable.
   *
   * @throws Error when the worker ends by itself.
   */
  async run({ taskQueue, activities, workers }: HostedActivities, name: string): Promise<void> {
    const { config, identity, signal, onStop } = this.#headroom;
    this.#connection ??= this.#connect();
    const connection = await this.#connection;
    const host: Worker = await connection.createWorker({
      identity,
      taskQueue,
      activities,
      interceptors: { activity: [heartbeatWhileRunning] },
      maxHeartbeatThrottleInterval: HEARTBEAT_INTERVAL_MS,
      maxConcurrentActivityTaskExecutions: workers,
      // What reads a cache takes milliseconds; what waits for one can move to another starter at once.
      shutdownGraceTime: 0,
      shutdownForceTime: config.process.shutdownGrace,
    });
    const running = host.run();
    onStop(name, async () => {
      if (host.getState() === 'RUNNING') host.shutdown();
      await running;
    });
    await running;
    if (!signal.aborted) throw new Error('it ended by itself');
  }

  async #connect(): Promise<WorkerConnection> {
    const { config, log, signal, onStop, tracing } = this.#headroom;
    const [{ Runtime }, { connectWorker, runtimeOptions }] = await Promise.all([
      import('@temporalio/worker'),
      import('../../platform/temporal/worker-connection.ts'),
    ]);
    if (!this.#hasRuntime) Runtime.install(runtimeOptions(log));
    const connection = await connectWorker(config.temporal, { log, signal, tracing });
    onStop('Temporal connection of the cache host', async () => await connection.close());
    return connection;
  }
}
