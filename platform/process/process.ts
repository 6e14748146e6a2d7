import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { KubeConfig } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { untilAvailable } from './availability.ts';
import { ClusterNameTaken, reserveClusterName } from '../temporal/cluster-name.ts';
import type { ClusterSchedule } from '../../domain/kernel/schedule.ts';
import type { ProgramName } from '../../domain/kernel/settings/setting.ts';
import { type Constants, type ControllerSettings, loadConfig, type PlatformConfig } from '../config/config.ts';
import { ConfigError } from '../config/config-problem.ts';
import { configurationHelp } from '../config/config-table.ts';
import { exitCodes } from './exit-codes.ts';
import { Readiness } from '../health/health.ts';
import {
  type KubernetesAccess,
  KubernetesAccessError,
  loadKubeConfig,
  type RequestCancellation,
  waitForKubernetes,
  watchKubernetes,
} from '../kubernetes/kubernetes-access.ts';
import { createLog, type Log, redactor } from '../log/log.ts';
import { watchAuthorities } from '../network/authorities-watch.ts';
import { useNetwork } from '../network/network.ts';
import { useGrpcLog } from '../temporal/grpc-log.ts';
import { ensureSearchAttributes, SearchAttributesError } from '../temporal/search-attributes.ts';
import { startTracing } from '../tracing/tracing.ts';
import type { Tracing } from '../tracing/interface.ts';
import { release } from './release.ts';
import { mapStackTraces } from './stack-traces.ts';
import { installShutdown, type Shutdown } from './shutdown.ts';
import { connectClient, watchTemporal } from '../temporal/temporal.ts';

/** What every Headroom process provides from its start. */
export interface HeadroomProcess<Config extends PlatformConfig = PlatformConfig> extends Shutdown {
  readonly config: Config;
  readonly cluster: string;
  readonly log: Log;
  readonly readiness: Readiness;
  /** The identity of this process in Temporal's histories. */
  readonly identity: string;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
}

/**
 * Runs a process with common configuration, log and shutdown. An error that only a person can fix (an invalid
 * configuration, a cluster name that is taken) ends it with exit code 2 and one sentence, any other error with 1.
 *
 * @param controllers the settings of all controllers that it runs.
 * @param constants other values of constants, for whoever starts the program by code.
 */
export function runProcess<Values extends object>(
  program: Exclude<ProgramName, 'command line'>,
  controllers: ControllerSettings<Values>,
  run: (process: HeadroomProcess<PlatformConfig & Values>) => Promise<void>,
  constants: Constants = {},
): void {
  mapStackTraces();
  const config = readConfig(program, controllers, constants);
  const cluster = config.kubernetes.clusterName;
  const { logLevel: level, auditLog: auditFile } = config.process;
  const log = configured(() => createLog({ name: `headroom-${program}`, level, secrets: config.secrets, auditFile }));
  useNetwork(config.network);
  useGrpcLog(log);
  const shutdown = installShutdown({ log, graceMs: config.process.shutdownGrace });
  endWithOtherAuthorities(config.network, log, shutdown);
  // In a pod the process id is always the same, but the host name is the pod's name.
  const identity = `headroom-${program}@${cluster}/${hostname()}/${process.pid}`;
  for (const notice of config.notices) log.warn(notice);
  const start = async (): Promise<void> => {
    const redact = redactor(config.secrets);
    const tracing = await startTracing(config.tracing, {
      service: `headroom-${program}`,
      release,
      cluster,
      log,
      redact,
    });
    if (tracing !== null) shutdown.onStop('traces', tracing.stop);
    await run({ ...shutdown, config, cluster, log, readiness: new Readiness(), identity, tracing });
  };
  start().catch((error: unknown) => {
    if (shutdown.signal.aborted) return;
    if (
      error instanceof ConfigError ||
      error instanceof ClusterNameTaken ||
      error instanceof KubernetesAccessError ||
      error instanceof SearchAttributesError
    ) {
      log.fatal(error.message);
      process.exit(exitCodes.configuration);
    }
    shutdown.stop(`the ${program} failed`, error);
  });
}

/** Connections to Temporal have been given the authorities: the process ends in order, and whoever runs it starts it again. */
function endWithOtherAuthorities(
  { authorities, authoritiesFile }: PlatformConfig['network'],
  log: Log,
  { signal, stop }: Pick<HeadroomProcess, 'signal' | 'stop'>,
): void {
  if (authorities === null || authoritiesFile === null) return;
  const { where, path } = authoritiesFile;
  watchAuthorities({ where, path, authorities }, (file) => readFileSync(file, 'utf8'), {
    signal,
    onChanged: () => stop(`${where}: "${path}" has other authorities, which are read at the start`),
    onUnusable: (problem) => log.warn(`${problem}. The authorities of before are trusted on.`),
  });
}

export interface ConnectOptions {
  /** The Schedule that records which cluster owns the cluster name. */
  readonly schedule: ClusterSchedule;
  /** Aborts requests of an activity that was cancelled. */
  readonly requestCancellation: RequestCancellation;
  /** Awaited before each write to the cluster, which is not made where this throws. */
  readonly beforeWrite: NonNullable<KubernetesAccess['beforeWrite']>;
  /** Hears of writes to the cluster. */
  readonly onWrite: NonNullable<KubernetesAccess['onWrite']>;
}

/**
 * Connects to the cluster and to Temporal, waiting as long as necessary, and verifies that the cluster name belongs to
 * this cluster. Afterwards the readiness of the process reports when one of them is unavailable.
 *
 * @throws {ClusterNameTaken} {@link KubernetesAccessError} {@link SearchAttributesError} for problems that waiting does
 *   not solve.
 */
export async function connectProcess(
  headroom: HeadroomProcess,
  { schedule, ...requests }: ConnectOptions,
): Promise<{ kubeConfig: KubeConfig; client: Client }> {
  const { config, log, signal, readiness, onStop, identity, tracing } = headroom;
  const waiting = (name: string) => (reason: string | undefined) =>
    readiness.set(name, reason === undefined ? { ready: true } : { ready: false, reason });
  waiting('kubernetes')('not connected yet');
  waiting('temporal')('not connected yet');
  const kubeConfig = loadKubeConfig(
    {
      ...config.kubernetes,
      proxies: config.network.proxies,
      requestTimeoutMs: config.timings.requestTimeout,
      ...requests,
    },
    process.env,
  );
  const kubernetes = { log, signal, onWait: waiting('kubernetes') };
  const temporal = { log, signal, onWait: waiting('temporal') };
  const uid = await waitForKubernetes(kubeConfig, kubernetes);
  const client = await connectClient(config.temporal, { ...temporal, identity, tracing });
  onStop('Temporal client', async () => await client.connection.close());
  const failure = await untilAvailable(
    `Temporal at ${config.temporal.place}`,
    async () => {
      try {
        await ensureSearchAttributes(client, config.temporal, { log, signal });
        await reserveClusterName(client, schedule, uid);
        return null;
      } catch (error) {
        if (error instanceof SearchAttributesError || error instanceof ClusterNameTaken) return error;
        throw error;
      }
    },
    (error) => (error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)),
    temporal,
  );
  if (failure !== null) throw failure;
  void watchKubernetes(kubeConfig, kubernetes);
  void watchTemporal(config.temporal, client, temporal);
  return { kubeConfig, client };
}

function readConfig<Values extends object>(
  program: Exclude<ProgramName, 'command line'>,
  controllers: ControllerSettings<Values>,
  constants: Constants,
): PlatformConfig & Values {
  const argv = process.argv.slice(2);
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(configurationHelp(program, controllers));
    process.exit(exitCodes.stopped);
  }
  return configured(() => loadConfig(controllers, { env: process.env, argv, program, constants }));
}

/** Ends the process where the configuration is the problem. */
function configured<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.configuration);
  }
}
