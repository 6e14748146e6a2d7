/** Pod templates with everything that the API server fills in, or leaves alone, at random. */
import type {
  V1Container,
  V1ContainerPort,
  V1LimitRangeItem,
  V1PodSpec,
  V1ResourceRequirements,
  V1RuntimeClass,
  V1Toleration,
} from '@kubernetes/client-node';
import type { Random } from '../../chaos/random.ts';

const GPU = 'example.com/gpu';
const TOLERATIONS: readonly V1Toleration[] = [
  { key: 'dedicated', operator: 'Exists' },
  { key: 'dedicated', operator: 'Equal', value: 'gpu', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoSchedule' },
];
/** As people write amounts, and as nobody should. */
const CPUS = ['100m', '1', '1500u', '0.25', '2e-1', '1200m'];
const MEMORIES = ['64Mi', '1G', '0.5Gi', '300000000', '1.5Mi'];

export const RUNTIME_CLASSES: readonly V1RuntimeClass[] = [
  { metadata: { name: 'plain' }, handler: 'runc' },
  {
    metadata: { name: 'sandbox' },
    handler: 'runsc',
    overhead: { podFixed: { cpu: '250m', memory: '120Mi' } },
    scheduling: {
      nodeSelector: { sandbox: 'yes' },
      tolerations: [
        { key: 'sandbox', operator: 'Exists' },
        { key: 'dedicated', operator: 'Exists' },
      ],
    },
  },
  {
    metadata: { name: 'heavy' },
    handler: 'kata',
    overhead: { podFixed: { memory: '1Gi', 'ephemeral-storage': '1Gi' } },
  },
  { metadata: { name: 'placed' }, handler: 'kata', scheduling: { nodeSelector: { disk: 'ssd' } } },
];

/** The LimitRanges of namespaces, by their names. Of several, no two give the same: in which order they come is not said. */
export const LIMIT_RANGES: Readonly<Record<string, Readonly<Record<string, readonly V1LimitRangeItem[]>>>> = {
  'stored-free': {},
  'stored-requests': { one: [{ type: 'Container', defaultRequest: { cpu: '150m', memory: '1.5Mi' } }] },
  // The client library's name for `default`.
  'stored-limits': { one: [{ type: 'Container', _default: { cpu: '3', memory: '4Gi' } }] },
  'stored-bounds': {
    one: [
      { type: 'Container', max: { memory: '100Gi' }, min: { cpu: '1n' } },
      { type: 'PersistentVolumeClaim', max: { storage: '500Gi' } },
    ],
  },
  'stored-several': {
    cpu: [{ type: 'Container', _default: { cpu: '4' }, defaultRequest: { cpu: '10m' } }],
    disk: [
      { type: 'Container', _default: { 'ephemeral-storage': '9Gi' }, defaultRequest: { 'ephemeral-storage': '1Gi' } },
    ],
  },
};

export function randomTemplate(random: Random): V1PodSpec {
  const maybe = (share: number): boolean => random.next() < share;
  const hostNetwork = maybe(0.4);
  const containers = (prefix: string, count: number): V1Container[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `${prefix}${index}`,
      image: 'test/none:1',
      ...(prefix === 'init' && maybe(0.5) ? { restartPolicy: 'Always' } : {}),
      ...(maybe(0.85) ? { resources: resourcesOf(random) } : {}),
      ...(maybe(0.4) ? { ports: portsOf(random, hostNetwork, `${prefix}${index}`) } : {}),
    }));
  const initContainers = containers('init', random.pick([0, 0, 1, 2]));
  const runtimeClass = random.pick([...RUNTIME_CLASSES, null, null, null]);
  return {
    containers: containers('main', random.between(1, 3)),
    ...(initContainers.length === 0 ? {} : { initContainers }),
    ...(hostNetwork ? { hostNetwork } : {}),
    ...(runtimeClass === null ? {} : { runtimeClassName: runtimeClass.metadata?.name ?? '' }),
    ...(maybe(0.3) ? { nodeSelector: random.pick([{ disk: 'ssd' }, { zone: 'a' }]) } : {}),
    ...(maybe(0.4) ? { tolerations: [random.pick(TOLERATIONS)] } : {}),
    ...(maybe(0.3) ? { resources: wholeOf(random) } : {}),
  };
}

function resourcesOf(random: Random): V1ResourceRequirements {
  const maybe = (share: number): boolean => random.next() < share;
  const amounts = (share: number, storage: string): Record<string, string> => ({
    ...(maybe(share) ? { cpu: random.pick(CPUS) } : {}),
    ...(maybe(share) ? { memory: random.pick(MEMORIES) } : {}),
    ...(maybe(share / 3) ? { 'ephemeral-storage': storage } : {}),
  });
  const requests = amounts(0.5, '1Gi');
  // A limit that is below the request would be refused.
  const limits = {
    ...amounts(0.4, '2Gi'),
    ...(maybe(0.15) ? { [GPU]: '1' } : {}),
    ...(maybe(0.15) ? { 'hugepages-2Mi': '4Mi' } : {}),
  };
  const free = Object.entries(limits).filter(([resource]) => !(resource in requests) || maybe(0.1));
  return { ...(maybe(0.9) ? { requests } : {}), ...(free.length > 0 ? { limits: Object.fromEntries(free) } : {}) };
}

/** Of the pod as a whole: enough for its containers. */
function wholeOf(random: Random): V1ResourceRequirements {
  return random.pick<V1ResourceRequirements>([
    { requests: { cpu: '20', memory: '50Gi' } },
    { limits: { cpu: '30' } },
    { limits: { memory: '60Gi' } },
    { requests: { cpu: '20' }, limits: { cpu: '30', memory: '60Gi' } },
    { limits: { memory: '60Gi', 'hugepages-2Mi': '40Mi' } },
  ]);
}

function portsOf(random: Random, hostNetwork: boolean, name: string): V1ContainerPort[] {
  const containerPort = random.between(1000, 60_000);
  const protocol = random.pick(['TCP', 'UDP']);
  const own = random.pick([{}, { hostPort: hostNetwork ? containerPort : random.between(1000, 60_000) }]);
  return [
    { containerPort, protocol, name: `${name}-a`, ...own },
    { containerPort: 80, name: `${name}-b` },
  ].slice(0, random.between(1, 2));
}
