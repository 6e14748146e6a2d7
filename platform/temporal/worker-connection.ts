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
 * The connection of a process's workers, once Temporal answers and the namespace exists; until then it says what it waits for
 * and tries again. `Runtime.install(runtimeOptions(…))` must have been called before.
 *
 * @throws the signal's reason when the process stops first.
 */
export async function connectWorker(target: TemporalTarget, options: WaitOptions): Promise<WorkerConnection> {
  const connection = await untilAvailable(
    `Temporal at ${target.address}`,
    async () => await connect(target),
    (error) => temporalReason(error, target.namespace),
    options,
  );
  return new WorkerConnection(target, connection, options);
}

async function connect(target: TemporalTarget): Promise<NativeConnection> {
  const connection = await NativeConnection.connect(target.connection.reveal());
  try {
    await requireNamespace(connection, target.namespace);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}

/** The options of a worker, but for those that all workers of a process have from their connection. */
export type OwnWorkerOptions = Omit<WorkerOptions, 'connection' | 'namespace'>;

/** What workers of a process are made with. */
export class WorkerConnection {
  readonly #target: TemporalTarget;
  readonly #wait: WaitOptions;
  #connection: NativeConnection;
  /** Those that no further worker is made with; workers that were made before may use them. */
  readonly #replaced: NativeConnection[] = [];

  constructor(target: TemporalTarget, connection: NativeConnection, wait: WaitOptions) {
    this.#target = target;
    this.#connection = connection;
    this.#wait = wait;
  }

  /**
   * A worker, once Temporal answers: it may have gone away since it was connected to.
   *
   * @throws the signal's reason when the process stops first, and what the SDK throws for wrong options.
   */
  async createWorker(options: OwnWorkerOptions): Promise<Worker> {
    const { address, namespace } = this.#target;
    let isLost = false;
    const created = await untilAvailable(
      `Temporal at ${address}`,
      async () => {
        // A worker that could not be made stays registered with its connection, where no other can take its place.
        if (isLost) this.#replace(await connect(this.#target));
        isLost = false;
        try {
          return { worker: await Worker.create({ ...options, namespace, connection: this.#connection }) };
        } catch (error) {
          isLost = isAway(error);
          if (isLost) throw error;
          return { error };
        }
      },
      (error) => temporalReason(error, namespace),
      this.#wait,
    );
    if ('worker' in created) return created.worker;
    throw created.error;
  }

  /** When no worker runs any more. */
  async close(): Promise<void> {
    for (const connection of [...this.#replaced, this.#connection]) await connection.close();
  }

  #replace(connection: NativeConnection): void {
    this.#replaced.push(this.#connection);
    this.#connection = connection;
  }
}

/** Whether Temporal gave no answer; one that it gave is final. */
function isAway(error: unknown): boolean {
  return (
    error instanceof TransportError && /code: (?:Unavailable|DeadlineExceeded|Cancelled|Unknown)\b/.test(error.message)
  );
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
