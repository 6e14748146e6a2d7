/** Everything of which quotas count only how many there are, custom resources included. */
import { workloadPodSpec } from './pods.ts';
import { chance, groupPath, type Maker, type Namespace, type ObjectModel, removeFrom } from './world.ts';

interface CountedKind {
  readonly kind: string;
  /** `v1` for the core group. */
  readonly groupVersion: string;
  readonly resource: string;
  /** Everything beside the name. */
  readonly body: object;
}

const selector = { matchLabels: { app: 'workload' } };
const template = { metadata: { labels: { app: 'workload' } }, spec: workloadPodSpec() };

/** Jobs are suspended and workloads have no replicas: what they would make is asked for elsewhere. */
const KINDS: readonly CountedKind[] = [
  { kind: 'ConfigMap', groupVersion: 'v1', resource: 'configmaps', body: { data: { key: 'value' } } },
  { kind: 'Secret', groupVersion: 'v1', resource: 'secrets', body: { stringData: { key: 'value' } } },
  { kind: 'ServiceAccount', groupVersion: 'v1', resource: 'serviceaccounts', body: {} },
  {
    kind: 'ReplicationController',
    groupVersion: 'v1',
    resource: 'replicationcontrollers',
    body: { spec: { replicas: 0, selector: { app: 'workload' }, template } },
  },
  {
    kind: 'Deployment',
    groupVersion: 'apps/v1',
    resource: 'deployments',
    body: { spec: { replicas: 0, selector, template } },
  },
  {
    kind: 'StatefulSet',
    groupVersion: 'apps/v1',
    resource: 'statefulsets',
    body: { spec: { replicas: 0, serviceName: 'none', selector, template } },
  },
  {
    kind: 'Job',
    groupVersion: 'batch/v1',
    resource: 'jobs',
    body: { spec: { suspend: true, template: { spec: { ...workloadPodSpec(), restartPolicy: 'Never' } } } },
  },
  {
    kind: 'CronJob',
    groupVersion: 'batch/v1',
    resource: 'cronjobs',
    body: {
      spec: {
        suspend: true,
        schedule: '0 0 1 1 *',
        jobTemplate: { spec: { template: { spec: { ...workloadPodSpec(), restartPolicy: 'Never' } } } },
      },
    },
  },
  { kind: 'Lease', groupVersion: 'coordination.k8s.io/v1', resource: 'leases', body: { spec: {} } },
  { kind: 'Role', groupVersion: 'rbac.authorization.k8s.io/v1', resource: 'roles', body: { rules: [] } },
  {
    kind: 'PodDisruptionBudget',
    groupVersion: 'policy/v1',
    resource: 'poddisruptionbudgets',
    body: { spec: { minAvailable: 0, selector: { matchLabels: { app: 'none' } } } },
  },
  {
    kind: 'NetworkPolicy',
    groupVersion: 'networking.k8s.io/v1',
    resource: 'networkpolicies',
    body: { spec: { podSelector: {} } },
  },
];

/** The custom kinds of the stream, by plural. */
export const customKinds = { widgets: 'Widget', gadgets: 'Gadget' } as const;
const CUSTOM_GROUP = 'stream.example.com';

/** The name under which quotas count a custom resource. */
export function customCount(plural: string): string {
  return `count/${plural}.${CUSTOM_GROUP}`;
}

/** The definition of a custom kind of the stream. */
export function customDefinition(plural: keyof typeof customKinds): { readonly name: string; readonly body: object } {
  const kind = customKinds[plural];
  const name = `${plural}.${CUSTOM_GROUP}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    name,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name },
      spec: {
        group: CUSTOM_GROUP,
        scope: 'Namespaced',
        names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    },
  };
}

/** The names under which quotas count what the stream makes. */
export function countNames(): string[] {
  return KINDS.map(({ groupVersion, resource }) => {
    const group = groupVersion.includes('/') ? `.${groupVersion.slice(0, groupVersion.indexOf('/'))}` : '';
    return `count/${resource}${group}`;
  });
}

function collection(namespace: Namespace, groupVersion: string, resource: string): string {
  return groupVersion === 'v1'
    ? `/api/v1/namespaces/${namespace.name}/${resource}`
    : groupPath(groupVersion, namespace, resource);
}

const createObject: Maker = (world, namespace) => {
  const { kind, groupVersion, resource, body } = world.random.pick(KINDS);
  const name = world.fresh(kind.toLowerCase());
  const path = collection(namespace, groupVersion, resource);
  // Pods of a workload with a random name are charged as others; only they are made by controllers.
  const isWorkload = kind === 'ReplicationController' || kind === 'Deployment';
  const object: ObjectModel = { kind: resource, path: `${path}/${name}`, ...(isWorkload ? { replicas: 0 } : {}) };
  namespace.objects.push(object);
  return {
    kind: 'create',
    path,
    words: `${namespace.name}: ${kind} ${name} is created`,
    body: { apiVersion: groupVersion, kind, metadata: { name }, ...body },
  };
};

const deleteObject: Maker = (world, namespace) => {
  if (namespace.objects.length === 0) return null;
  const object = world.random.pick(namespace.objects);
  removeFrom(namespace.objects, object);
  return { kind: 'delete', path: object.path, words: `${namespace.name}: ${lastParts(object.path)} is deleted` };
};

const scaleWorkload: Maker = (world, namespace) => {
  const workloads = namespace.objects.filter(({ replicas }) => replicas !== undefined);
  if (workloads.length === 0) return null;
  const workload = world.random.pick(workloads);
  workload.replicas = chance(world.random, 0.4) ? 0 : world.random.between(1, 3);
  return {
    kind: 'patch',
    patch: 'merge',
    path: workload.path,
    body: { spec: { replicas: workload.replicas } },
    words: `${namespace.name}: ${lastParts(workload.path)} is scaled to ${workload.replicas}`,
  };
};

const createCustom: Maker = (world, namespace) => {
  const existing = [...world.customResources];
  if (existing.length === 0) return null;
  const plural = world.random.pick(existing);
  const name = world.fresh(plural);
  const path = groupPath(`${CUSTOM_GROUP}/v1`, namespace, plural);
  namespace.objects.push({ kind: plural, path: `${path}/${name}` });
  return {
    kind: 'create',
    path,
    words: `${namespace.name}: custom resource ${name} is created`,
    body: {
      apiVersion: `${CUSTOM_GROUP}/v1`,
      kind: customKinds[plural as keyof typeof customKinds],
      metadata: { name },
    },
  };
};

/** `pods/pod-1`. */
function lastParts(path: string): string {
  return path.split('/').slice(-2).join('/');
}

/** Makers with how often each is asked, relative to each other. */
export const objectMakers: readonly (readonly [weight: number, Maker])[] = [
  [9, createObject],
  [9, deleteObject],
  [2, scaleWorkload],
  [3, createCustom],
];
