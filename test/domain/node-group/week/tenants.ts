/** Who has pods in the cluster: teams that want work done, and tenants that write whatever a tenant may write. */
import type { Claim, PersistentVolume } from '../../../../domain/node-group/model/cluster-state.ts';
import type { BudgetSpec } from './api-server.ts';
import type { Template, Workload } from './workloads.ts';

const MINUTE = 60_000;
const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const SMALL = { requests: { cpu: '200m', memory: '256Mi' } };
const DRIVER = 'disk.example.com';
/** So many volumes of the driver can be attached to a node. */
const ATTACHABLE = 3;

const selectorOf = (app: string) => ({ labelSelector: { matchLabels: { app } } });
const apart = (terms: readonly object[]) => ({
  affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } },
});
const claiming = (...names: readonly string[]) => ({
  volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
});

/** A deployment of a team: plain, spread, apart, for the group of batch, or one that must not be disturbed. */
export function honest(name: string, random: () => number): Workload {
  const cpu = [250, 500, 1000, 1500, 2500][Math.floor(random() * 5)] ?? 500;
  const gib = 1 + Math.floor(random() * 4);
  const resources = { requests: { cpu: `${cpu}m`, memory: `${gib}Gi` } };
  const shapes: readonly Partial<Template>[] = [
    {},
    {},
    { spec: apart([{ topologyKey: HOST, ...selectorOf(name) }]) },
    {
      spec: {
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', ...selectorOf(name) },
        ],
      },
    },
    { spec: { nodeSelector: { [ZONE]: 'b' } } },
    { spec: { nodeSelector: { pool: 'batch' }, tolerations: [{ key: 'dedicated', operator: 'Exists' }] } },
    { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } },
  ];
  const shape = shapes[Math.floor(random() * shapes.length)] ?? {};
  const replicas = 1 + Math.floor(random() * 4);
  const namespace = random() < 0.5 ? 'team-a' : 'team-b';
  return { namespace, name, isHonest: true, replicas, template: () => ({ resources, ...shape }) };
}

/** Of the team's deployment, all but one must be available. */
export function budgetFor({ namespace, name, replicas }: Workload): BudgetSpec {
  return { namespace, name, matchLabels: { app: name }, minAvailable: Math.max(1, replicas - 1) };
}

const amounts = ['1e400', '16Ei', '0.1m', '1e19', '-1', '9223372036854775807', '1e-400', '8E'];

/** Each writes fields of one sort, and makes its pods again for ever. */
const HOSTILE: Readonly<Record<string, (number: number) => Template>> = {
  'odd-memory': (n) => ({ resources: { requests: { cpu: '100m', memory: amounts[n % amounts.length] } } }),
  'odd-cpu': (n) => ({ resources: { requests: { cpu: amounts[n % amounts.length], memory: '128Mi' } } }),
  'another-amount': (n) => ({ resources: { requests: { cpu: `${300 + (n % 700)}m`, memory: '256Mi' } } }),
  'limits-only': () => ({ resources: { limits: { cpu: '700m', memory: '1Gi' } } }),
  'claims-static': () => ({
    resources: { requests: { cpu: '3', memory: '1Gi' } },
    annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'abc' },
  }),
  'not-to-be-evicted': () => ({
    resources: SMALL,
    annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false', 'karpenter.sh/do-not-disrupt': 'true' },
  }),
  'to-be-evicted': () => ({
    resources: SMALL,
    annotations: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true', 'karpenter.sh/do-not-disrupt': '1e9h' },
    isAlone: true,
  }),
  'host-port': () => ({
    resources: SMALL,
    container: { ports: [{ containerPort: 9100, hostPort: 9100 }] },
    spec: { hostNetwork: true },
  }),
  'host-ports': (n) => ({ resources: SMALL, container: { ports: [{ containerPort: 80, hostPort: 8000 + (n % 2) }] } }),
  'many-terms': (n) => ({
    resources: SMALL,
    spec: apart(
      Array.from({ length: 300 }, (_, term) => ({
        topologyKey: HOST,
        ...selectorOf(`nobody-${(n * 7 + term) % 900}`),
      })),
    ),
  }),
  'odd-topology': (n) => ({
    resources: SMALL,
    labels: { constructor: 'x', toString: 'y' },
    spec: {
      ...apart([{ topologyKey: ['constructor', '__proto__', 'toString'][n % 3], ...selectorOf('odd-topology') }]),
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: ['__proto__', 'hasOwnProperty'][n % 2],
          whenUnsatisfiable: n % 3 === 0 ? 'DoNotSchedule' : 'ScheduleAnyway',
          ...selectorOf('odd-topology'),
        },
      ],
    },
  }),
  'odd-selector': (n) => ({
    resources: SMALL,
    spec: { nodeSelector: { [n % 2 === 0 ? 'constructor' : 'valueOf']: 'x' } },
  }),
  'unknown-namespaces': (n) => ({
    resources: SMALL,
    spec: apart([
      { topologyKey: HOST, namespaceSelector: { matchLabels: { [`nobody-${n % 3}`]: 'knows' } }, labelSelector: {} },
      { topologyKey: ZONE, namespaces: ['is-not-there'], labelSelector: {} },
    ]),
  }),
  'affine-to-nobody': () => ({
    resources: SMALL,
    spec: {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, ...selectorOf('nobody') }],
        },
      },
    },
  }),
  'one-pod-claim': () => ({ resources: SMALL, spec: claiming('of-one-pod') }),
  'many-claims': () => ({ resources: SMALL, spec: claiming(...CLAIMS.slice(0, ATTACHABLE + 1)) }),
  'as-many-claims': () => ({ resources: SMALL, spec: claiming(...CLAIMS.slice(0, ATTACHABLE)) }),
  'no-claim': () => ({ resources: SMALL, spec: claiming('is-not-there') }),
  'nobody-has-it': (n) => ({ resources: SMALL, spec: { nodeSelector: { pool: `nobody-${n % 4}` } } }),
  'tolerates-all': () => ({ resources: SMALL, spec: { tolerations: [{ operator: 'Exists' }] } }),
  'refused-by-a-plugin': () => ({ resources: SMALL, labels: { refused: 'true' } }),
  'refused-when-large': () => ({
    resources: { requests: { cpu: '3', memory: '1Gi' } },
    labels: { refused: 'true' },
  }),
  'never-budget': () => ({ resources: SMALL, labels: { budget: 'never' } }),
  'two-budgets': () => ({ resources: SMALL, labels: { budget: 'never', other: 'too' } }),
  resizes: () => ({ resources: SMALL }),
  constructor: () => ({ resources: SMALL, labels: { constructor: 'x', valueOf: 'y' } }),
};

const CLAIMS = Array.from({ length: ATTACHABLE + 3 }, (_, n) => `disk-${n}`);

/** One of the hostile tenants, by number; each has a namespace of its own. */
export function hostile(number: number, random: () => number): Workload {
  const names = Object.keys(HOSTILE);
  const name = names[number % names.length] ?? '';
  const template = Object.getOwnPropertyDescriptor(HOSTILE, name)?.value as Workload['template'];
  return {
    namespace: name,
    name,
    isHonest: false,
    replicas: 1 + Math.floor(random() * 2),
    template,
    remakesAfterMs: (5 + Math.floor(random() * 20)) * MINUTE,
    endsAfterMs: (30 + Math.floor(random() * 200)) * MINUTE,
    resizes: name === 'resizes',
  };
}

export const HOSTILE_COUNT = Object.keys(HOSTILE).length;

export const hostileBudgets: readonly BudgetSpec[] = ['never-budget', 'two-budgets'].flatMap((namespace) => [
  { namespace, name: 'never', matchLabels: { budget: 'never' }, minAvailable: 1_000 },
  { namespace, name: 'other', matchLabels: { other: 'too' }, minAvailable: 0, policy: 'AlwaysAllow' as const },
]);

/** What the hostile tenants have claimed. */
export const storage: { readonly claims: readonly Claim[]; readonly volumes: readonly PersistentVolume[] } = {
  claims: [
    ...['many-claims', 'as-many-claims'].flatMap((namespace) =>
      CLAIMS.map((name) => ({
        namespace,
        name,
        volume: `${namespace}-${name}`,
        storageClass: null,
        isLost: false,
      })),
    ),
    {
      namespace: 'one-pod-claim',
      name: 'of-one-pod',
      volume: 'v',
      storageClass: null,
      isLost: false,
      isOfOnePod: true,
    },
  ],
  volumes: [
    ...['many-claims', 'as-many-claims'].flatMap((namespace) => CLAIMS.map((name) => `${namespace}-${name}`)),
    'v',
  ].map((name) => ({ name, nodeAffinity: null, driver: DRIVER, handle: name, isLocal: false })),
};

export const attachLimitsOf = (node: string) => ({ node, limits: { [DRIVER]: ATTACHABLE } });
