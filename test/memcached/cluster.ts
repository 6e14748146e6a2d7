/** A cluster with Memcacheds, driven as people and other machines drive it. */
import {
  AppsV1Api,
  AutoscalingV2Api,
  CoordinationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubernetesObject,
  NetworkingV1Api,
  PatchStrategy,
  PolicyV1Api,
  setHeaderOptions,
  type V1Deployment,
  V1MicroTime,
  type V1Pod,
  Watch,
} from '@kubernetes/client-node';
import type { MemcachedStatus, WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { FORMER_LEASE, GROUP, KIND, PLURAL, SECRET_HASH, VERSION } from '../../domain/memcached/api/names.ts';
import { memcachedId } from '../../domain/memcached/target.ts';
import { commandUpdates, type MemcachedRunStatus, status } from '../../workflows/memcached/messages.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { applyRightsOfUsers, WEBHOOK_KINDS, webhookObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyObjects } from '../kernel/stack/manifests.ts';
import {
  CLUSTER,
  type HeadroomPlane,
  type HeadroomPlaneOptions,
  startHeadroomPlane,
} from '../kernel/stack/headroom-plane.ts';
import { memcachedPlaneOptions, untilMemcachedsAreServed } from './plane.ts';

export const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const MEMCACHEDS = { group: GROUP, version: VERSION, plural: PLURAL } as const;

/** Until a question is answered, in milliseconds; it can be asked again. */
const QUERY_MS = 30_000;

/** As the manifest has it. */
interface Webhook {
  readonly clientConfig: { readonly service: { readonly path: string } };
}

export interface MemcachedObject {
  readonly metadata: { readonly name: string; readonly uid: string; readonly generation: number };
  readonly spec: WrittenSpec;
  readonly status?: MemcachedStatus;
}

/** Starts a plane whose worker and starter run Memcacheds; neither of them is started yet. */
export async function startMemcachedPlane(options: Partial<HeadroomPlaneOptions> = {}): Promise<HeadroomPlane> {
  const plane = await startHeadroomPlane(memcachedPlaneOptions(options));
  try {
    await untilMemcachedsAreServed(plane);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/** The cluster as an admin, who counts as a person. A Memcached is called as its namespace is. */
export class MemcachedCluster {
  readonly plane: HeadroomPlane;
  readonly core: CoreV1Api;
  readonly apps: AppsV1Api;
  readonly autoscaling: AutoscalingV2Api;
  readonly policy: PolicyV1Api;
  readonly networking: NetworkingV1Api;
  readonly custom: CustomObjectsApi;

  constructor(plane: HeadroomPlane) {
    this.plane = plane;
    const config = accessOf(plane.plane.adminKubeconfig);
    this.core = config.makeApiClient(CoreV1Api);
    this.apps = config.makeApiClient(AppsV1Api);
    this.autoscaling = config.makeApiClient(AutoscalingV2Api);
    this.policy = config.makeApiClient(PolicyV1Api);
    this.networking = config.makeApiClient(NetworkingV1Api);
    this.custom = config.makeApiClient(CustomObjectsApi);
  }

  /** Creates a Memcached in a namespace of its own. */
  async create(name: string, spec: WrittenSpec): Promise<void> {
    await this.core.createNamespace({ body: { metadata: { name } } });
    await this.createIn(name, spec);
  }

  async createIn(name: string, spec: WrittenSpec, dryRun?: 'All'): Promise<MemcachedObject> {
    const request = { ...MEMCACHEDS, namespace: name, body: bodyOf(name, spec), ...(dryRun && { dryRun }) };
    return (await this.custom.createNamespacedCustomObject(request)) as MemcachedObject;
  }

  /** What the API server warns of when a Memcached is created, which it is not. */
  async warningsOf(name: string, spec: WrittenSpec): Promise<string> {
    const request = { ...MEMCACHEDS, namespace: name, body: bodyOf(name, spec), dryRun: 'All' };
    const { headers } = await this.custom.createNamespacedCustomObjectWithHttpInfo(request);
    return headers['warning'] ?? '';
  }

  /** The API server asks the webhooks at this URL about the objects of these namespaces. */
  async askBefore(namespaces: readonly string[], url: string): Promise<void> {
    const configurations = (await webhookObjects('memcached', ...WEBHOOK_KINDS)) as readonly (KubernetesObject & {
      readonly webhooks: readonly Webhook[];
    })[];
    const objects = configurations.map((configuration) => ({
      ...configuration,
      webhooks: configuration.webhooks.map((webhook) => ({
        ...webhook,
        clientConfig: { url: `${url}${webhook.clientConfig.service.path}` },
        namespaceSelector: {
          matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [...namespaces] }],
        },
      })),
    }));
    await applyObjects(this.plane.plane.adminKubeconfig, objects);
  }

  async read(name: string): Promise<MemcachedObject> {
    const answer: unknown = await this.custom.getNamespacedCustomObject({ ...MEMCACHEDS, namespace: name, name });
    return answer as MemcachedObject;
  }

  /** As `kubectl edit` does; null takes a field out. */
  async edit(name: string, spec: object): Promise<void> {
    await this.custom.patchNamespacedCustomObject({ ...MEMCACHEDS, namespace: name, name, body: { spec } }, merge);
  }

  async delete(name: string): Promise<void> {
    await this.custom.deleteNamespacedCustomObject({ ...MEMCACHEDS, namespace: name, name });
  }

  async deployment(name: string): Promise<V1Deployment> {
    return await this.apps.readNamespacedDeployment({ namespace: name, name });
  }

  /** The first operator is elected, until what this resolves to is called. */
  async leadFormerOperator(): Promise<() => Promise<void>> {
    const coordination = accessOf(this.plane.plane.adminKubeconfig).makeApiClient(CoordinationV1Api);
    const namespace = 'memcached-operator-system';
    await this.core.createNamespace({ body: { metadata: { name: namespace } } });
    const spec = { holderIdentity: 'manager-0', leaseDurationSeconds: 15, renewTime: new V1MicroTime(Date.now()) };
    await coordination.createNamespacedLease({ namespace, body: { metadata: { name: FORMER_LEASE }, spec } });
    // As an elected one does that ends.
    const released = { namespace, name: FORMER_LEASE, body: { spec: { holderIdentity: '' } } };
    return async () => void (await coordination.patchNamespacedLease(released, merge));
  }

  /** Headroom may read the Secrets of a namespace, as docs/memcached.md says. */
  async allowSecrets(namespace: string): Promise<void> {
    const { adminKubeconfig } = this.plane.plane;
    await applyRightsOfUsers(adminKubeconfig, {
      config: { memcached: { enabled: true } },
      rights: { memcachedSecrets: [namespace] },
    });
    const asked = (verb: string) => ({ verb, resource: 'secrets', namespace });
    await untilAllowed(adminKubeconfig, 'headroom-worker', [asked('get')]);
    await untilAllowed(adminKubeconfig, 'headroom-starter', [asked('list'), asked('watch')]);
  }

  /** The hash of Secrets that new pods get. */
  async secretHash(name: string): Promise<string | undefined> {
    return (await this.deployment(name)).spec?.template.metadata?.annotations?.[SECRET_HASH];
  }

  /** The Deployment and the Service as the first operator makes them, with an exporter: plain creates, by its field manager. */
  async asFormerOperator(name: string, uid: string, replicas: number): Promise<void> {
    const labels = {
      'app.kubernetes.io/name': 'memcached',
      'app.kubernetes.io/instance': name,
      'app.kubernetes.io/managed-by': 'memcached-operator',
    };
    const versioned = { ...labels, 'app.kubernetes.io/version': '1.6' };
    const owner = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, name, uid };
    const metadata = { name, ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }] };
    const probe = (seconds: number) => ({
      tcpSocket: { port: 'memcached' },
      initialDelaySeconds: seconds,
      periodSeconds: seconds,
    });
    await this.apps.createNamespacedDeployment({
      namespace: name,
      fieldManager: 'manager',
      body: {
        metadata: { ...metadata, labels: versioned },
        spec: {
          replicas,
          selector: { matchLabels: labels },
          strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
          template: {
            metadata: { labels: versioned },
            spec: {
              containers: [
                {
                  name: 'memcached',
                  image: 'memcached:1.6',
                  args: ['-m', '64', '-c', '1024', '-t', '4', '-I', '1m'],
                  ports: [{ name: 'memcached', containerPort: 11_211, protocol: 'TCP' }],
                  livenessProbe: probe(10),
                  readinessProbe: probe(5),
                },
                {
                  name: 'exporter',
                  image: 'prom/memcached-exporter:v0.15.4',
                  ports: [{ name: 'metrics', containerPort: 9150, protocol: 'TCP' }],
                },
              ],
            },
          },
        },
      },
    });
    const port = (portName: string, number: number) => ({ name: portName, port: number, targetPort: portName });
    await this.core.createNamespacedService({
      namespace: name,
      fieldManager: 'manager',
      body: {
        metadata: { ...metadata, labels },
        spec: { clusterIP: 'None', selector: labels, ports: [port('memcached', 11_211), port('metrics', 9150)] },
      },
    });
  }

  /** The names of its pods. */
  async pods(name: string): Promise<readonly string[]> {
    const { items } = await this.core.listNamespacedPod({ namespace: name });
    return items.map(({ metadata }) => metadata?.name ?? '').toSorted();
  }

  /** Every count of pods that the Deployment is given from now on, each once in a row. */
  async watchReplicas(name: string): Promise<{ readonly counts: readonly number[]; readonly stop: () => void }> {
    const counts: number[] = [];
    const watch = new Watch(accessOf(this.plane.plane.adminKubeconfig));
    const onEvent = (_: string, { spec }: V1Deployment): void => {
      const count = spec?.replicas ?? 0;
      if (count !== counts.at(-1)) counts.push(count);
    };
    const watched = await watch.watch(`/apis/apps/v1/namespaces/${name}/deployments`, {}, onEvent, () => {});
    await eventually('the Deployment is watched', () => counts.length > 0);
    return { counts, stop: () => watched.abort() };
  }

  handle(name: string) {
    return this.plane.client.workflow.getHandle(memcachedId({ cluster: CLUSTER, namespace: name, name }));
  }

  async runStatus(name: string): Promise<MemcachedRunStatus> {
    return await this.plane.client.withDeadline(
      Date.now() + QUERY_MS,
      async () => await this.handle(name).query(status),
    );
  }

  async command(name: string, command: keyof typeof commandUpdates): Promise<string> {
    return await this.handle(name).executeUpdate(commandUpdates[command], { args: [{ by: 'alice' }] });
  }

  /** Until the episode stands in a phase for a reason. */
  async reaches(name: string, phase: MemcachedRunStatus['phase'], reason: MemcachedRunStatus['reason']): Promise<void> {
    let seen = 'nothing';
    await eventually(
      () => `${name} is ${phase} (${reason}): it is ${seen}`,
      async () => {
        const shown = await this.runStatus(name);
        seen = `${shown.phase} (${shown.reason}): ${shown.detail}`;
        return shown.phase === phase && shown.reason === reason;
      },
    );
  }

  /** The conditions as `Type=Status Reason: message`. */
  async conditions(name: string): Promise<readonly string[]> {
    const { conditions = [] } = (await this.read(name)).status ?? {};
    return conditions.map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`);
  }

  async untilCondition(name: string, condition: string): Promise<void> {
    let seen: readonly string[] = [];
    await eventually(
      () => `${name} has "${condition}": it has ${seen.join('; ')}`,
      async () => {
        seen = await this.conditions(name);
        return seen.includes(condition);
      },
    );
  }

  /**
   * Makes so many pods ready, for as long as it takes until all of them count: no kubelet does it here.
   *
   * @param asKubelet what becomes of a pod.
   */
  async ready(
    name: string,
    replicas: number,
    asKubelet: (pod: V1Pod) => Promise<void> = async (pod) => await this.makeReady(pod),
  ): Promise<void> {
    await eventually(`${replicas} pods of ${name} are ready`, async () => {
      const { items } = await this.core.listNamespacedPod({ namespace: name });
      for (const pod of items) await asKubelet(pod);
      const { metadata: deployment, status: seen } = await this.deployment(name);
      // The counts are of a template before this one until its controller has seen it; then a rollout has pods to come.
      const isSeen = (seen?.observedGeneration ?? 0) >= (deployment?.generation ?? 0);
      const counts = [seen?.replicas, seen?.updatedReplicas, seen?.readyReplicas];
      return isSeen && counts.every((count) => count === replicas);
    });
  }

  /** @param more what else there is to say of it. */
  async makeReady({ metadata, status: pod }: V1Pod, more: { readonly podIP?: string } = {}): Promise<void> {
    if (pod?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True')) return;
    const body = { status: { ...more, phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };
    const { name = '', namespace = '' } = metadata ?? {};
    await this.core.patchNamespacedPodStatus({ namespace, name, body }, merge);
  }

  /** Makes its pods ready, until the status says so and the episode has ended. */
  async settled(name: string, replicas: number): Promise<void> {
    await this.ready(name, replicas);
    await this.settledByItself(name, replicas);
  }

  /** Until the status says that all pods are ready, and the episode has ended: a kubelet runs them. */
  async settledByItself(name: string, replicas: number): Promise<void> {
    await this.untilCondition(name, `Ready=True MemcachedReady: All ${replicas} replicas are ready`);
    await this.ended(name);
  }

  async ended(name: string, withinMs?: number): Promise<void> {
    await eventually(
      `the episode of ${name} has ended`,
      async () => (await this.handle(name).describe()).status.name === 'COMPLETED',
      withinMs,
    );
  }

  /** `reason: message` of the Events on a Memcached. */
  async events(name: string): Promise<readonly string[]> {
    const { items } = await this.core.listNamespacedEvent({ namespace: name });
    return items
      .filter(({ involvedObject }) => involvedObject.kind === KIND)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  /** The worker's writes in a namespace that took effect, as `verb resource`, the oldest first; Events and status left out. */
  async writes(name: string): Promise<readonly string[]> {
    const events = await this.plane.plane.auditEvents();
    return events
      .filter((event) => isWrite(event, name))
      .toSorted((a, b) => (a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1))
      .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);
  }

  /** How many watches of a namespace's objects a program has open now. */
  async openWatches(username: string, resource: string, namespace: string): Promise<number> {
    const watches = (await this.plane.plane.auditEvents()).filter(
      ({ user, verb, objectRef }) =>
        verb === 'watch' &&
        user.username === username &&
        objectRef?.resource === resource &&
        objectRef.namespace === namespace,
    );
    const idsAt = (stage: AuditEvent['stage']) =>
      new Set(watches.filter((event) => event.stage === stage).map(({ auditID }) => auditID));
    const ended = idsAt('ResponseComplete');
    return [...idsAt('ResponseStarted')].filter((id) => !ended.has(id)).length;
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

function bodyOf(name: string, spec: WrittenSpec): object {
  return { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name }, spec };
}

function isWrite({ user, verb, objectRef, responseStatus }: AuditEvent, namespace: string): boolean {
  return (
    user.username === 'headroom-worker' &&
    ['create', 'update', 'patch', 'delete'].includes(verb) &&
    (responseStatus?.code ?? 0) < 300 &&
    objectRef?.namespace === namespace &&
    objectRef.resource !== 'events' &&
    objectRef.subresource !== 'status'
  );
}
