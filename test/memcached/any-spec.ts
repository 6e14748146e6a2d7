/** Memcacheds as anybody may write them: what is right, and what is wrong by itself or beside something else. */
import * as fc from 'fast-check';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { mostly } from '../kernel/drawn.ts';

export const anyName: fc.Arbitrary<string> = mostly(
  fc.constantFrom('sessions', 'a', 'web-2', 'x'.repeat(63)),
  '1st',
  'x'.repeat(64),
);

const quantity = mostly(fc.constantFrom<string>('100m', '1', '2k', '128Mi', '1Gi'), '-1');
const amounts = fc.record(
  { cpu: quantity, memory: quantity, 'example.com/device': fc.constant('1') },
  { requiredKeys: [] },
);
const resources = fc.record({ requests: amounts, limits: amounts }, { requiredKeys: [] });

const tag = mostly(
  fc.oneof(
    fc.constantFrom('', ':1.6', ':latest', `:1.6@sha256:${'a'.repeat(64)}`, `@sha256:${'b'.repeat(64)}`),
    fc.stringMatching(/^:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/),
  ),
  ':1.6 ',
);
const image = fc
  .tuple(mostly(fc.constantFrom<string>('memcached', 'registry.example:5000/memcached'), '', ' memcached'), tag)
  .map(([name, rest]) => `${name}${rest}`);

const someLabels = fc.constantFrom<Record<string, string>>({ app: 'web' }, { 'app.kubernetes.io/name': 'memcached' });
type Selector = NonNullable<
  NonNullable<NonNullable<WrittenSpec['highAvailability']>['topologySpreadConstraints']>[number]['labelSelector']
>;
const selector = mostly(
  fc.oneof(
    someLabels.map((matchLabels): Selector => ({ matchLabels })),
    fc.constantFrom<Selector>(
      {},
      { matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      { matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] },
    ),
  ),
  { matchExpressions: [{ key: 'tier', operator: 'In' }] },
);
const constraint = fc.record(
  {
    maxSkew: mostly(fc.integer({ min: 1, max: 4 }), 0, -1),
    topologyKey: mostly(fc.constantFrom<string>('kubernetes.io/hostname', 'topology.kubernetes.io/zone'), ''),
    whenUnsatisfiable: mostly(fc.constantFrom<string>('DoNotSchedule', 'ScheduleAnyway'), 'Never'),
    labelSelector: selector,
    minDomains: mostly(fc.integer({ min: 1, max: 3 }), 0),
  },
  { requiredKeys: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'] },
);
const limit = mostly(
  fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom<string>('50%', '0%', '100%', '010%')),
  -1,
  '150%',
  'half',
  '-5%',
  '1',
);
const budget = fc.oneof(
  fc.record({ enabled: fc.boolean(), minAvailable: limit }),
  fc.record({ enabled: fc.boolean(), maxUnavailable: limit }),
);

const highAvailability = fc.record(
  {
    antiAffinityPreset: fc.constantFrom('soft' as const, 'hard' as const),
    topologySpreadConstraints: fc.array(constraint, { maxLength: 3 }),
    podDisruptionBudget: budget,
    gracefulShutdown: fc.record(
      {
        enabled: fc.boolean(),
        preStopDelaySeconds: fc.integer({ min: 1, max: 30 }),
        terminationGracePeriodSeconds: fc.integer({ min: 20, max: 600 }),
      },
      { requiredKeys: ['preStopDelaySeconds', 'terminationGracePeriodSeconds'] },
    ),
    warmUpSeconds: fc.integer({ min: 0, max: 3600 }),
  },
  { requiredKeys: [] },
);

type Peer = NonNullable<NonNullable<NonNullable<WrittenSpec['security']>['networkPolicy']>['allowedSources']>[number];
const peer = mostly(
  fc.oneof(
    fc.record<Peer>({ podSelector: selector }),
    fc.record<Peer>({ podSelector: selector, namespaceSelector: selector }),
    fc.constantFrom<Peer>(
      { ipBlock: { cidr: '10.0.0.0/8' } },
      { ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } },
      { ipBlock: { cidr: 'fd00::/64' } },
    ),
  ),
  {},
  { ipBlock: { cidr: '10.0.0.0' } },
  { ipBlock: { cidr: '10.0.0.0/8' }, podSelector: {} },
);
const context = fc.record(
  { runAsUser: mostly(fc.constantFrom<number>(1000, 11_211), -1, 0), runAsNonRoot: fc.boolean() },
  { requiredKeys: [] },
);
const secret = fc.record({ name: mostly(fc.constant<string>('users'), '', 'Not A Name') });
const security = fc.record(
  {
    podSecurityContext: context,
    containerSecurityContext: context,
    sasl: fc.record({ enabled: fc.boolean(), credentialsSecretRef: secret }),
    tls: fc.record(
      { enabled: fc.boolean(), certificateSecretRef: secret, enableClientCert: fc.boolean() },
      { requiredKeys: ['certificateSecretRef'] },
    ),
    networkPolicy: fc.record(
      { enabled: fc.boolean(), allowedSources: fc.array(peer, { maxLength: 3 }) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);

const utilization = { type: 'Utilization', averageUtilization: 80 };
const autoscaling = fc.record(
  {
    enabled: fc.boolean(),
    minReplicas: fc.integer({ min: 1, max: 3 }),
    maxReplicas: fc.integer({ min: 2, max: 9 }),
    metrics: fc.array(
      fc.constantFrom(
        { type: 'Resource', resource: { name: 'cpu', target: utilization } },
        { type: 'Resource', resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '60Mi' } } },
        { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'memcached', target: utilization } },
      ),
      { maxLength: 2 },
    ),
    scaleDownOnePodEvery: mostly(fc.constantFrom<string>('1s', '5m', '30m'), '500ms', '31m'),
  },
  { requiredKeys: ['maxReplicas'] },
);

const monitoring = fc.record(
  { enabled: fc.boolean(), exporterImage: image, exporterResources: resources },
  { requiredKeys: [] },
);
const server = fc.record(
  {
    maxMemoryMB: fc.constantFrom(16, 64, 1024),
    maxItemSize: mostly(fc.constantFrom<string>('512k', '1m', '8m'), '600k'),
    verbosity: fc.integer({ min: 0, max: 2 }),
    extraArgs: fc.array(fc.constantFrom('-v', '$(HOME)', '', 'ü'), { maxLength: 2 }),
  },
  { requiredKeys: [] },
);
const service = fc.record({
  annotations: mostly(
    fc.constantFrom<Record<string, string>>({}, { team: 'a' }, { 'Example.com/Team_1': '' }),
    { 'not a name': 'a' },
    { 'a/b/c': '' },
    { ['x'.repeat(64)]: 'a' },
  ),
});

/** Of any parts. */
export const anySpec: fc.Arbitrary<WrittenSpec> = fc.record(
  {
    replicas: fc.integer({ min: 0, max: 64 }),
    image,
    resources,
    memcached: server,
    highAvailability,
    monitoring,
    security,
    autoscaling,
    service,
  },
  { requiredKeys: [] },
);
