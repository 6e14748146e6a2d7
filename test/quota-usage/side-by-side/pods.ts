/** Pods of every shape that is charged in a way of its own, and all that happens to them. */
import type { Random } from '../../chaos/random.ts';
import type { Operation } from './operation.ts';
import {
  chance,
  type ContainerModel,
  corePath,
  type Maker,
  type Namespace,
  type PodForm,
  type PodModel,
  removeFrom,
  type World,
} from './world.ts';

export const priorityClasses = ['low', 'middle', 'high'] as const;
export const runtimeClasses = { light: { cpu: '10m' }, heavy: { cpu: '250m', memory: '120Mi' } } as const;
/** Kept by nobody: a deleted pod stays until the stream takes it away. */
const FINALIZER = 'example.com/kept';

/** Pairs of request and limit, in the spellings that people use. */
const CPU = [
  ['100m', '200m'],
  ['0.25', '1'],
  ['1500m', '2'],
  ['1', '1500m'],
  ['250u', '10m'],
  ['2', '4000m'],
] as const;
const MEMORY = [
  ['64Mi', '128Mi'],
  ['100M', '0.5Gi'],
  ['1e8', '200e6'],
  ['128974848', '1Gi'],
  ['0.75Gi', '2G'],
  ['300k', '1Mi'],
] as const;
const EPHEMERAL = [
  ['1Gi', '2Gi'],
  ['500M', '1500M'],
] as const;

type Amounts = { requests: Record<string, string>; limits: Record<string, string> };

/** What one container wants. */
function amountsOf(random: Random, form: PodForm): Amounts {
  const amounts: Amounts = { requests: {}, limits: {} };
  const add = (resource: string, [request, limit]: readonly [string, string]) => {
    amounts.requests[resource] = form === 'guaranteed' ? limit : request;
    amounts.limits[resource] = limit;
  };
  switch (form) {
    case 'besteffort':
      return amounts;
    case 'partial': {
      // A limit alone is a request as well: the API server fills it in.
      const what = random.between(0, 3);
      if (what === 0) amounts.requests['cpu'] = random.pick(CPU)[0];
      else if (what === 1) amounts.limits['memory'] = random.pick(MEMORY)[1];
      else if (what === 2) add('cpu', random.pick(CPU));
      else amounts.requests['memory'] = random.pick(MEMORY)[0];
      break;
    }
    case 'podLevel':
      if (chance(random, 0.5)) return amounts;
      add('cpu', CPU[0]);
      break;
    case 'burstable':
    case 'guaranteed':
      add('cpu', random.pick(CPU));
      add('memory', random.pick(MEMORY));
      break;
  }
  if (chance(random, 0.2)) add('ephemeral-storage', random.pick(EPHEMERAL));
  if (chance(random, 0.15)) {
    for (const resource of ['example.com/gpu', 'example.com/tpu', 'vendor.io/nic']) {
      if (chance(random, 0.5)) amounts.requests[resource] = amounts.limits[resource] = String(random.between(1, 4));
    }
  }
  // Huge pages ask for cpu or memory beside them.
  if (form !== 'partial' && form !== 'podLevel' && chance(random, 0.15)) {
    amounts.requests['hugepages-2Mi'] = amounts.limits['hugepages-2Mi'] = random.pick(['2Mi', '64Mi', '1Gi']);
    if (chance(random, 0.3)) amounts.requests['hugepages-1Gi'] = amounts.limits['hugepages-1Gi'] = '1Gi';
  }
  return amounts;
}

function containersOf(random: Random, form: PodForm): ContainerModel[] {
  const containers: ContainerModel[] = [];
  const add = (prefix: string, isInit: boolean, isSidecar: boolean) => {
    const name = `${prefix}-${containers.length}`;
    containers.push({ name, image: `${prefix}:1`, isInit, isSidecar, ...amountsOf(random, form) });
  };
  if (chance(random, 0.35)) {
    for (let left = random.between(1, 3); left > 0; left -= 1) {
      const isSidecar = chance(random, 0.5);
      add(isSidecar ? 'sidecar' : 'init', true, isSidecar);
    }
  }
  for (let left = random.pick([1, 1, 1, 2, 3]); left > 0; left -= 1) add('main', false, false);
  return containers;
}

function containerBody({ name, image, isSidecar, requests, limits }: ContainerModel): object {
  return { name, image, ...(isSidecar ? { restartPolicy: 'Always' } : {}), resources: { requests, limits } };
}

/** Enough for what the containers of such a pod can want together. */
const POD_LEVEL = {
  requests: { cpu: '3', memory: '4Gi', 'hugepages-2Mi': '128Mi' },
  limits: { cpu: '6', memory: '8Gi', 'hugepages-2Mi': '128Mi' },
};

function affinity(random: Random): object {
  const term = {
    topologyKey: 'kubernetes.io/hostname',
    labelSelector: { matchLabels: { app: 'web' } },
    ...random.pick([{ namespaces: ['elsewhere'] }, { namespaceSelector: {} }, {}]),
  };
  const rule = random.pick([
    { requiredDuringSchedulingIgnoredDuringExecution: [term] },
    { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term }] },
  ]);
  return random.pick([{ podAffinity: rule }, { podAntiAffinity: rule }]);
}

/** Pods as workloads make them: complete, so that they are allowed wherever workloads are. */
export function workloadPodSpec(): object {
  const resources = { requests: { cpu: '50m', memory: '16Mi' }, limits: { cpu: '100m', memory: '32Mi' } };
  return { containers: [{ name: 'main', image: 'main:1', resources }] };
}

function formFor(random: Random, namespace: Namespace): PodForm {
  const complete = ['burstable', 'burstable', 'guaranteed', 'podLevel'] as const;
  switch (namespace.podRule) {
    case 'besteffort':
      return random.pick(['burstable', 'guaranteed', 'besteffort', 'besteffort'] as const);
    case 'free':
      return random.pick([...complete, 'partial', 'partial', 'besteffort'] as const);
    case 'complete':
    case 'closed':
      return random.pick(complete);
  }
}

const createPod: Maker = (world, namespace) => {
  const { random } = world;
  const form = formFor(random, namespace);
  const containers = containersOf(random, form);
  const isOnNode = !namespace.isDoomed && chance(random, 0.25);
  const pod: PodModel = {
    name: world.fresh('pod'),
    form,
    containers,
    isOnNode,
    hasFinalizer: !namespace.isDoomed && chance(random, 0.1),
    isDeleted: false,
    phase: 'Pending',
    deadline: chance(random, 0.15) ? random.between(100_000, 200_000) : null,
  };
  namespace.pods.push(pod);
  const priority = chance(random, 0.4) ? random.pick(priorityClasses) : undefined;
  const runtime = chance(random, 0.15) ? random.pick(['light', 'heavy']) : undefined;
  const devices = chance(random, 0.06);
  const scratch = chance(random, 0.04);
  const init = containers.filter(({ isInit }) => isInit);
  const spec = {
    containers: containers.filter(({ isInit }) => !isInit).map(containerBody),
    ...(init.length === 0 ? {} : { initContainers: init.map(containerBody) }),
    ...(form === 'podLevel' ? { resources: POD_LEVEL } : {}),
    ...(isOnNode ? { nodeName: 'node-of-nobody' } : {}),
    ...(pod.deadline === null ? {} : { activeDeadlineSeconds: pod.deadline }),
    ...(priority === undefined ? {} : { priorityClassName: priority }),
    ...(runtime === undefined ? {} : { runtimeClassName: runtime }),
    ...(chance(random, 0.15) ? { affinity: affinity(random) } : {}),
    // Controllers make a claim of each, which is counted as well.
    ...(devices ? { resourceClaims: [{ name: 'devices', resourceClaimTemplateName: 'devices' }] } : {}),
    ...(scratch ? { volumes: [scratchVolume()] } : {}),
  };
  const extras = [
    ...(init.length === 0 ? [] : [`${init.length} init containers`]),
    ...(isOnNode ? ['on a node'] : []),
    ...(pod.hasFinalizer ? ['with a finalizer'] : []),
    ...(pod.deadline === null ? [] : ['with a deadline']),
    ...(priority === undefined ? [] : [`priority ${priority}`]),
    ...(runtime === undefined ? [] : [`runtime ${runtime}`]),
    ...(devices ? ['with devices'] : []),
    ...(scratch ? ['with a scratch volume'] : []),
  ];
  return {
    kind: 'create',
    path: corePath(namespace, 'pods'),
    words: `${namespace.name}: pod ${pod.name} (${[form, ...extras].join(', ')}) is created`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: pod.name,
        labels: { app: 'stream' },
        ...(pod.hasFinalizer ? { finalizers: [FINALIZER] } : {}),
      },
      spec,
    },
  };
};

function scratchVolume(): object {
  return {
    name: 'scratch',
    ephemeral: {
      volumeClaimTemplate: {
        spec: {
          accessModes: ['ReadWriteOnce'],
          storageClassName: 'fast',
          resources: { requests: { storage: '3Gi' } },
        },
      },
    },
  };
}

function pick(world: World, namespace: Namespace, fits: (pod: PodModel) => boolean): PodModel | null {
  const fitting = namespace.pods.filter(fits);
  return fitting.length === 0 ? null : world.random.pick(fitting);
}

const isLive = (pod: PodModel): boolean => !pod.isDeleted && pod.phase !== 'Succeeded' && pod.phase !== 'Failed';

/** Deletes a pod: at once, with a short or a long grace, or kept by its finalizer. */
const deletePod: Maker = (world, namespace) => {
  const pod = pick(world, namespace, (each) => !each.isDeleted);
  if (pod === null) return null;
  const path = corePath(namespace, 'pods', pod.name);
  const words = `${namespace.name}: pod ${pod.name} is deleted`;
  const hasGrace = pod.isOnNode && isLive(pod);
  if (hasGrace || pod.hasFinalizer) pod.isDeleted = true;
  else removeFrom(namespace.pods, pod);
  if (!hasGrace) return { kind: 'delete', path, words };
  // A stuck pod is free again when its grace is over twice: at once, or not within any run.
  const graceSeconds = world.random.pick([1, 100_000]);
  return { kind: 'delete', path, graceSeconds, words: `${words} with ${graceSeconds} s of grace` };
};

/** Ends what keeps a deleted pod. */
const releasePod: Maker = (world, namespace) => {
  const pod = pick(world, namespace, (each) => each.isDeleted);
  if (pod === null) return null;
  const path = corePath(namespace, 'pods', pod.name);
  if (pod.hasFinalizer) {
    pod.hasFinalizer = false;
    if (!pod.isOnNode || !isAlive(pod)) removeFrom(namespace.pods, pod);
    return {
      kind: 'patch',
      patch: 'merge',
      path,
      body: { metadata: { finalizers: null } },
      words: `${namespace.name}: the finalizer of pod ${pod.name} is removed`,
    };
  }
  removeFrom(namespace.pods, pod);
  return { kind: 'delete', path, graceSeconds: 0, words: `${namespace.name}: pod ${pod.name} is deleted by force` };
};

const isAlive = (pod: PodModel): boolean => pod.phase !== 'Succeeded' && pod.phase !== 'Failed';

/** Pending, then Running, then over. */
const advancePod: Maker = (world, namespace) => {
  const pod = pick(world, namespace, isLive);
  if (pod === null) return null;
  pod.phase =
    pod.phase === 'Pending' && chance(world.random, 0.7) ? 'Running' : world.random.pick(['Succeeded', 'Failed']);
  return {
    kind: 'patch',
    patch: 'strategic',
    path: `${corePath(namespace, 'pods', pod.name)}/status`,
    body: { status: { phase: pod.phase } },
    words: `${namespace.name}: pod ${pod.name} is ${pod.phase}`,
  };
};

/** Gives a pod a deadline, which moves it to other quotas, or a shorter one. */
const hurryPod: Maker = (world, namespace) => {
  if (namespace.podRule === 'closed') return null;
  const pod = pick(world, namespace, (each) => !each.isDeleted && (each.deadline ?? 9) > 1);
  if (pod === null) return null;
  pod.deadline = pod.deadline === null ? world.random.between(100_000, 200_000) : pod.deadline - 1;
  return {
    kind: 'patch',
    patch: 'strategic',
    path: corePath(namespace, 'pods', pod.name),
    body: { spec: { activeDeadlineSeconds: pod.deadline } },
    words: `${namespace.name}: pod ${pod.name} has a deadline of ${pod.deadline} s`,
  };
};

/** Another amount of cpu and memory for one container, of the same quality of service. */
const resizePod: Maker = (world, namespace) => {
  if (namespace.podRule === 'closed') return null;
  const pod = pick(world, namespace, (each) => isLive(each) && ['burstable', 'guaranteed'].includes(each.form));
  if (pod === null) return null;
  const { random } = world;
  const container = random.pick(pod.containers.filter((each) => !each.isInit || each.isSidecar));
  const [cpu, memory] = [random.pick(CPU), random.pick(MEMORY)];
  const request = pod.form === 'guaranteed' ? 1 : 0;
  container.requests = { ...container.requests, cpu: cpu[request], memory: memory[request] };
  container.limits = { ...container.limits, cpu: cpu[1], memory: memory[1] };
  const resources = {
    requests: { cpu: cpu[request], memory: memory[request] },
    limits: { cpu: cpu[1], memory: memory[1] },
  };
  return {
    kind: 'patch',
    patch: 'strategic',
    path: `${corePath(namespace, 'pods', pod.name)}/resize`,
    body: {
      spec: { [container.isInit ? 'initContainers' : 'containers']: [{ name: container.name, resources }] },
    },
    words: `${namespace.name}: pod ${pod.name} is resized to ${cpu[1]} cpu and ${memory[1]} memory in ${container.name}`,
  };
};

/** What the kubelet would say of a resize: done, half done, put off, or impossible. */
const reportResize: Maker = (world, namespace) => {
  const pod = pick(world, namespace, (each) => isLive(each) && ['burstable', 'guaranteed'].includes(each.form));
  if (pod === null) return null;
  const { random } = world;
  const statusOf = (container: ContainerModel) => {
    const [actual, allocated] = [random.pick(CPU), random.pick(CPU)];
    const memory = random.pick(MEMORY);
    const asSpecified = chance(random, 0.4);
    return {
      name: container.name,
      image: container.image,
      imageID: '',
      ready: false,
      restartCount: 0,
      resources: asSpecified
        ? { requests: container.requests, limits: container.limits }
        : { requests: { cpu: actual[0], memory: memory[0] }, limits: { cpu: actual[1], memory: memory[1] } },
      ...(chance(random, 0.5) ? { allocatedResources: { cpu: allocated[0], memory: memory[1] } } : {}),
    };
  };
  const main = pod.containers.filter(({ isInit }) => !isInit);
  const sidecars = pod.containers.filter(({ isSidecar }) => isSidecar);
  const reason = random.pick(['Infeasible', 'Infeasible', 'Deferred', null]);
  const condition =
    reason === null
      ? { type: 'PodResizePending', status: 'False' }
      : { type: 'PodResizePending', status: 'True', reason, message: 'the node is full' };
  const isGone = reason === null && chance(random, 0.5);
  return {
    kind: 'patch',
    patch: 'strategic',
    path: `${corePath(namespace, 'pods', pod.name)}/status`,
    body: {
      status: {
        containerStatuses: main.map(statusOf),
        ...(sidecars.length === 0 ? {} : { initContainerStatuses: sidecars.map(statusOf) }),
        conditions: [isGone ? { type: 'PodResizePending', $patch: 'delete' } : condition],
      },
    },
    words: `${namespace.name}: the node reports of pod ${pod.name}: ${reason ?? 'nothing pending'}`,
  };
};

/** Makers with how often each is asked, relative to each other. */
export const podMakers: readonly (readonly [weight: number, Maker])[] = [
  [24, createPod],
  [13, deletePod],
  [4, releasePod],
  [14, advancePod],
  [5, hurryPod],
  [7, resizePod],
  [7, reportResize],
];

/** The template of the claims that pods with devices get. */
export function claimTemplate(namespace: Namespace): Operation {
  return {
    kind: 'create',
    path: `/apis/resource.k8s.io/v1/namespaces/${namespace.name}/resourceclaimtemplates`,
    words: `${namespace.name}: the template of device claims is created`,
    body: {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaimTemplate',
      metadata: { name: 'devices' },
      spec: {
        spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'gpu', count: 2 } }] } },
      },
    },
  };
}
