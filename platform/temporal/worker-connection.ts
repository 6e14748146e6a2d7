/**
 * What runs activities or workflows needs of Temporal's SDK. Apart from the client's part: the worker of the SDK has a native
 * part of 30 MB, which a process that only asks Temporal does without.
 */
import { NativeConnection, type RuntimeOptions, TransportError, Worker, type WorkerOptions } from '@temporalio/worker';
import { type Log, temporalLogger } from '../log/log.ts';
import { untilAvailable, type WaitOptions } from '../process/availability.ts';
import { requireNamespace, temporalReason } from './temporal.ts';
import type { TemporalTarget } from './temporal-profile.ts';

/**
 * The connection of a worker, once Temporal answers and the namespace exists; until then it says what it waits for and
 * tries again. `Runtime.install(runtimeOptions(…))` must have been called before.
 *
 * @throws the signal's reason when the process stops first.
 */
export async function connectWorker(target: TemporalTarget, options: WaitOptions): Promise<NativeConnection> {
  return await untilAvailable(
    `Temporal at ${target.address}`,
    async () => {
      const connection = await NativeConnection.connect(target.connection.reveal());
      try {
        await requireNamespace(connection, target.namespace);
      } catch (error) {
        await connection.close();
        throw error;
      }
      return connection;
    },
    (error) => temporalReason(error, target.namespace),
    options,
  );
}

/**
 * A worker on a connection of `connectWorker`, once Temporal answers: it may have gone away since it was connected to.
 *
 * @throws the signal's reason when the process stops first, and what the SDK throws for wrong options.
 */
export async function createWorker(target: TemporalTarget, options: WorkerOptions, wait: WaitOptions): Promise<Worker> {
  const created = await untilAvailable(
    `Temporal at ${target.address}`,
    async () => {
      try {
        return { worker: await Worker.create(options) };
      } catch (error) {
        if (error instanceof TransportError) throw error;
        return { error };
      }
    },
    (error) => temporalReason(error, target.namespace),
    wait,
  );
  if ('worker' in created) return created.worker;
  throw created.error;
}

/** The upper bounds of the buckets of histograms that are not Temporal's own, by the metric's name. */
export type HistogramBuckets = Record<string, number[]>;

/**
 * Options for `Runtime.install`: the SDK's and its core's lines go into our log, its metrics and the worker's own to
 * `/metrics` on the given address, and its handling of signals is off, because the process has its own.
 *
 * @param metricsAddress `host:port` with a port that is not 0: the SDK does not tell which one it took.
 */
export function runtimeOptions(
  log: Log,
  metricsAddress: string | undefined,
  histogramBuckets: HistogramBuckets = {},
): RuntimeOptions {
  return {
    logger: temporalLogger(log),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metricsAddress === undefined
        ? {}
        : {
            metrics: {
              prometheus: {
                bindAddress: metricsAddress,
                // Prometheus' naming rules: base units, and _total for counters.
                countersTotalSuffix: true,
                unitSuffix: true,
                useSecondsForDurations: true,
                histogramBucketOverrides: histogramBuckets,
              },
            },
          }),
    },
  };
}
