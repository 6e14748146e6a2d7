import {
  ApiextensionsV1Api,
  AppsV1Api,
  AutoscalingV2Api,
  CoreV1Api,
  CustomObjectsApi,
  PatchStrategy,
  setHeaderOptions,
  type V1Deployment,
} from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  DOWN_SINCE,
  FIELD_MANAGER,
  FINALIZER,
  GROUP,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_REPLICAS,
  PLURAL,
  VERSION,
  WAKE_UNTIL,
} from '../../../domain/lights-out/schedule/names.ts';
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { memoryOf } from '../../../activities/lights-out/scale.ts';
import type { ScalingMemory } from '../../../activities/lights-out/scaling-memory.ts';
import type { Scaler } from '../../../activities/lights-out/read-scaler.ts';
import type { Workload } from '../../../domain/lights-out/workload/workload.ts';
import type { Informer } from '../../../activities/kubernetes/informer.ts';
import type { QueuedScheduleRequest } from '../../../starter/lights-out/reconcile-request.ts';
import type { Shaped } from '../../../starter/lights-out/shape.ts';
import { watchSchedules } from '../../../starter/lights-out/watch.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyManifests } from '../../kernel/stack/manifests.ts';
import { asleep, awake, scheduleOf } from './schedules.ts';
import { accessOf } from '../../kernel/stack/access.ts';

const CRD = new URL('../../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url);
const GITOPS = 'argocd-controller';
const SCALED_OBJECTS = { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledobjects' } as const;
const SCHEDULES = { group: GROUP, version: VERSION, plural: PLURAL } as const;
const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

let plane: ControlPlane;
let core: CoreV1Api;
let apps: AppsV1Api;
let autoscaling: AutoscalingV2Api;
let extensions: ApiextensionsV1Api;
let custom: CustomObjectsApi;

beforeAll(async () => {
  plane = await borrowControlPlane();
  const admin = accessOf(plane.adminKubeconfig);
  core = admin.makeApiClient(CoreV1Api);
  apps = admin.makeApiClient(AppsV1Api);
  autoscaling = admin.makeApiClient(AutoscalingV2Api);
  extensions = admin.makeApiClient(ApiextensionsV1Api);
  custom = admin.makeApiClient(CustomObjectsApi);
});

afterAll(async () => {
  await plane?.stop();
});

let defined: Promise<void> | null = null;

/** Applies the definition of schedules, once. */
async function define(): Promise<void> {
  defined ??= applyManifests(plane.adminKubeconfig, [CRD]);
  await defined;
  await eventually('schedules are served', async () => {
    await custom.listClusterCustomObject(SCHEDULES);
    return true;
  });
}

function memoryAt(schedule: string, scheduleUid: string): ScalingMemory {
  const kubernetes = connectKubernetes(accessOf(plane.adminKubeconfig));
  return memoryOf({ kubernetes, systemNamespace: 'default' }, schedule, scheduleUid);
}

/** A watch of the whole cluster, and the reconcile requests that it made: `schedule|workloads <schedule>: <cause>`. */
async function startWatch({ until = isAtRest, resyncMs = 3_600_000 } = {}) {
  if (until === isAtRest) await define();
  const stop = new AbortController();
  const requests: QueuedScheduleRequest[] = [];
  const lines: string[] = [];
  const kubeConfig = loadKubeConfig(
    { kubeconfig: plane.adminKubeconfig, context: undefined, requestTimeoutMs: 5_000 },
    {},
  );
  const watch = watchSchedules({
    kubeConfig,
    cluster: 'test',
    systemNamespace: 'default',
    protectedNamespaces: ['temporal'],
    gitopsManagers: [GITOPS],
    resyncMs,
    servedMs: 200,
    request: (request) => requests.push(request),
    memory: async (schedule, scheduleUid) => await memoryAt(schedule, scheduleUid).all(),
    log: pino({}, { write: (text: string) => lines.push(JSON.parse(text).msg) }),
    signal: stop.signal,
  });
  const end = async () => {
    stop.abort();
    await watch.stop();
  };
  onTestFinished(end);
  await eventually('the watch has begun', () => until(watch));
  /** The reconcile requests of one schedule so far. */
  const requestsOf = (schedule: string): string[] =>
    requests.filter(({ target }) => target.schedule === schedule).map(({ about, cause }) => `${about}: ${cause}`);
  return { watch, requestsOf, lines, end };
}

function isListed(watch: ReturnType<typeof watchSchedules>): boolean {
  return Object.values(watch.informers).every((informer) => informer.isSynced());
}

/** What follows leads to requests as well: the first evaluation, which would make the same ones, is over. */
function isAtRest(watch: ReturnType<typeof watchSchedules>): boolean {
  return isListed(watch) && watch.isEvaluated();
}

/** Until a watch knows that a Deployment carries the annotations of a schedule: each resource has a watch of its own, and one may be late. */
async function untilMarked(watch: ReturnType<typeof watchSchedules>, namespace: string, name: string): Promise<void> {
  const deployments: Informer<Shaped<Workload>> | undefined = watch.informers['deployments'];
  await eventually(
    'the marks are seen',
    () => deployments?.get(name, namespace)?.read?.annotations[MANAGED_BY] !== undefined,
  );
}

/** What a watch of autoscalers holds of them. */
function scalersIn(informer: Informer<Shaped<Scaler>> | undefined): readonly Scaler[] {
  return (informer?.list() ?? []).flatMap(({ read }) => read ?? []);
}

async function createSchedule(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
  await define();
  await custom.createClusterCustomObject({ ...SCHEDULES, body: scheduleOf(name, spec) });
  onTestFinished(async () => {
    await custom.deleteClusterCustomObject({ ...SCHEDULES, name }).catch(() => undefined);
  });
}

async function patchSchedule(name: string, body: object): Promise<void> {
  await custom.patchClusterCustomObject({ ...SCHEDULES, name, body }, MERGE);
}

async function createNamespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
  await core.createNamespace({ body: { metadata: { name, labels: { ...labels } } } });
}

function deploymentOf(name: string, replicas: number): V1Deployment {
  const labels = { app: name };
  return {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'registry.example/app:1' }] } },
    },
  };
}

async function createDeployment(namespace: string, name: string, replicas: number, fieldManager: string) {
  await apps.createNamespacedDeployment({ namespace, fieldManager, body: deploymentOf(name, replicas) });
}

async function patchDeployment(namespace: string, name: string, fieldManager: string, body: object): Promise<void> {
  await apps.patchNamespacedDeployment({ namespace, name, fieldManager, body }, MERGE);
}

/** What the workflow of a schedule writes when it puts a Deployment down. */
async function scaleDown(
  schedule: string,
  namespace: string,
  name: string,
  original: number,
  replicas = 0,
): Promise<void> {
  const annotations = {
    [ORIGINAL_REPLICAS]: `${original}`,
    [MANAGED_BY]: schedule,
    [DOWN_SINCE]: new Date().toISOString(),
  };
  await patchDeployment(namespace, name, FIELD_MANAGER, {
    metadata: { annotations, labels: { [MANAGED_BY]: schedule } },
    spec: { replicas },
  });
}

/** As if KEDA were installed, as far as its definition goes. */
async function defineScaledObjects(): Promise<void> {
  const { group, version, plural } = SCALED_OBJECTS;
  // As it is written: the typed client leaves out what a schema has under a name with dashes.
  await custom.createClusterCustomObject({
    group: 'apiextensions.k8s.io',
    version: 'v1',
    plural: 'customresourcedefinitions',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        names: { kind: 'ScaledObject', plural },
        scope: 'Namespaced',
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        ],
      },
    },
  });
}

describe('the watch of schedules', () => {
  it('finds the definition of schedules when it comes later than the watch', async () => {
    const { requestsOf, lines, watch } = await startWatch({
      until: ({ informers }) => informers[PLURAL]?.trouble() !== null && informers['deployments']?.isSynced() === true,
    });
    expect(watch.informers[PLURAL]?.isSynced()).toBe(false);
    expect(lines).toContain('waiting for Kubernetes to watch lightsoutschedules');
    await createSchedule('later', { ...awake, namespaces: ['nowhere'] });
    await eventually('the schedule is requested', () => requestsOf('later').length > 0);
    expect(requestsOf('later')).toEqual(['schedule: the schedule is there']);
    expect(watch.informers[PLURAL]?.isSynced()).toBe(true);
  });

  it('requests a reconcile of a schedule that appears, changes, is annotated, or is deleted, and not for its status and finalizers', async () => {
    const { requestsOf } = await startWatch();
    await createSchedule('life', { ...awake, namespaces: ['nowhere'] });
    await eventually('it appeared', () => requestsOf('life').length === 1);
    await patchSchedule('life', { metadata: { finalizers: [FINALIZER] } });
    await custom.patchClusterCustomObjectStatus(
      { ...SCHEDULES, name: 'life', body: { status: { state: 'Up', namespaces: [] } } },
      MERGE,
    );
    await patchSchedule('life', { metadata: { annotations: { 'example.com/owner': 'team-a' } } });
    await patchSchedule('life', { metadata: { annotations: { [WAKE_UNTIL]: '2100-01-01T00:00:00Z' } } });
    await patchSchedule('life', { spec: { namespaces: ['elsewhere'] } });
    await custom.deleteClusterCustomObject({ ...SCHEDULES, name: 'life' });
    await patchSchedule('life', { metadata: { finalizers: null } });
    await eventually('it is gone', () => requestsOf('life').at(-1)?.endsWith('the schedule is gone'));
    expect(requestsOf('life')).toEqual([
      'schedule: the schedule is there',
      'schedule: the annotations of the schedule changed',
      'schedule: the spec of the schedule changed',
      'schedule: the schedule is being deleted',
      'schedule: the schedule is gone',
    ]);
  });

  it('requests one reconcile of each schedule when it starts, whatever was requested before', async () => {
    await createNamespace('restart');
    await createSchedule('restart-down', { ...asleep, namespaces: ['restart'] });
    await createSchedule('restart-up', { ...awake, namespaces: ['nowhere'] });
    await createDeployment('restart', 'web', 2, GITOPS);
    await scaleDown('restart-down', 'restart', 'web', 2);
    // Evaluated after the others, which are in the order of their names.
    await createNamespace('restart-work');
    await createSchedule('restart-work', { ...asleep, namespaces: ['restart-work'] });
    await createDeployment('restart-work', 'web', 2, GITOPS);
    const there = 'schedule: the schedule is there';
    for (let starts = 0; starts < 2; starts += 1) {
      const { requestsOf, end } = await startWatch();
      await eventually('everything was evaluated once', () => requestsOf('restart-work').length > 1);
      // What is to be done is found once more for each list that comes a second after the others.
      const [first, ...work] = requestsOf('restart-work');
      expect(first).toBe(there);
      expect(new Set(work)).toEqual(new Set(['workloads: Deployment restart-work/web: Down']));
      expect([requestsOf('restart-down'), requestsOf('restart-up')]).toEqual([[there], [there]]);
      await end();
    }
  });

  it('requests no reconcile when it starts for what nobody has approved, and one for what is approved and up', async () => {
    const [at, name] = ['2026-11-16T12:00:00Z', 'approved'];
    for (const namespace of ['approved', 'approved-work']) {
      await createNamespace(namespace);
      await createSchedule(namespace, { ...asleep, namespaces: [namespace], requireApproval: true });
      const status = { observedGeneration: 1, approved: { by: 'alice', at, digest: 'of-these', workloads: 1 } };
      await custom.patchClusterCustomObjectStatus({ ...SCHEDULES, name: namespace, body: { status } }, MERGE);
      const object = await custom.getClusterCustomObject({ ...SCHEDULES, name: namespace });
      await memoryAt(namespace, object.metadata.uid).approve(
        new Map([[`Deployment ${namespace}/web`, Date.parse(at)]]),
      );
      await createDeployment(namespace, 'joined', 2, GITOPS);
    }
    await createDeployment('approved-work', 'web', 2, GITOPS);
    const { requestsOf } = await startWatch();
    await eventually('everything was evaluated once', () => requestsOf('approved-work').length > 0);
    expect(requestsOf('approved-work')[0]).toBe('workloads: Deployment approved-work/web: Down');
    expect(requestsOf(name)).toEqual([]);
  });

  it('evaluates everything again for the other schedules when one is deleted', async () => {
    await createNamespace('overlap');
    await createSchedule('older', { ...awake, namespaces: ['overlap'] });
    // Moments of creation are whole seconds; of two that are the same the name decides.
    await createSchedule('younger', { ...asleep, namespaces: ['overlap'] });
    await createDeployment('overlap', 'web', 2, GITOPS);
    const { requestsOf } = await startWatch();
    await eventually(
      'both are requested',
      () => requestsOf('older').length === 1 && requestsOf('younger').length === 1,
    );
    await custom.deleteClusterCustomObject({ ...SCHEDULES, name: 'older' });
    await eventually('the younger one is requested for its new workload', () => requestsOf('younger').length === 2);
    expect(requestsOf('younger')).toEqual([
      'schedule: the schedule is there',
      'workloads: Deployment overlap/web: Down',
    ]);
  });

  it('requests a reconcile of a schedule that does not exist, where a workload has its annotation and no other schedule selects it', async () => {
    await createNamespace('orphans');
    await createDeployment('orphans', 'left', 2, GITOPS);
    await scaleDown('removed-by-force', 'orphans', 'left', 2);
    await createNamespace('adopted');
    await createSchedule('adopter', { ...asleep, namespaces: ['adopted'] });
    await createDeployment('adopted', 'taken', 2, GITOPS);
    await scaleDown('removed-as-well', 'adopted', 'taken', 2);
    const { requestsOf } = await startWatch();
    await eventually('the schedule is requested', () => requestsOf('removed-by-force').length > 0);
    // Found once more for each list that comes a second after the others.
    expect(new Set(requestsOf('removed-by-force'))).toEqual(
      new Set(['orphan: the schedule is gone, and Deployment orphans/left has its annotation']),
    );
    await eventually('the other one is adopted', () => requestsOf('adopter').length > 1);
    expect(requestsOf('removed-as-well')).toEqual([]);
  });
});

describe('the watch of workloads', () => {
  /** A schedule that is down, its namespace, and a watch that has requested its reconcile. */
  async function nightOf(name: string, spec: Readonly<Record<string, unknown>> = {}) {
    await createNamespace(name, { 'example.com/night': name });
    await createSchedule(name, {
      ...asleep,
      namespaceSelector: { matchLabels: { 'example.com/night': name } },
      ...spec,
    });
    const { requestsOf, watch } = await startWatch();
    await eventually('the schedule is requested', () => requestsOf(name).length > 0);
    /** Without the reconcile request that the schedule is there. */
    return { requestsOf: () => requestsOf(name).slice(1), watch };
  }

  it('requests a reconcile for what GitOps deploys at night, and not for what becomes of its pods', async () => {
    const { requestsOf } = await nightOf('deployed');
    await createDeployment('deployed', 'web', 2, GITOPS);
    await eventually('the Deployment is requested', () => requestsOf().length > 0);
    await eventually('its controller has seen it', async () => {
      const { status } = await apps.readNamespacedDeployment({ namespace: 'deployed', name: 'web' });
      return status?.replicas === 2 && status.conditions !== undefined;
    });
    await scaleDown('deployed', 'deployed', 'web', 2);
    await eventually('its pods are gone', async () => {
      const { status } = await apps.readNamespacedDeployment({ namespace: 'deployed', name: 'web' });
      return (status?.replicas ?? 0) === 0;
    });
    await createDeployment('deployed', 'marker', 1, GITOPS);
    await eventually('the next one is requested', () => requestsOf().at(-1)?.includes('marker'));
    expect(requestsOf()).toEqual([
      'workloads: Deployment deployed/web: Down',
      'workloads: Deployment deployed/marker: Down',
    ]);
  });

  it('requests one reconcile for what a person scales up at night', async () => {
    const { requestsOf } = await nightOf('scaled');
    await createDeployment('scaled', 'web', 2, GITOPS);
    await scaleDown('scaled', 'scaled', 'web', 2);
    await patchDeployment('scaled', 'web', 'kubectl-scale', { spec: { replicas: 3 } });
    await eventually('its controller has seen it', async () => {
      const { status } = await apps.readNamespacedDeployment({ namespace: 'scaled', name: 'web' });
      return status?.replicas === 3;
    });
    await createDeployment('scaled', 'marker', 1, GITOPS);
    await eventually('the next one is requested', () => requestsOf().at(-1)?.includes('marker'));
    const ofPerson = requestsOf().filter((line) => line.includes('kubectl-scale'));
    expect(ofPerson).toEqual([expect.stringMatching(/^workloads: Deployment scaled\/web: ChangedByPerson/)]);
    expect(requestsOf()).toHaveLength(3);
  });

  it('requests a reconcile when a namespace leaves the scope with something that is down in it', async () => {
    const { requestsOf, watch } = await nightOf('leaving');
    await createDeployment('leaving', 'web', 2, GITOPS);
    await eventually('the Deployment is requested', () => requestsOf().length > 0);
    await scaleDown('leaving', 'leaving', 'web', 2);
    await untilMarked(watch, 'leaving', 'web');
    const before = requestsOf().length;
    await core.patchNamespace(
      { name: 'leaving', body: { metadata: { labels: { 'example.com/other': 'yes' } } } },
      MERGE,
    );
    await core.patchNamespace(
      { name: 'leaving', body: { metadata: { labels: { 'example.com/night': null } } } },
      MERGE,
    );
    await eventually('the namespace is requested', () => requestsOf().at(-1)?.includes('LeftScope'));
    expect(requestsOf().slice(before)).toEqual([
      'workloads: the namespace leaving changed: Deployment leaving/web: LeftScope',
    ]);
  });

  it('requests a reconcile when people say until when a namespace is awake, also where nothing is to be done now', async () => {
    const { requestsOf } = await nightOf('wished');
    await core.patchNamespace(
      { name: 'wished', body: { metadata: { annotations: { [WAKE_UNTIL]: '2100-01-01T00:00:00Z' } } } },
      MERGE,
    );
    await eventually('the namespace is requested', () => requestsOf().length > 0);
    expect(requestsOf()).toEqual(['workloads: the annotations of the namespace wished changed']);
  });

  it('requests a reconcile for what somebody does to an autoscaler at night, and not for what the schedule writes to it', async () => {
    const { requestsOf, watch } = await nightOf('bounded', { downscaleReplicas: 1 });
    const ofScaler = () => requestsOf().filter((line) => line.includes('an autoscaler'));
    const untilMaximum = async (maxReplicas: number): Promise<void> => {
      await eventually(`a maximum of ${maxReplicas} is seen`, () => {
        const [{ autoscaler } = {}] = scalersIn(watch.informers['horizontalpodautoscalers']);
        return autoscaler?.kind === 'HorizontalPodAutoscaler' && autoscaler.maxReplicas === maxReplicas;
      });
    };
    await createDeployment('bounded', 'web', 4, GITOPS);
    await eventually('the Deployment is requested', () => requestsOf().length > 0);
    await autoscaling.createNamespacedHorizontalPodAutoscaler({
      namespace: 'bounded',
      body: {
        metadata: { name: 'web' },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
          minReplicas: 2,
          maxReplicas: 9,
        },
      },
    });
    await eventually('a reconcile is requested for the autoscaler', () => ofScaler().length === 1);
    const patchScaler = async (fieldManager: string, body: object): Promise<void> => {
      await autoscaling.patchNamespacedHorizontalPodAutoscaler(
        { namespace: 'bounded', name: 'web', fieldManager, body },
        MERGE,
      );
    };
    const since = new Date().toISOString();
    const savedState = { [ORIGINAL_BOUNDS]: '2-9', [MANAGED_BY]: 'bounded', [DOWN_SINCE]: since };
    const spec = { minReplicas: 1, maxReplicas: 1 };
    await patchScaler(FIELD_MANAGER, { metadata: { annotations: savedState }, spec });
    await scaleDown('bounded', 'bounded', 'web', 4, 1);
    await untilMarked(watch, 'bounded', 'web');
    // Whoever changes it within the second in which it was held did so before.
    await eventually('the next second', () => Math.floor(Date.now() / 1000) > Math.floor(Date.parse(since) / 1000));
    await patchScaler('kubectl-edit', { spec: { maxReplicas: 5 } });
    await eventually('a reconcile is requested for the change by a person', () => ofScaler().length === 2);
    await patchScaler(GITOPS, { spec: { maxReplicas: 7 } });
    await eventually('a reconcile is requested for the change by GitOps', () => ofScaler().length === 3);
    await patchScaler(FIELD_MANAGER, { spec });
    await untilMaximum(1);
    const wish = { [WAKE_UNTIL]: '2100-01-01T00:00:00Z' };
    await patchDeployment('bounded', 'web', 'kubectl-annotate', { metadata: { annotations: wish } });
    await eventually('the wish is requested', () => requestsOf().at(-1)?.includes('its annotations changed'));
    // What the workflow writes when it wakes the workload: that, and then its autoscaler.
    const none = { [ORIGINAL_REPLICAS]: null, [ORIGINAL_BOUNDS]: null, [MANAGED_BY]: null, [DOWN_SINCE]: null };
    const unmarked = { metadata: { annotations: none, labels: { [MANAGED_BY]: null } } };
    await patchDeployment('bounded', 'web', FIELD_MANAGER, { ...unmarked, spec: { replicas: 4 } });
    await patchScaler(FIELD_MANAGER, { ...unmarked, spec: { minReplicas: 2, maxReplicas: 9 } });
    await untilMaximum(9);
    await createDeployment('bounded', 'marker', 2, GITOPS);
    await eventually('the next one is requested', () => requestsOf().at(-1)?.includes('marker'));
    const cause = 'workloads: an autoscaler of Deployment bounded/web changed: Down';
    expect(requestsOf()).toEqual([
      'workloads: Deployment bounded/web: Down',
      cause,
      expect.stringContaining('web changed: ChangedByPerson, kubectl-edit changed its autoscaler'),
      cause,
      'workloads: Deployment bounded/web: its annotations changed',
      'workloads: Deployment bounded/marker: Down',
    ]);
  });

  it("requests a reconcile for KEDA's autoscalers from when KEDA is there, and waits for none where it is taken away", async () => {
    const { requestsOf, watch } = await nightOf('paused');
    const scaledObjects = watch.informers['scaledobjects'];
    const ofScaler = () => requestsOf().filter((line) => line.includes('an autoscaler'));
    await createDeployment('paused', 'web', 2, GITOPS);
    await scaleDown('paused', 'paused', 'web', 2);
    await defineScaledObjects();
    await eventually('they are watched', () => scaledObjects?.resourceVersion() !== '');
    const location = { ...SCALED_OBJECTS, namespace: 'paused' };
    await custom.createNamespacedCustomObject({
      ...location,
      body: {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledObject',
        metadata: { name: 'web' },
        spec: { scaleTargetRef: { name: 'web' } },
      },
    });
    await eventually('a reconcile is requested for the new one', () => ofScaler().length === 1);
    const annotate = async (fieldManager: string, paused: string | null, savedState: object = {}): Promise<void> => {
      const body = { metadata: { annotations: { [KEDA_PAUSED_REPLICAS]: paused, ...savedState } } };
      await custom.patchNamespacedCustomObject({ ...location, name: 'web', fieldManager, body }, MERGE);
    };
    await annotate(FIELD_MANAGER, '0', { [MANAGED_BY]: 'paused', [DOWN_SINCE]: new Date().toISOString() });
    await annotate(GITOPS, '3');
    await eventually('a reconcile is requested for another number', () => ofScaler().length === 2);
    await annotate(FIELD_MANAGER, '0');
    // A person may resume it for the night: nothing is to be done.
    await annotate('kubectl-annotate', null);
    await eventually('that is seen', () =>
      scalersIn(scaledObjects).some(({ autoscaler }) => autoscaler.annotations[KEDA_PAUSED_REPLICAS] === undefined),
    );
    expect(ofScaler()).toHaveLength(2);
    await extensions.deleteCustomResourceDefinition({ name: 'scaledobjects.keda.sh' });
    await eventually('they are watched no longer', () => scaledObjects?.resourceVersion() === '');
    expect([scaledObjects?.isSynced(), scaledObjects?.trouble(), scaledObjects?.list()]).toEqual([true, null, []]);
  });

  it('leaves what a suspended schedule selects', async () => {
    const { requestsOf } = await nightOf('suspended', { suspend: true });
    await createDeployment('suspended', 'web', 2, GITOPS);
    await patchSchedule('suspended', { spec: { suspend: false } });
    await eventually('the schedule is requested', () => requestsOf().length > 0);
    expect(requestsOf()[0]).toBe('schedule: the spec of the schedule changed');
  });

  it('comes back to what is not as it should be', async () => {
    await createNamespace('resynced');
    await createSchedule('resynced', { ...asleep, namespaces: ['resynced'] });
    await createDeployment('resynced', 'web', 2, GITOPS);
    // Such a watch is never at rest: the next evaluation is requested before the last one is over.
    const { requestsOf } = await startWatch({ until: isListed, resyncMs: 200 });
    await eventually('it is requested several times', () => requestsOf('resynced').length > 3);
    expect(requestsOf('resynced').slice(1, 3)).toEqual([
      'workloads: Deployment resynced/web: Down',
      'workloads: Deployment resynced/web: Down',
    ]);
  });
});
