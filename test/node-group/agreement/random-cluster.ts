/** Nodes and pods with every constraint that the simulation knows, at random, as Kubernetes' own objects. */
import type {
  V1Affinity,
  V1CSINode,
  V1Node,
  V1NodeSelectorRequirement,
  V1NodeSelectorTerm,
  V1Pod,
  V1PodAffinityTerm,
  V1PodStatus,
  V1Taint,
  V1Toleration,
  V1TopologySpreadConstraint,
} from '@kubernetes/client-node';
import type { Random } from '../../chaos/random.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const ZONES = ['a', 'b', 'c'];
const DISKS = ['ssd', 'hdd'];
const APPS = ['web', 'db', 'cache'];
const TIERS = ['front', 'back'];
const GPU = 'example.com/gpu';
type Resources = Readonly<Record<'cpu' | 'memory', string>>;

const TAINTS: readonly V1Taint[] = [
  { key: 'dedicated', value: 'gpu', effect: 'NoSchedule' },
  { key: 'dedicated', value: 'db', effect: 'NoExecute' },
  { key: 'flaky', effect: 'NoSchedule' },
  { key: 'soft', effect: 'PreferNoSchedule' },
];

/**
 * Amounts as people write them, and as nobody should. Nodes hold no huge ones: where they add up to less than nothing,
 * kube-scheduler's scores fail, and no answer comes.
 */
const CPUS = ['0.5m', '1500e-3', '0.1', '100000u', '1e-1', '0.0002k', '1e-20', '1e400'];
const MEMORIES = ['0.5Mi', '1.5Gi', '0.3Ki', '3e9', '2147483648000m', '1e-400', '1e19', '1e400', '9E', '16Ei'];

/** Namespaces by their names, with a label that namespace selectors ask for. */
export const NAMESPACES: Readonly<Record<string, string>> = { 'agree-a': 'blue', 'agree-b': 'red' };

export function randomNode(name: string, random: Random): V1Node {
  const maybe = chanceOf(random);
  const resources = {
    cpu: random.pick(['1', '2', '4', '1500m', '2500e-3']),
    memory: maybe(0.1) ? random.pick(['1e400', '4.5e9']) : random.pick(['2Gi', '4G', '8Gi']),
    pods: random.pick(['2', '4', '110']),
    'ephemeral-storage': random.pick(['5Gi', '20Gi']),
    ...(maybe(0.3) ? { [GPU]: String(random.between(1, 3)) } : {}),
  };
  return {
    metadata: {
      name,
      labels: {
        [HOST]: name,
        ...(maybe(0.9) ? { [ZONE]: random.pick(ZONES) } : {}),
        ...(maybe(0.7) ? { disk: random.pick(DISKS) } : {}),
        ...(maybe(0.5) ? { generation: String(random.between(1, 5)) } : {}),
      },
    },
    spec: {
      ...(maybe(0.1) ? { unschedulable: true } : {}),
      taints: TAINTS.filter(() => maybe(0.12)),
    },
    status: { capacity: resources, allocatable: resources },
  };
}

/** How many volumes of the drivers can be attached to the node; it is not known of each driver. */
export function randomCsiNode(name: string, random: Random, drivers: readonly string[]): V1CSINode {
  const known = drivers.filter(() => random.next() < 0.7);
  return {
    metadata: { name },
    spec: {
      drivers: known.map((driver) => ({
        name: driver,
        nodeID: name,
        topologyKeys: [],
        ...(random.next() < 0.9 ? { allocatable: { count: random.between(0, 3) } } : {}),
      })),
    },
  };
}

/** A pod of nobody's; `claims` are those that it may name. */
export function randomPod(name: string, random: Random, claims: readonly string[]): V1Pod {
  const maybe = chanceOf(random);
  const requests = {
    ...(maybe(0.9) ? { cpu: random.pick(maybe(0.2) ? CPUS : ['100m', '250m', '1', '1900m']) } : {}),
    ...(maybe(0.7) ? { memory: random.pick(maybe(0.2) ? MEMORIES : ['128Mi', '1G', '3Gi']) } : {}),
    ...(maybe(0.2) ? { 'ephemeral-storage': random.pick(['1Gi', '10Gi']) } : {}),
    ...(maybe(0.1) ? { [GPU]: '1' } : {}),
  };
  const gpu = requests[GPU];
  const limits = gpu === undefined ? {} : { limits: { [GPU]: gpu } };
  // What states limits only requests them once it is stored, as its ports in the host's network become ports of the host.
  const resources = maybe(0.2) ? { limits: requests } : { requests, ...limits };
  const hostNetwork = maybe(0.15);
  const hostPort = random.pick([8080, 9090]);
  const ports = maybe(hostNetwork ? 0.7 : 0.15)
    ? [
        {
          ...(hostNetwork ? { containerPort: hostPort } : { containerPort: 80, hostPort }),
          ...hostIp(random),
          protocol: random.pick(['TCP', 'UDP']),
        },
      ]
    : [];
  const claimed = maybe(0.3) ? [1, 2, 3].slice(0, random.between(1, 3)).map(() => random.pick(claims)) : [];
  const affinity = affinityOf(random);
  return {
    metadata: {
      name,
      namespace: random.pick(Object.keys(NAMESPACES)),
      labels: { app: random.pick(APPS), ...(maybe(0.5) ? { tier: random.pick(TIERS) } : {}), step: name },
    },
    spec: {
      containers: [{ name: 'main', image: 'test/none:1', resources, ports }],
      ...(hostNetwork ? { hostNetwork } : {}),
      ...(maybe(0.15) ? { initContainers: initContainersOf(random) } : {}),
      ...(maybe(0.15)
        ? { nodeSelector: random.pick([{ disk: 'ssd' }, { [ZONE]: 'a' }, { disk: 'hdd', [ZONE]: 'b' }]) }
        : {}),
      ...(Object.keys(affinity).length === 0 ? {} : { affinity }),
      tolerations: tolerationsOf(random),
      ...(maybe(0.25) ? { topologySpreadConstraints: [spreadOf(random)] } : {}),
      volumes: [...new Set(claimed)].map((claimName, index) => ({
        name: `data-${index}`,
        persistentVolumeClaim: { claimName },
      })),
    },
  };
}

/** What the kubelet says of a pod that is being resized, and what is asked for by now. */
export function randomResize(random: Random): { readonly asked: Resources; readonly status: V1PodStatus } {
  const resources = (): Resources => ({
    cpu: random.pick(['50m', '700m', '1200m', '0.5m']),
    memory: random.pick(['64Mi', '1.5Gi', '2e9']),
  });
  const reason = random.pick(['Infeasible', 'Deferred', '']);
  const main = { name: 'main', image: 'test/none:1', imageID: '', ready: true, restartCount: 0 };
  return {
    asked: resources(),
    status: {
      conditions: reason === '' ? [] : [{ type: 'PodResizePending', status: 'True', reason }],
      containerStatuses: [
        { ...main, resources: { requests: resources() }, allocatedResources: resources(), state: { running: {} } },
      ],
    },
  };
}

/** The same pod, for one node only. All terms of its node affinity get the further requirement. */
export function pinned(pod: V1Pod, node: string): V1Pod {
  const copy = structuredClone(pod);
  const { spec } = copy;
  if (spec === undefined) throw new Error('a pod without a spec');
  spec.affinity ??= {};
  spec.affinity.nodeAffinity ??= {};
  const required = (spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution ??= {
    nodeSelectorTerms: [{}],
  });
  for (const term of required.nodeSelectorTerms) {
    term.matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }];
  }
  return copy;
}

function chanceOf(random: Random): (share: number) => boolean {
  return (share) => random.next() < share;
}

function hostIp(random: Random): { hostIP?: string } {
  const hostIP = random.pick(['', '127.0.0.1', '10.0.0.1']);
  return hostIP === '' ? {} : { hostIP };
}

function initContainersOf(random: Random): NonNullable<NonNullable<V1Pod['spec']>['initContainers']> {
  return [1, 2].slice(0, random.between(1, 2)).map((index) => ({
    name: `init-${index}`,
    image: 'test/none:1',
    resources: { requests: { cpu: random.pick(['500m', '1200m']) } },
    ...(random.next() < 0.5 ? { restartPolicy: 'Always' } : {}),
  }));
}

function requirement(random: Random): V1NodeSelectorRequirement {
  const operator = random.pick(['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']);
  switch (operator) {
    case 'In':
    case 'NotIn':
      return { key: ZONE, operator, values: random.pick([['a'], ['a', 'b'], ['c']]) };
    case 'Gt':
    case 'Lt':
      return { key: 'generation', operator, values: [String(random.between(1, 5))] };
    default:
      return { key: random.pick(['disk', 'generation', ZONE]), operator };
  }
}

function affinityOf(random: Random): V1Affinity {
  const maybe = chanceOf(random);
  const term = (): V1NodeSelectorTerm => ({
    matchExpressions: [requirement(random), ...(maybe(0.3) ? [requirement(random)] : [])],
  });
  const required = <T>(terms: T) => ({ requiredDuringSchedulingIgnoredDuringExecution: terms });
  return {
    ...(maybe(0.2) ? { nodeAffinity: required({ nodeSelectorTerms: [term(), ...(maybe(0.4) ? [term()] : [])] }) } : {}),
    ...(maybe(0.15) ? { podAffinity: required([podTerm(random)]) } : {}),
    ...(maybe(0.2) ? { podAntiAffinity: required([podTerm(random), ...(maybe(0.2) ? [podTerm(random)] : [])]) } : {}),
  };
}

function podTerm(random: Random): V1PodAffinityTerm {
  const maybe = chanceOf(random);
  const labelSelector = selectorOf(random);
  return {
    topologyKey: random.pick([ZONE, HOST, 'disk']),
    labelSelector,
    ...(maybe(0.2) ? { namespaces: [random.pick(Object.keys(NAMESPACES))] } : {}),
    ...(maybe(0.2)
      ? { namespaceSelector: maybe(0.5) ? {} : { matchLabels: { team: random.pick(['blue', 'red']) } } }
      : {}),
    ...(maybe(0.15) && !asksForTier(labelSelector) ? { matchLabelKeys: ['tier'] } : {}),
  };
}

/** The API server takes no key that the selector has already. */
function asksForTier({ matchExpressions = [] }: ReturnType<typeof selectorOf>): boolean {
  return matchExpressions.some(({ key }) => key === 'tier');
}

function selectorOf(random: Random): NonNullable<V1PodAffinityTerm['labelSelector']> {
  return random.pick([
    { matchLabels: { app: random.pick(APPS) } },
    { matchExpressions: [{ key: 'app', operator: 'In', values: [random.pick(APPS), random.pick(APPS)] }] },
    { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [random.pick(APPS)] }] },
    { matchLabels: { app: random.pick(APPS) }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
  ]);
}

function spreadOf(random: Random): V1TopologySpreadConstraint {
  const maybe = chanceOf(random);
  const labelSelector = selectorOf(random);
  return {
    maxSkew: random.between(1, 2),
    topologyKey: random.pick([ZONE, ZONE, HOST]),
    whenUnsatisfiable: maybe(0.85) ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector,
    ...(maybe(0.3) ? { nodeAffinityPolicy: random.pick(['Honor', 'Ignore']) } : {}),
    ...(maybe(0.3) ? { nodeTaintsPolicy: random.pick(['Honor', 'Ignore']) } : {}),
    ...(maybe(0.15) && !asksForTier(labelSelector) ? { matchLabelKeys: ['tier'] } : {}),
  };
}

function tolerationsOf(random: Random): V1Toleration[] {
  const all: readonly V1Toleration[] = [
    { operator: 'Exists' },
    { key: 'dedicated', operator: 'Exists' },
    { key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' },
    { key: 'dedicated', operator: 'Equal', value: 'db' },
    { key: 'flaky', operator: 'Exists', effect: 'NoSchedule' },
    { key: 'node.kubernetes.io/unschedulable', operator: 'Exists' },
  ];
  return all.filter(() => random.next() < 0.1);
}
