/** A control plane with Headroom on it and nothing else: for what needs no repository. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../servers/control-plane.ts';
import { type SupervisedProcess, temporaryDirectory } from '../servers/supervised-process.ts';
import { borrowControlPlane } from '../servers/shared-control-plane.ts';
import { borrowTemporal } from '../servers/shared-temporal.ts';
import { startTemporal, type TemporalServer } from '../servers/temporal.ts';
import { allSettled } from './all-settled.ts';
import { applyRightsOfUsers, asUsers, type ChartValues } from './chart.ts';
import { launchProgram } from './launch-program.ts';
import { logFolder } from './log-folder.ts';
import { applyObjects, readManifests } from './manifests.ts';
import { clientConnectionOptions } from '../../../platform/temporal/temporal.ts';

/** The users that worker and starter run as: bound to the product's own roles, never admins. */
const WORKER_USER = 'headroom-worker';
export const STARTER_USER = 'headroom-starter';

export interface HeadroomPlaneOptions {
  /** The values that the chart is rendered with, for its roles and policies. */
  readonly values?: ChartValues;
  /** What to apply besides: definitions, and roles, whose bindings are for the two users. */
  readonly manifests?: readonly URL[];
  /** Environment variables of worker and starter beside those of the servers, and constants by path: `timings.syncPoll`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly apiServerFlags?: readonly string[];
  readonly controllerManagerFlags?: readonly string[];
  /** Servers that no other file of this process uses. Otherwise they are shared, the control plane where it has no flags. */
  readonly ownServers?: boolean;
  /** Another control plane than a plain one, with these users besides. */
  readonly startPlane?: (
    options: Pick<ControlPlaneOptions, 'users' | 'apiServerFlags' | 'controllerManagerFlags'>,
  ) => Promise<ControlPlane>;
}

/** A control plane, Temporal, and Headroom's processes under the product's roles; no forge. */
export interface HeadroomPlane {
  readonly plane: ControlPlane;
  readonly temporal: TemporalServer;
  readonly client: Client;
  /** Every one that was started, in order; those that were killed too. */
  readonly processes: readonly SupervisedProcess[];
  /** Ready when this resolves. */
  startWorker(env?: Readonly<Record<string, string>>): Promise<SupervisedProcess>;
  /** Ready when this resolves. */
  startStarter(env?: Readonly<Record<string, string>>): Promise<SupervisedProcess>;
  stop(): Promise<void>;
}

export const CLUSTER = 'test';

async function controlPlaneFor(options: HeadroomPlaneOptions): Promise<ControlPlane> {
  const { apiServerFlags = [], controllerManagerFlags = [], ownServers = false } = options;
  const users = [{ name: WORKER_USER }, { name: STARTER_USER }];
  const isPlain = apiServerFlags.length === 0 && controllerManagerFlags.length === 0;
  const start = options.startPlane ?? startControlPlane;
  if (isPlain && !ownServers && options.startPlane === undefined) return await borrowControlPlane(users);
  return await start({ users, apiServerFlags, controllerManagerFlags });
}

/** Starts everything but the worker and the starter. */
export async function startHeadroomPlane(options: HeadroomPlaneOptions): Promise<HeadroomPlane> {
  const dir = await temporaryDirectory('plane');
  const undo: (() => Promise<void>)[] = [async () => await rm(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const [plane, temporal] = await allSettled([
      controlPlaneFor(options).then((started) => {
        undo.push(async () => await started.stop());
        return started;
      }),
      (options.ownServers ? startTemporal() : borrowTemporal()).then((started) => {
        undo.push(async () => await started.stop());
        return started;
      }),
    ]);
    await bindRoles(plane.adminKubeconfig, options);
    const connection = await Connection.connect(clientConnectionOptions({ address: temporal.address }, 10_000));
    undo.push(async () => await connection.close());
    const shared = {
      CLUSTER_NAME: CLUSTER,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      HEALTH_ADDRESS: '127.0.0.1:0',
      METRICS_ADDRESS: '127.0.0.1:0',
    };
    const env = {
      worker: {
        ...shared,
        KUBECONFIG: plane.kubeconfigFor(WORKER_USER),
        ...options.env,
      },
      starter: { ...shared, KUBECONFIG: plane.kubeconfigFor(STARTER_USER), ...options.env },
    };
    const processes: SupervisedProcess[] = [];
    let launched = 0;
    const launch = async (
      name: 'worker' | 'starter',
      extra: Readonly<Record<string, string>>,
    ): Promise<SupervisedProcess> => {
      // Its own, also where two start at once: a log says when its process is ready.
      const logFile = join(logFolder(dir), `${name}-${launched}.log`);
      launched += 1;
      return await launchProgram({
        name,
        env: { ...env[name], ...extra },
        logFile,
        onStarted: (started) => processes.push(started),
      });
    };
    undo.push(async () => {
      await Promise.all(processes.map(async (started) => await started.stop()));
    });
    return {
      plane,
      temporal,
      client: new Client({ connection, namespace: temporal.namespace }),
      processes,
      startWorker: async (extra = {}) => await launch('worker', extra),
      startStarter: async (extra = {}) => await launch('starter', extra),
      stop,
    };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/** Gives the two users the roles that the product is deployed with, those of the manifests included, and holds their writes. */
async function bindRoles(kubeconfig: string, { values, manifests = [] }: HeadroomPlaneOptions): Promise<void> {
  await applyRightsOfUsers(kubeconfig, values);
  const texts = await Promise.all(manifests.map(async (file) => await readFile(file, 'utf8')));
  await applyObjects(kubeconfig, asUsers(texts.flatMap(readManifests)));
}
