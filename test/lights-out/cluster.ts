/** A cluster with LightsOutSchedules and workloads, driven as people and other machines drive it. */
import {
  AdmissionregistrationV1Api,
  ApiextensionsV1Api,
  AppsV1Api,
  AutoscalingV2Api,
  BatchV1Api,
  CoreV1Api,
  CustomObjectsApi,
  PatchStrategy,
  setHeaderOptions,
  type V1CronJob,
  type V1Deployment,
  type V1OwnerReference,
  type V1StatefulSet,
  type V1StatefulSetSpec,
  type V2HorizontalPodAutoscaler,
  type V1NamedRuleWithOperations,
} from '@kubernetes/client-node';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { GROUP, KIND, PLURAL, VERSION } from '../../domain/lights-out/schedule/names.ts';
import type { ScheduleSpec, ScheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';
import {
  commandUpdates,
  type LightsOutCommand,
  type LightsOutCommandInput,
  type LightsOutStatus,
  status,
} from '../../workflows/lights-out/messages.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import {
  CLUSTER,
  type HeadroomPlane,
  type HeadroomPlaneOptions,
  startHeadroomPlane,
} from '../kernel/stack/headroom-plane.ts';
import { HistoryWatch } from '../kernel/stack/history-watch.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import { defineScaledObjects, SCALED_OBJECTS } from './custom-workloads.ts';

/** Up, and Down: by history, without waiting for a clock. Only the first minute of a year is an exception. */
export const UP = { upscale: '1 0 1 1 *', downscale: '0 0 1 1 *' } as const;
export const DOWN = { upscale: '0 0 1 1 *', downscale: '1 0 1 1 *' } as const;

export const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
export const apply = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);

export type Schedule = {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
  };
  readonly spec: Partial<ScheduleSpec>;
  readonly status?: ScheduleStatus;
};

/** A ScaledObject as far as these tests look at it. */
export interface ScaledObject {
  readonly metadata: {
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** Until a question is answered, in milliseconds; it can be asked again. */
const QUERY_MS = 30_000;
/** Until a command is answered, in milliseconds: as long as a worker takes that was killed and is started on a busy machine. */
const UPDATE_MS = 90_000;

const template = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] },
};

/** Starts a plane whose worker and starter follow LightsOutSchedules; neither of them is started yet. */
export async function startLightsOutPlane({
  scaledOwners = [],
  ...options
}: Partial<HeadroomPlaneOptions> & { readonly scaledOwners?: readonly string[] } = {}): Promise<HeadroomPlane> {
  const plane = await startHeadroomPlane({
    ...options,
    values: { ...options.values, config: { ...options.values?.config, lightsOut: { scaledOwners, enabled: true } } },
    manifests: [
      new URL('../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url),
      ...(options.manifests ?? []),
    ],
    env: {
      HEADROOM_LIGHTS_OUT: 'true',
      ...(scaledOwners.length === 0 ? {} : { HEADROOM_LIGHTS_OUT_SCALED_OWNERS: scaledOwners.join(',') }),
      // What production waits for out of politeness, a test has no reason to wait for.
      'lightsOut.retryMin': '1s',
      // Between two tries it comes to rest, also where the looks in between take a second or two.
      'lightsOut.retryMax': '4s',
      ...options.env,
    },
  });
  try {
    await untilInForce(plane.plane.adminKubeconfig);
  } catch (error) {
    await plane.stop();
    throw error;
  }
  return plane;
}

/** A definition is stored before it is served, and a binding before it is gone by: what is refused until then would be told as a gap. */
async function untilInForce(adminKubeconfig: string): Promise<void> {
  const custom = accessOf(adminKubeconfig).makeApiClient(CustomObjectsApi);
  await eventually('schedules are served', async () => {
    await custom.listClusterCustomObject({ group: GROUP, version: VERSION, plural: PLURAL });
    return true;
  });
  await untilAllowed(adminKubeconfig, 'headroom-worker', [
    { verb: 'get', resource: 'configmaps', name: 'headroom-pause', namespace: 'namespace-resizer-system' },
    { verb: 'get', resource: 'namespaces' },
    { verb: 'patch', group: 'apps', resource: 'deployments' },
  ]);
  await untilAllowed(adminKubeconfig, 'headroom-starter', [
    { verb: 'watch', resource: 'resourcequotas' },
    { verb: 'watch', group: 'keda.sh', resource: 'scaledobjects' },
  ]);
}

interface Denial {
  readonly policy: string;
  readonly rule: V1NamedRuleWithOperations;
  /** CEL; what it is false for is refused. */
  readonly expression: string;
  readonly message: string;
  /** Tries, without doing it, what is to be refused. */
  readonly attempt: () => Promise<void>;
}

/** The cluster as an admin, who counts as a person. */
export class LightsOutCluster {
  readonly plane: HeadroomPlane;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly batch: BatchV1Api;
  readonly custom: CustomObjectsApi;
  readonly extensions: ApiextensionsV1Api;
  readonly admission: AdmissionregistrationV1Api;
  readonly autoscaling: AutoscalingV2Api;

  constructor(plane: HeadroomPlane) {
    this.plane = plane;
    const config = accessOf(plane.plane.adminKubeconfig);
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.batch = config.makeApiClient(BatchV1Api);
    this.custom = config.makeApiClient(CustomObjectsApi);
    this.extensions = config.makeApiClient(ApiextensionsV1Api);
    this.admission = config.makeApiClient(AdmissionregistrationV1Api);
    this.autoscaling = config.makeApiClient(AutoscalingV2Api);
  }

  async namespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.core.createNamespace({ body: { metadata: { name, labels } } });
  }

  async deployment(
    namespace: string,
    name: string,
    replicas: number,
    {
      fieldManager = 'kubectl-create',
      ...metadata
    }: {
      fieldManager?: string;
      labels?: Record<string, string>;
      annotations?: Record<string, string>;
      ownerReferences?: V1OwnerReference[];
    } = {},
  ): Promise<void> {
    await this.apps.createNamespacedDeployment({
      namespace,
      fieldManager,
      body: { metadata: { name, ...metadata }, spec: { replicas, selector: { matchLabels: { app: 'x' } }, template } },
    });
  }

  async statefulSet(
    namespace: string,
    name: string,
    replicas: number,
    labels: Record<string, string> = {},
    spec: Partial<V1StatefulSetSpec> = {},
  ): Promise<void> {
    await this.apps.createNamespacedStatefulSet({
      namespace,
      fieldManager: 'kubectl-create',
      body: {
        metadata: { name, labels },
        spec: { replicas, serviceName: name, selector: { matchLabels: { app: 'x' } }, template, ...spec },
      },
    });
  }

  async cronJob(namespace: string, name: string, suspend = false): Promise<void> {
    await this.batch.createNamespacedCronJob({
      namespace,
      fieldManager: 'kubectl-create',
      body: {
        metadata: { name },
        spec: {
          schedule: '0 0 31 12 *',
          suspend,
          jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
        },
      },
    });
  }

  async readDeployment(namespace: string, name: string): Promise<V1Deployment> {
    return await this.apps.readNamespacedDeployment({ namespace, name });
  }

  async readStatefulSet(namespace: string, name: string): Promise<V1StatefulSet> {
    return await this.apps.readNamespacedStatefulSet({ namespace, name });
  }

  async readCronJob(namespace: string, name: string): Promise<V1CronJob> {
    return await this.batch.readNamespacedCronJob({ namespace, name });
  }

  async replicas(namespace: string, name: string): Promise<number | undefined> {
    return (await this.readDeployment(namespace, name)).spec?.replicas;
  }

  async suspended(namespace: string, name: string): Promise<boolean | undefined> {
    return (await this.readCronJob(namespace, name)).spec?.suspend;
  }

  /** As `kubectl scale` does, by whoever the manager says. */
  async scale(namespace: string, name: string, replicas: number, fieldManager = 'kubectl'): Promise<void> {
    await this.apps.patchNamespacedDeploymentScale(
      { namespace, name, body: { spec: { replicas } }, fieldManager },
      merge,
    );
  }

  /** As a GitOps engine does: server-side apply of what Git says. */
  async applyReplicas(
    namespace: string,
    name: string,
    replicas: number,
    fieldManager = 'argocd-controller',
  ): Promise<void> {
    await this.apps.patchNamespacedDeployment(
      {
        namespace,
        name,
        fieldManager,
        force: true,
        body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec: { replicas } },
      },
      apply,
    );
  }

  async setSuspend(namespace: string, name: string, suspend: boolean, fieldManager = 'kubectl-patch'): Promise<void> {
    await this.batch.patchNamespacedCronJob({ namespace, name, body: { spec: { suspend } }, fieldManager }, merge);
  }

  async schedule(
    name: string,
    spec: Readonly<Record<string, unknown>>,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.custom.createClusterCustomObject({
      group: GROUP,
      version: VERSION,
      plural: PLURAL,
      body: {
        apiVersion: `${GROUP}/${VERSION}`,
        kind: KIND,
        metadata: { name, annotations },
        // Nobody makes pods ready here, and CronJobs would wait for that; where an order is tested, a test does it.
        spec: 'priorities' in spec ? spec : { readinessTimeout: '0', ...spec },
      },
    });
  }

  async patchSchedule(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await this.custom.patchClusterCustomObject({ group: GROUP, version: VERSION, plural: PLURAL, name, body }, merge);
  }

  async patchScheduleStatus(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    const request = { group: GROUP, version: VERSION, plural: PLURAL, name, body };
    await this.custom.patchClusterCustomObjectStatus(request, merge);
  }

  async deleteSchedule(name: string): Promise<void> {
    await this.custom.deleteClusterCustomObject({ group: GROUP, version: VERSION, plural: PLURAL, name });
  }

  async readSchedule(name: string): Promise<Schedule> {
    return (await this.custom.getClusterCustomObject({
      group: GROUP,
      version: VERSION,
      plural: PLURAL,
      name,
    })) as Schedule;
  }

  async scheduleIsGone(name: string): Promise<boolean> {
    const { items } = (await this.custom.listClusterCustomObject({
      group: GROUP,
      version: VERSION,
      plural: PLURAL,
    })) as {
      items: readonly Schedule[];
    };
    return items.every(({ metadata }) => metadata.name !== name);
  }

  handle(schedule: string) {
    return this.plane.client.workflow.getHandle(lightsOutId({ cluster: CLUSTER, schedule }));
  }

  async status(schedule: string): Promise<LightsOutStatus> {
    return await this.#answered(QUERY_MS, async () => await this.handle(schedule).query(status));
  }

  /** What a worker answers; one that is gone would be waited for without an end, and without a word why. */
  async #answered<T>(withinMs: number, ask: () => Promise<T>): Promise<T> {
    return await this.plane.client.withDeadline(Date.now() + withinMs, ask);
  }

  /** Until the schedule stands in a phase for a reason, and nothing is under way: what there is to write is written. */
  async reaches(
    schedule: string,
    phase: LightsOutStatus['phase'],
    reason?: string,
    withinMs = 60_000,
  ): Promise<LightsOutStatus> {
    let seen = 'nothing';
    const history = new HistoryWatch(this.plane.client, this.handle(schedule).workflowId);
    return await eventually(
      () => `${schedule} is ${phase}${reason === undefined ? '' : ` (${reason})`}: it is ${seen}`,
      async () => {
        // A query costs Temporal and the worker more than all that is read here.
        seen = history.phase ?? seen;
        if (history.phase !== phase) return false;
        const status = await this.status(schedule);
        seen = `${status.phase} (${status.reason})`;
        if (status.phase !== phase || (reason !== undefined && status.reason !== reason)) return false;
        // A phase is said before it is written, and what follows from it is done after both.
        const { pendingActivities, pendingWorkflowTask } = (await this.handle(schedule).describe()).raw;
        // What waits for the end of a pause does nothing.
        const underWay = (pendingActivities ?? []).filter(({ activityType }) => activityType?.name !== 'awaitResume');
        const isAtRest = underWay.length === 0 && !pendingWorkflowTask;
        seen += isAtRest ? '' : ', with something under way';
        return isAtRest && status;
      },
      withinMs,
      history,
    );
  }

  async command(schedule: string, command: LightsOutCommand, input: LightsOutCommandInput = {}): Promise<string> {
    const args: [LightsOutCommandInput] = [{ by: 'alice', ...input }];
    return await this.#answered(
      UPDATE_MS,
      async () => await this.handle(schedule).executeUpdate(commandUpdates[command], { args }),
    );
  }

  /** `reason: message` of the Events on a schedule. */
  async events(schedule: string): Promise<readonly string[]> {
    const { items } = await this.core.listNamespacedEvent({ namespace: 'default' });
    return items
      .filter(({ involvedObject }) => involvedObject.kind === KIND && involvedObject.name === schedule)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  async ready(schedule: string): Promise<string> {
    const { status: seen } = await this.readSchedule(schedule);
    const found = seen?.conditions?.find(({ type }) => type === 'Ready');
    return found === undefined ? '' : `${found.status} ${found.reason}: ${found.message}`;
  }

  /**
   * Until whatever is done from now on is done in a later second than that in which the state of the schedule began, and than
   * that in which the last workload was put to sleep: moments of the API server and of annotations have whole seconds, and what was
   * done in the very second counts as done before.
   */
  async wellInto(schedule: string): Promise<void> {
    // A status that could not be written is written a minute later.
    const since = await eventually(
      `the status of ${schedule} says since when`,
      async () => {
        const { stateSince, lastDownscaleTime = stateSince } = (await this.readSchedule(schedule)).status ?? {};
        return Math.max(Date.parse(stateSince ?? ''), Date.parse(lastDownscaleTime ?? '')) || null;
      },
      90_000,
    );
    await eventually('the next second', () => Math.floor(Date.now() / 1000) * 1000 > since);
  }

  /** Follows a new schedule down, until everything in its scope is asleep and the night has begun for good. */
  async asleep(name: string, spec: Readonly<Record<string, unknown>>): Promise<void> {
    await this.schedule(name, { ...DOWN, ...spec });
    await this.reaches(name, 'Down', 'AsScheduled');
    await this.wellInto(name);
  }

  async patchNamespace(name: string, metadata: Readonly<Record<string, unknown>>): Promise<void> {
    await this.core.patchNamespace({ name, body: { metadata } }, merge);
  }

  async patchDeployment(namespace: string, name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await this.apps.patchNamespacedDeployment({ namespace, name, body, fieldManager: 'kubectl-edit' }, merge);
  }

  /** The annotations of a schedule, on whatever has them. */
  async savedState(namespace: string, name: string): Promise<Readonly<Record<string, string>>> {
    return savedStateOf((await this.readDeployment(namespace, name)).metadata?.annotations);
  }

  /** Makes every pod that a namespace has now ready: no kubelet does it here. */
  async readyPods(namespace: string): Promise<void> {
    const { items } = await this.core.listNamespacedPod({ namespace });
    for (const { metadata } of items) {
      const body = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
      await this.core.patchNamespacedPodStatus({ namespace, name: metadata?.name ?? '', body }, merge);
    }
  }

  async horizontalScaler(namespace: string, name: string, minReplicas: number, maxReplicas: number): Promise<void> {
    await this.autoscaling.createNamespacedHorizontalPodAutoscaler({
      namespace,
      fieldManager: 'kubectl-create',
      body: {
        metadata: { name },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
          minReplicas,
          maxReplicas,
          // Of no adapter that is there, so that nothing scales by it; one of this type lets the minimum be 0.
          metrics: [
            {
              type: 'External',
              external: { metric: { name: 'queue' }, target: { type: 'AverageValue', averageValue: '1' } },
            },
          ],
        },
      },
    });
  }

  async readHorizontalScaler(namespace: string, name: string): Promise<V2HorizontalPodAutoscaler> {
    return await this.autoscaling.readNamespacedHorizontalPodAutoscaler({ namespace, name });
  }

  /** As if KEDA were installed, as far as its definition goes. */
  async defineScaledObjects(): Promise<void> {
    await defineScaledObjects(this.custom);
  }

  /** One for the Deployment of the same name. */
  async scaledObject(
    namespace: string,
    name: string,
    annotations: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.custom.createNamespacedCustomObject({
      ...SCALED_OBJECTS,
      namespace,
      body: {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledObject',
        metadata: { name, annotations },
        spec: { scaleTargetRef: { name }, triggers: [{ type: 'cpu' }] },
      },
    });
  }

  async readScaledObject(namespace: string, name: string): Promise<ScaledObject> {
    return (await this.custom.getNamespacedCustomObject({ ...SCALED_OBJECTS, namespace, name })) as ScaledObject;
  }

  /** Nobody can change the Deployment `name` of the namespace until this is undone. */
  async freeze(namespace: string, name: string): Promise<() => Promise<void>> {
    return await this.#deny({
      policy: `freeze-${namespace}`,
      rule: { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments'], operations: ['UPDATE'] },
      expression: `object.metadata.namespace != '${namespace}' || object.metadata.name != '${name}'`,
      message: 'frozen for an audit',
      attempt: async () => {
        const body = { metadata: { annotations: { probe: 'x' } } };
        await this.apps.patchNamespacedDeployment({ namespace, name, body, dryRun: 'All' }, merge);
      },
    });
  }

  /** Nobody can change the finalizers of the schedule until this is undone. */
  async keepFinalizers(schedule: string): Promise<() => Promise<void>> {
    return await this.#deny({
      policy: `finalizers-${schedule}`,
      rule: { apiGroups: [GROUP], apiVersions: [VERSION], resources: [PLURAL], operations: ['UPDATE'] },
      expression: `object.metadata.name != '${schedule}' || (has(object.metadata.finalizers) ? object.metadata.finalizers : []) == (has(oldObject.metadata.finalizers) ? oldObject.metadata.finalizers : [])`,
      message: 'finalizers are not for everybody',
      attempt: async () => {
        const { finalizers = [] } = (await this.readSchedule(schedule)).metadata;
        // What is being deleted gets no new ones, whatever policies say.
        const body = { metadata: { finalizers: finalizers.length === 0 ? ['example.com/probe'] : [] } };
        const request = { group: GROUP, version: VERSION, plural: PLURAL, name: schedule, body, dryRun: 'All' };
        await this.custom.patchClusterCustomObject(request, merge);
      },
    });
  }

  /** Nobody can write an Event about the schedule until this is undone. */
  async silence(schedule: string): Promise<() => Promise<void>> {
    const namespace = 'default';
    return await this.#deny({
      policy: `silence-${schedule}`,
      rule: { apiGroups: [''], apiVersions: ['v1'], resources: ['events'], operations: ['CREATE'] },
      expression: `object.involvedObject.name != '${schedule}'`,
      message: 'no Events for now',
      attempt: async () => {
        const body = { metadata: { name: 'probe' }, involvedObject: { name: schedule, namespace } };
        await this.core.createNamespacedEvent({ namespace, body, dryRun: 'All' });
      },
    });
  }

  /** Refuses what an expression is false for, from when this resolves until what it resolves to is called. */
  async #deny({ policy, rule, expression, message, attempt }: Denial): Promise<() => Promise<void>> {
    await this.admission.createValidatingAdmissionPolicy({
      body: {
        metadata: { name: policy },
        spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression, message }] },
      },
    });
    await this.admission.createValidatingAdmissionPolicyBinding({
      body: { metadata: { name: policy }, spec: { policyName: policy, validationActions: ['Deny'] } },
    });
    const isDenied = async (): Promise<boolean> =>
      await attempt().then(
        () => false,
        (error: unknown) => String(error).includes(message),
      );
    await eventually('the policy holds', isDenied);
    return async () => {
      await this.admission.deleteValidatingAdmissionPolicyBinding({ name: policy });
      await this.admission.deleteValidatingAdmissionPolicy({ name: policy });
      await eventually('the policy is off', async () => !(await isDenied()));
    };
  }

  /** What the Temporal UI shows of a schedule's workflow: its current details. */
  async details(schedule: string): Promise<string> {
    const { currentDetails = '' } = await this.#answered(
      QUERY_MS,
      async () => await this.handle(schedule).query<{ currentDetails?: string }>('__temporal_workflow_metadata'),
    );
    return currentDetails;
  }

  /** Until an Event of a schedule is of this form. */
  async eventMatching(schedule: string, form: RegExp): Promise<string> {
    return await eventually(`${schedule} has the Event ${form.source}`, async () =>
      (await this.events(schedule)).find((event) => form.test(event)),
    );
  }

  /** Until the status of a schedule, as its workflow answers it, has a fact of this form. */
  async factMatching(schedule: string, form: RegExp): Promise<string> {
    return await eventually(`${schedule} has the fact ${form.source}`, async () =>
      (await this.status(schedule)).facts.find((fact) => form.test(fact)),
    );
  }

  /**
   * The writes of the worker that took effect, to one object or everything in a namespace, the oldest first: by when they came
   * in, as a write is logged after its answer, and by then the next one may be logged already.
   */
  async writes(namespace: string, name?: string): Promise<readonly AuditEvent[]> {
    const events = await this.plane.plane.auditEvents();
    return events
      .filter(
        ({ user, objectRef, verb, responseStatus }) =>
          user.username === 'headroom-worker' &&
          ['create', 'update', 'patch', 'delete'].includes(verb) &&
          (responseStatus?.code ?? 0) < 300 &&
          objectRef?.namespace === namespace &&
          (name === undefined || objectRef.name === name),
      )
      .toSorted((a, b) => (a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1));
  }

  /**
   * When the worker wrote an object for the `nth` time, in milliseconds since 1970. Who reads the object may see the write
   * before it is answered, and so before it is in the audit log.
   */
  async writtenAt(namespace: string, name: string, nth: number): Promise<number> {
    const write = await eventually(`${namespace}/${name} was written for the ${nth}. time`, async () =>
      (await this.writes(namespace, name)).at(nth - 1),
    );
    return Date.parse(write.requestReceivedTimestamp);
  }

  /** What worker and starter asked for and were not allowed to. */
  async refused(): Promise<readonly string[]> {
    const events = await this.plane.plane.auditEvents();
    return events
      .filter(
        ({ user, responseStatus }) =>
          ['headroom-worker', 'headroom-starter'].includes(user.username) && responseStatus?.code === 403,
      )
      .map(({ user, verb, requestURI }) => `${user.username}: ${verb} ${requestURI}`);
  }
}

/** Those of a schedule among some annotations or labels, by what follows the group. */
export function savedStateOf(all: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(all).flatMap(([key, value]) =>
      key.startsWith(`${GROUP}/`) ? [[key.slice(GROUP.length + 1), value]] : [],
    ),
  );
}
