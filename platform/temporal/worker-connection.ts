/**
 * The worker's part of Temporal's SDK, separate from the client's, because it has a native library of 30 MB, which a
 * process that is only a client does not need.
 */
import { NativeConnection, type RuntimeOptions, TransportError, Worker, type WorkerOptions } from '@temporalio/worker';
import { type Log, temporalLogger } from '../log/log.ts';
import { untilAvailable, type WaitOptions } from '../process/availability.ts';
import { lookOnlyForLinesThatThereAre } from './held-back-lines.ts';
import { requireNamespace, temporalReason } from './temporal.ts';
import { type Credentials, keepRenewed } from './renewal.ts';
import type { Tracing } from '../tracing/interface.ts';
import type { TemporalTarget } from './temporal-target.ts';

/**
 * The connection of a process's workers, once Temporal responds and the namespace exists; until then the reason is
 * logged and the attempt repeated. Until the process stops its workers go on with certificates and an API key that were replaced. Requires `Runtime.install(runtimeOptions(…))`.
 *
 * @throws the signal's reason when the process stops first.
 */
export async function connectWorker(
  target: TemporalTarget,
  options: WorkerConnectionOptions,
): Promise<WorkerConnection> {
  const reasonOf = (error: unknown): string => temporalReason(error, target.namespace);
  const { used, opened } = await untilAvailable(
    `Temporal at ${target.place}`,
    async () => {
      const credentials = target.connection.reveal();
      return { used: credentials, opened: await connect(target, credentials) };
    },
    reasonOf,
    options,
  );
  const connection = new WorkerConnection(target, opened, options);
  const takeOver = async (credentials: Credentials): Promise<void> => await connection.takeOver(credentials);
  void keepRenewed(target, takeOver, reasonOf, { ...options, used });
  return connection;
}

async function connect(target: TemporalTarget, credentials: Credentials): Promise<NativeConnection> {
  const connection = await NativeConnection.connect(credentials);
  try {
    await requireNamespace(connection, target.namespace);
  } catch (error) {
    await connection.close();
    throw error;
  }
  return connection;
}

interface WorkerConnectionOptions extends WaitOptions {
  /** Traces what the workers do; absent or null: nothing does. */
  readonly tracing?: Pick<Tracing, 'ofWorker'> | null;
}

/** The options of one worker, without those that all workers of a process share. */
export type OwnWorkerOptions = Omit<WorkerOptions, 'connection' | 'namespace'>;

const ENDED: ReadonlySet<string> = new Set<ReturnType<Worker['getState']>>(['DRAINED', 'STOPPED', 'FAILED']);

/** What workers of a process are made with. */
export class WorkerConnection {
  readonly #target: TemporalTarget;
  readonly #wait: WorkerConnectionOptions;
  #connection: NativeConnection;
  /** Connections without new workers; earlier workers may still use them. */
  readonly #replaced: NativeConnection[] = [];
  readonly #workers: Worker[] = [];

  constructor(target: TemporalTarget, connection: NativeConnection, wait: WorkerConnectionOptions) {
    this.#target = target;
    this.#connection = connection;
    this.#wait = wait;
  }

  /**
   * Creates a worker, waiting while Temporal is unavailable.
   *
   * @throws the signal's reason when the process stops first, and the SDK's error for invalid options.
   */
  async createWorker(own: OwnWorkerOptions): Promise<Worker> {
    const { place, namespace } = this.#target;
    const options = this.#wait.tracing?.ofWorker(own) ?? own;
    let isLost = false;
    const created = await untilAvailable(
      `Temporal at ${place}`,
      async () => {
        // After a failed creation the worker stays registered with its connection and blocks another one, so the
        // connection is replaced.
        if (isLost) this.#replace(await connect(this.#target, this.#target.connection.reveal()));
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
    if ('error' in created) throw created.error;
    this.#workers.push(created.worker);
    return created.worker;
  }

  /**
   * Connects with other credentials, for all workers and later ones.
   *
   * @throws the SDK's error where Temporal rejects them; everything stays as it was.
   */
  async takeOver(credentials: Credentials): Promise<void> {
    this.#replace(await connect(this.#target, credentials));
    for (const worker of this.#workers) {
      // One that has ended has nothing to say any more.
      if (!ENDED.has(worker.getState())) worker.connection = this.#connection;
    }
    for (const connection of this.#replaced.splice(0)) {
      // One that a worker still holds is closed in the end.
      await connection.close().catch(() => this.#replaced.push(connection));
    }
  }

  /** Must be called after all workers have ended. */
  async close(): Promise<void> {
    for (const connection of [...this.#replaced, this.#connection]) await connection.close();
  }

  #replace(connection: NativeConnection): void {
    this.#replaced.push(this.#connection);
    this.#connection = connection;
  }
}

/** Whether Temporal did not respond; a response, even an error, is final. */
function isAway(error: unknown): boolean {
  return (
    error instanceof TransportError && /code: (?:Unavailable|DeadlineExceeded|Cancelled|Unknown)\b/.test(error.message)
  );
}

/** What the SDK serves for Prometheus. */
interface ServedMetrics {
  /** `host:port` with a port other than 0, because the SDK does not report its port. */
  readonly address: string;
  /** Of every series. */
  readonly labels?: Record<string, string>;
  /** The upper bounds of the buckets of histograms that are not Temporal's own, by the metric's name. */
  readonly buckets?: Record<string, number[]>;
}

/**
 * Options for `Runtime.install`: lines of the SDK and its core go to our log, metrics are served on `/metrics` of the
 * given address, and its signal handling is off, because the process has its own.
 */
export function runtimeOptions(log: Log, metrics?: ServedMetrics): RuntimeOptions {
  lookOnlyForLinesThatThereAre();
  return {
    logger: temporalLogger(log),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} },
      ...(metrics === undefined
        ? {}
        : {
            metrics: {
              globalTags: metrics.labels ?? {},
              prometheus: {
                bindAddress: metrics.address,
                // Prometheus' naming rules: base units, and _total for counters.
                countersTotalSuffix: true,
                unitSuffix: true,
                useSecondsForDurations: true,
                histogramBucketOverrides: metrics.buckets ?? {},
              },
            },
          }),
    },
  };
}
