import {
  type KubernetesObject,
  KubernetesObjectApi,
  loadAllYaml,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { readFile } from 'node:fs/promises';
import { pino } from 'pino';
import type {
  Batch,
  BatchOutcome,
  LightsOutActivities,
  ObserveScheduleInput,
} from '../../../activities/lights-out/interface.ts';
import { createLightsOutActivities } from '../../../activities/lights-out/kubernetes-activities.ts';
import { connectKubernetes, type Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { GROUP, KIND, PLURAL, VERSION } from '../../../domain/lights-out/schedule/names.ts';
import type { PackedObservation } from '../../../domain/lights-out/decide/observation.ts';
import { packItems } from '../../../domain/lights-out/decide/packed.ts';
import { unpackPlan } from '../../../domain/lights-out/decide/packed-plan.ts';
import type { Plan } from '../../../domain/lights-out/decide/plan.ts';
import type { PlanItem } from '../../../domain/lights-out/workload/evaluation.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyRights } from '../../kernel/stack/chart.ts';
import { untilAllowed } from '../until-allowed.ts';

export const SYSTEM_NAMESPACE = 'namespace-resizer-system';
/** The API server takes the name of a service account for the account itself, so the manifests bind it as they are. */
export const WORKER = `system:serviceaccount:${SYSTEM_NAMESPACE}:headroom-worker`;
export const SCHEDULES = { group: GROUP, version: VERSION, plural: PLURAL } as const;
export const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const DEFINITION = new URL('../../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url);
const PAUSE = { name: 'headroom-pause', namespace: SYSTEM_NAMESPACE };

/** Up from 6 to 20 o'clock, UTC. */
const DAYTIME = { upscale: '0 6 * * *', downscale: '0 20 * * *' };
const DAY = 86_400_000;
/**
 * Moments of days that are yet to come, so that whatever a test creates is older than the night: 22 o'clock, and 7 o'clock
 * of the morning after.
 */
const tomorrow = Math.floor(Date.now() / DAY) * DAY + DAY;
export const NIGHT: EpochMs = tomorrow + 22 * 3_600_000;
export const MORNING: EpochMs = tomorrow + DAY + 7 * 3_600_000;

export type Object = KubernetesObject & Record<string, any>; // oxlint-disable-line typescript/no-explicit-any

export interface Cluster {
  readonly plane: ControlPlane;
  readonly admin: Kubernetes;
  /** The activities as the worker's user runs them, at a moment; the present one when absent. */
  readonly at: (moment?: EpochMs) => LightsOutActivities;
  /** Creates objects as the admin, as this field manager. */
  readonly create: (objects: readonly object[], manager?: string) => Promise<void>;
  readonly read: (object: object) => Promise<Object>;
  /** A merge patch by somebody else than Headroom. */
  readonly change: (object: object, patch: object, manager?: string) => Promise<void>;
  /** Creates the schedule; answers its UID. */
  readonly schedule: (name: string, spec: object, metadata?: object) => Promise<string>;
  readonly readSchedule: (name: string) => Promise<Object | null>;
  /** Pauses Headroom for as long as the work takes. */
  readonly paused: (work: () => Promise<void>) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const plane = await borrowControlPlane([{ name: WORKER }]);
  const admin = connectKubernetes(kubeConfig(plane.adminKubeconfig));
  const worker = connectKubernetes(kubeConfig(plane.kubeconfigFor(WORKER)));
  const objects = kubeConfig(plane.adminKubeconfig).makeApiClient(KubernetesObjectApi);
  const create: Cluster['create'] = async (list, manager = 'kubectl-create') => {
    for (const object of list) await objects.create(object, undefined, undefined, manager);
  };
  await applyRights(plane.adminKubeconfig, { config: { lightsOut: { enabled: true } } });
  for (const definition of loadAllYaml(await readFile(DEFINITION, 'utf8')) as object[]) {
    await createDefinition(admin, definition);
  }
  await eventually('schedules can be listed', async () => {
    await admin.custom.listClusterCustomObject(SCHEDULES);
    return true;
  });
  await untilAllowed(plane.adminKubeconfig, WORKER, [
    { verb: 'list', resource: 'namespaces' },
    { verb: 'get', resource: 'configmaps', ...PAUSE },
    { verb: 'patch', group: 'apps', resource: 'deployments' },
  ]);
  const readSchedule: Cluster['readSchedule'] = async (name) => {
    const list = (await admin.custom.listClusterCustomObject(SCHEDULES)) as { items: Object[] };
    return list.items.find(({ metadata }) => metadata?.name === name) ?? null;
  };
  return {
    plane,
    admin,
    at: (moment) =>
      createLightsOutActivities({
        kubernetes: worker,
        systemNamespace: SYSTEM_NAMESPACE,
        protectedNamespaces: [SYSTEM_NAMESPACE, 'protected'],
        gitopsManagers: ['argocd-controller'],
        timings: { retryMin: 15_000, retryMax: 600_000, contestedMin: 60_000, contestedMax: 3_600_000 },
        log: pino({ level: 'silent' }),
        ...(moment === undefined ? {} : { now: () => moment }),
      }),
    create,
    read: async (object) => (await objects.read(object as Parameters<typeof objects.read>[0])) as Object,
    change: async (object, patch, manager = 'kubectl-edit') => {
      const { apiVersion, kind, metadata: { name, namespace } = {} } = object as Object;
      const { metadata = {}, ...rest } = patch as { readonly metadata?: Record<string, unknown> };
      const body = { apiVersion, kind, ...rest, metadata: { ...metadata, name, namespace } };
      await objects.patch(body as KubernetesObject, undefined, undefined, manager, undefined, PatchStrategy.MergePatch);
    },
    schedule: async (name, spec, metadata = {}) => {
      const body = {
        apiVersion: `${GROUP}/${VERSION}`,
        kind: KIND,
        metadata: { name, ...metadata },
        spec: { ...DAYTIME, ...spec },
      };
      const made = (await admin.custom.createClusterCustomObject({ ...SCHEDULES, body })) as Object;
      return made.metadata?.uid ?? '';
    },
    readSchedule,
    paused: async (work) => {
      const data = { by: 'jane', reason: 'incident 7' };
      await create([{ apiVersion: 'v1', kind: 'ConfigMap', metadata: PAUSE, data }]);
      try {
        await work();
      } finally {
        await admin.core.deleteNamespacedConfigMap(PAUSE);
      }
    },
    stop: () => plane.stop(),
  };
}

/** As it is written: the typed client would leave out what a schema has under a name with dashes. */
export async function createDefinition({ custom }: Kubernetes, body: object): Promise<void> {
  const definitions = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
  await custom.createClusterCustomObject({ ...definitions, body });
}

function kubeConfig(kubeconfig: string) {
  return loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: 30_000 }, {});
}

export function targetOf(schedule: string) {
  return { cluster: 'test', schedule };
}

export function observeInputOf(schedule: string, more: Partial<ObserveScheduleInput> = {}): ObserveScheduleInput {
  return {
    target: targetOf(schedule),
    overrides: [],
    inEffect: null,
    isApproved: false,
    completedAt: null,
    contested: {},
    failing: [],
    ...more,
  };
}

/** The plan of a look; a test whose schedule has none has failed. */
export function planOf({ plan }: PackedObservation): Plan {
  if (plan === null) throw new Error('there is no plan');
  return unpackPlan(plan);
}

/** Looks, and writes everything that is to be done. */
export async function scaled(
  activities: LightsOutActivities,
  observeInput: ObserveScheduleInput,
): Promise<Pick<BatchOutcome, 'outcomes'> & { readonly done: number; readonly seen: PackedObservation }> {
  const seen = await activities.observeSchedule(observeInput);
  const { items } = planOf(seen);
  const { outcomes } = await activities.ensureScaled(batchOf(seen, items, observeInput));
  return { outcomes, done: items.length - outcomes.length, seen };
}

/** These items as a batch of the plan of a look. */
export function batchOf(
  { schedule }: Pick<PackedObservation, 'schedule'>,
  items: readonly PlanItem[],
  observeInput: ObserveScheduleInput,
): Batch {
  return { target: observeInput.target, scheduleUid: schedule?.uid ?? '', items: packItems(items), observeInput };
}

export function namespaceOf(name: string, labels: Record<string, string> = {}): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

export function workloadOf(
  kind: 'Deployment' | 'StatefulSet',
  namespace: string,
  name: string,
  replicas?: number,
  metadata: object = {},
): object {
  const selector = { matchLabels: { app: name } };
  const template = {
    metadata: { labels: { app: name } },
    spec: { containers: [{ name: 'app', image: 'registry.example/app:1' }] },
  };
  const spec = {
    selector,
    template,
    ...(replicas === undefined ? {} : { replicas }),
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
  };
  return { apiVersion: 'apps/v1', kind, metadata: { name, namespace, ...metadata }, spec };
}

export function cronJobOf(namespace: string, name: string, spec: object = {}): object {
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'app', image: 'registry.example/app:1' }] } };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace },
    spec: { schedule: '0 0 1 1 *', jobTemplate: { spec: { template } }, ...spec },
  };
}

/** What a workload is to have again exactly: everything but what the API server and controllers keep of their own. */
export function essence({ metadata, spec }: Object): object {
  const { 'deployment.kubernetes.io/revision': _revision, ...annotations } = metadata?.annotations ?? {};
  return { labels: metadata?.labels ?? {}, annotations, spec };
}
