/** Two control planes for tests of usage: one with Kubernetes' own quota controller, one with Headroom in its place. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KubeConfig, type KubernetesObject, KubernetesObjectApi, PatchStrategy } from '@kubernetes/client-node';
import { Client, Connection } from '@temporalio/client';
import { parseAllDocuments } from 'yaml';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../kernel/servers/control-plane.ts';
import { type SupervisedProcess, temporaryDirectory } from '../kernel/servers/supervised-process.ts';
import { startTemporal, type TemporalServer } from '../kernel/servers/temporal.ts';
import { launchProgram } from '../kernel/stack/launch-program.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';
import { TEST_BUNDLE } from '../kernel/stack/workflow-bundle.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DEPLOY = join(ROOT, 'deploy');
/** The users that worker and starter run as: bound to the product's own roles, never admins. */
const WORKER_USER = 'headroom-worker';
const STARTER_USER = 'headroom-starter';

/**
 * Without what would act on its own clock on nodes that no kubelet serves and volumes that no driver makes: two control
 * planes would do it at different moments.
 */
const CONTROLLERS = [
  '*',
  '-node-lifecycle-controller',
  '-taint-eviction-controller',
  '-pod-garbage-collector-controller',
  '-persistentvolume-binder-controller',
  '-persistentvolume-expander-controller',
];

/** Milliseconds between two resyncs of the original, which heal what its filters let through. */
export const ORIGINAL_RESYNC_MS = 10_000;

/** A control plane whose controller manager runs Kubernetes' own quota controller. */
export async function startOriginalPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return await startControlPlane({
    ...options,
    controllerManagerFlags: [
      `--controllers=${CONTROLLERS.join(',')}`,
      `--resource-quota-sync-period=${ORIGINAL_RESYNC_MS / 1_000}s`,
      ...(options.controllerManagerFlags ?? []),
    ],
  });
}

export interface HeadroomPlaneOptions {
  /** Environment variables of worker and starter, beside those that run it in mode `own`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly apiServerFlags?: readonly string[];
  readonly controllerManagerFlags?: readonly string[];
  /** Kubernetes' own quota controller runs as well, as it does where Headroom audits. Default: false. */
  readonly hasOriginal?: boolean;
}

/** A control plane without a quota controller of its own, Temporal, and Headroom's processes under the product's roles. */
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

/** Starts everything but the worker and the starter. */
export async function startHeadroomPlane(options: HeadroomPlaneOptions = {}): Promise<HeadroomPlane> {
  const dir = await temporaryDirectory('usage');
  const undo: (() => Promise<void>)[] = [async () => await rm(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const step of undo.splice(0).reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const [plane, temporal] = await Promise.all([
      startControlPlane({
        users: [{ name: WORKER_USER }, { name: STARTER_USER }],
        apiServerFlags: options.apiServerFlags ?? [],
        controllerManagerFlags: [
          `--controllers=${[...CONTROLLERS, ...(options.hasOriginal ? [] : ['-resourcequota-controller'])].join(',')}`,
          ...(options.controllerManagerFlags ?? []),
        ],
      }).then((started) => {
        undo.push(async () => await started.stop());
        return started;
      }),
      startTemporal().then((started) => {
        undo.push(async () => await started.stop());
        return started;
      }),
    ]);
    await bindRoles(plane.adminKubeconfig);
    const connection = await Connection.connect({ address: temporal.address });
    undo.push(async () => await connection.close());
    const bundle = process.env[TEST_BUNDLE];
    const shared = {
      CLUSTER_NAME: CLUSTER,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      HEALTH_ADDRESS: '127.0.0.1:0',
      METRICS_ADDRESS: '127.0.0.1:0',
      HEADROOM_USAGE_MODE: 'own',
    };
    const env = {
      worker: {
        ...shared,
        KUBECONFIG: plane.kubeconfigFor(WORKER_USER),
        ...(bundle === undefined ? {} : { HEADROOM_WORKFLOW_BUNDLE: bundle }),
        ...options.env,
      },
      starter: { ...shared, KUBECONFIG: plane.kubeconfigFor(STARTER_USER), ...options.env },
    };
    const processes: SupervisedProcess[] = [];
    const launch = async (
      name: 'worker' | 'starter',
      extra: Readonly<Record<string, string>>,
    ): Promise<SupervisedProcess> => {
      const started = await launchProgram({
        name,
        env: { ...env[name], ...extra },
        logFile: join(dir, `${name}-${processes.length}.log`),
        onStarted: (one) => processes.push(one),
      });
      return started;
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

/** Gives the two users the roles that the product is deployed with, those of usage included. */
async function bindRoles(kubeconfig: string): Promise<void> {
  await applyManifests(kubeconfig, [join(DEPLOY, 'namespace.yaml'), join(DEPLOY, 'rbac.yaml')]);
  await applyManifests(kubeconfig, [new URL('../kernel/stack/user-bindings.yaml', import.meta.url)]);
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  for (const object of await rolesOfUsage()) {
    await api.patch(object, undefined, undefined, 'headroom-setup', true, PatchStrategy.ServerSideApply);
  }
}

interface Binding extends KubernetesObject {
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

/** The roles of mode `own`, and their bindings, for users in place of service accounts. */
async function rolesOfUsage(): Promise<KubernetesObject[]> {
  const files = ['quota-usage/reading/rbac.yaml', 'quota-usage/own/rbac.yaml'];
  const texts = await Promise.all(files.map(async (name) => await readFile(join(DEPLOY, name), 'utf8')));
  return texts
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Binding))
    .map((object) =>
      object.subjects === undefined
        ? object
        : {
            ...object,
            subjects: object.subjects.map(({ name }) => ({
              kind: 'User',
              name,
              apiGroup: 'rbac.authorization.k8s.io',
            })),
          },
    );
}
