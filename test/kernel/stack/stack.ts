import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AppsV1Api, CoordinationV1Api, CoreV1Api } from '@kubernetes/client-node';
import { Client, Connection } from '@temporalio/client';
import { type PairedProcess, type PairName, pairNames, processName } from '../../../domain/kernel/controllers.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../servers/control-plane.ts';
import { type SupervisedProcess, temporaryDirectory } from '../servers/supervised-process.ts';
import { borrowControlPlane } from '../servers/shared-control-plane.ts';
import { borrowTemporal } from '../servers/shared-temporal.ts';
import { startTemporal, type TemporalServer } from '../servers/temporal.ts';
import { type Forge, startForge } from '../forge/forge.ts';
import type { ForgeOptions } from '../forge/options.ts';
import { createGitOpsRepository } from './gitops-repository.ts';
import { allSettled } from './all-settled.ts';
import { launchProgram } from './launch-program.ts';
import { logFolder } from './log-folder.ts';
import { startSyncer, type Syncer } from './syncer.ts';
import { applyRightsOfUsers, type ChartValues } from './chart.ts';
import { accessOf } from './access.ts';
import { clientConnectionOptions } from '../../../platform/temporal/temporal.ts';

const TOKEN = 'forge-token-of-this-run';

export const SYSTEM_NAMESPACE = 'namespace-resizer-system';
/** The users that worker and starter run as: bound to the product's own roles, never admins. */
const WORKER_USER = 'headroom-worker';
const STARTER_USER = 'headroom-starter';
const PROCESSES = ['worker', 'starter'] as const;

export interface StackOptions {
  readonly cluster?: string;
  /** The repository's files at the start. */
  readonly files: Readonly<Record<string, string>>;
  readonly forge?: Partial<ForgeOptions>;
  /** Flags of Kubernetes' own servers, such as those that leave one of its controllers out. */
  readonly controlPlane?: Pick<ControlPlaneOptions, 'apiServerFlags' | 'controllerManagerFlags'>;
  /** Another control plane than a plain one, with these users besides. */
  readonly startPlane?: (options: Pick<ControlPlaneOptions, 'users'>) => Promise<ControlPlane>;
  /** The values that the chart is rendered with, for its roles and policies. Default: those of the resizer and of what `env` counts. */
  readonly values?: ChartValues;
  /** Environment variables of worker and starter beside those of the servers, and constants by path: `timings.syncPoll`. */
  readonly env?: Readonly<Record<string, string>>;
  /** Servers that no other file of this process uses. Otherwise they are shared as far as no option is about them. */
  readonly ownServers?: boolean;
  /** Keep Temporal's data in a file, so that it survives a restart. */
  readonly durableTemporal?: boolean;
  readonly workers?: number;
  readonly starters?: number;
  /** Apply the repository to the cluster, as Argo CD or Flux would. Default: true. */
  readonly sync?: boolean;
  readonly log?: (message: string) => void;
  /** The port of the Temporal UI and of the forge; free ones unless given. */
  readonly ports?: { readonly temporalUi?: number; readonly forge?: number };
}

/** A cluster, Temporal, a forge over a real repository, and Headroom itself, all as processes of their own or real servers. */
export interface Stack {
  readonly cluster: string;
  readonly dir: string;
  readonly gitDir: string;
  readonly controlPlane: ControlPlane;
  readonly temporal: TemporalServer;
  readonly forge: Forge;
  readonly syncer: Syncer;
  readonly client: Client;
  /** The cluster's API as an admin. */
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly coordination: CoordinationV1Api;
  /** The environment that worker and starter get. */
  readonly env: Readonly<Record<'worker' | 'starter', Readonly<Record<string, string>>>>;
  readonly processes: SupervisedProcess[];
  startWorker(env?: Readonly<Record<string, string>>): Promise<SupervisedProcess>;
  startStarter(env?: Readonly<Record<string, string>>): Promise<SupervisedProcess>;
  /** Worker and starter of one controller, as the chart has them with `processes: apart`. */
  startPair(pair: PairName): Promise<readonly SupervisedProcess[]>;
  stop(): Promise<void>;
}

async function controlPlaneFor(options: StackOptions): Promise<ControlPlane> {
  const { controlPlane, startPlane, ownServers = false, values } = options;
  const pairs: readonly (PairName | null)[] = values?.processes === 'apart' ? pairNames : [null];
  const users = pairs.flatMap((pair) => PROCESSES.map((process) => ({ name: processName(process, pair) })));
  if (startPlane !== undefined) return await startPlane({ users });
  if (controlPlane === undefined && !ownServers) return await borrowControlPlane(users);
  return await startControlPlane({ ...controlPlane, users });
}

async function temporalFor(options: StackOptions, dir: string): Promise<TemporalServer> {
  const uiPort = options.ports?.temporalUi;
  if (!options.durableTemporal && uiPort === undefined && !options.ownServers) return await borrowTemporal();
  return await startTemporal({
    ...(options.durableTemporal ? { dbFile: join(dir, 'temporal.db') } : {}),
    ...(uiPort === undefined ? {} : { uiPort }),
  });
}

/** Starts everything and returns when worker and starter are ready. */
export async function startStack(options: StackOptions): Promise<Stack> {
  const cluster = options.cluster ?? 'test';
  const say = options.log ?? (() => {});
  const dir = await temporaryDirectory('stack');
  const gitDir = join(dir, 'gitops.git');
  const undo: (() => Promise<void>)[] = [async () => await rm(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    await createGitOpsRepository(gitDir, options.files);
    const [controlPlane, temporal, forge] = await allSettled([
      controlPlaneFor(options).then((plane) => {
        undo.push(async () => await plane.stop());
        say('Kubernetes is up');
        return plane;
      }),
      temporalFor(options, dir).then((server) => {
        undo.push(async () => await server.stop());
        say('Temporal is up');
        return server;
      }),
      startForge({
        gitDir,
        owner: 'acme',
        repo: 'gitops',
        token: TOKEN,
        ...(options.ports?.forge === undefined ? {} : { port: options.ports.forge }),
        ...options.forge,
      }).then((started) => {
        undo.push(async () => await started.stop());
        say('the forge is up');
        return started;
      }),
    ]);
    const mode = options.env?.['HEADROOM_USAGE_MODE'] ?? 'off';
    await applyRightsOfUsers(controlPlane.adminKubeconfig, options.values ?? { config: { quotaUsage: { mode } } });
    const admin = accessOf(controlPlane.adminKubeconfig);

    const connection = await Connection.connect(clientConnectionOptions({ address: temporal.address }, 10_000));
    undo.push(async () => await connection.close());
    const client = new Client({ connection, namespace: temporal.namespace });

    const shared = {
      CLUSTER_NAME: cluster,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      HEALTH_ADDRESS: '127.0.0.1:0',
      METRICS_ADDRESS: '127.0.0.1:0',
      ...options.env,
    };
    const env = {
      worker: {
        ...shared,
        KUBECONFIG: controlPlane.kubeconfigFor(WORKER_USER),
        GITHUB_API_URL: forge.url,
        GITHUB_TOKEN: options.forge?.token ?? TOKEN,
        GITHUB_OWNER: 'acme',
        GITHUB_REPO: 'gitops',
        // Nothing else asks the forge, so there is no limit to be polite to.
        'timings.githubWriteSpacing': '0s',
        'githubBudget.writesPerMinute': '100000',
        GITHUB_WRITES_PER_HOUR: '1000000',
        ...options.env,
      },
      starter: { ...shared, KUBECONFIG: controlPlane.kubeconfigFor(STARTER_USER) },
    };
    const processes: SupervisedProcess[] = [];
    let launched = 0;
    const launch = async (
      name: PairedProcess,
      extra: Readonly<Record<string, string>>,
      controllers: readonly PairName[] = [],
    ): Promise<SupervisedProcess> => {
      const logFile = join(logFolder(dir), `${name}-${launched}.log`);
      launched += 1;
      const started = await launchProgram({
        name,
        env: { ...env[name], ...extra },
        controllers,
        logFile,
        onStarted: (started) => processes.push(started),
      });
      say(`the ${name} is up`);
      return started;
    };
    undo.push(async () => {
      await Promise.all(processes.map(async (started) => await started.stop()));
    });
    const startWorker = async (extra = {}) => await launch('worker', extra);
    const startStarter = async (extra = {}) => await launch('starter', extra);
    const startPair = async (pair: PairName) =>
      await allSettled(
        PROCESSES.map(async (process) => {
          const KUBECONFIG = controlPlane.kubeconfigFor(processName(process, pair));
          // The Secret of GitHub is mounted in no other pod.
          return await launch(process, { KUBECONFIG, ...(pair === 'quota-resize' ? {} : { GITHUB_TOKEN: '' }) }, [
            pair,
          ]);
        }),
      );
    const paused = options.sync === false;
    const syncer = startSyncer({ gitDir, kubeconfig: controlPlane.adminKubeconfig, paused });
    undo.push(async () => await syncer.stop());
    await allSettled([
      ...Array.from({ length: options.workers ?? 1 }, async () => await startWorker()),
      ...Array.from({ length: options.starters ?? 1 }, async () => await startStarter()),
    ]);
    return {
      cluster,
      dir,
      gitDir,
      controlPlane,
      temporal,
      forge,
      syncer,
      client,
      core: admin.makeApiClient(CoreV1Api),
      apps: admin.makeApiClient(AppsV1Api),
      coordination: admin.makeApiClient(CoordinationV1Api),
      env,
      processes,
      startWorker,
      startStarter,
      startPair,
      stop,
    };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}
