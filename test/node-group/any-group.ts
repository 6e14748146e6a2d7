/** NodeGroups as anybody may write them: what is right, and what is wrong by itself or beside something else. */
import * as fc from 'fast-check';
import { mostly } from '../kernel/drawn.ts';

/** What people write is of these types, and of no others: that is the definition's matter. */
export interface WrittenGroup {
  readonly name: string;
  readonly spec: Readonly<Record<string, unknown>> & {
    readonly provider: 'kwok' | 'vpsie';
    readonly offeringIDs: readonly string[];
  };
}

const anyName = mostly(
  fc.oneof(
    fc.constantFrom('web', 'a', '1st', 'eu-1.web', 'a.b.c', 'x'.repeat(51), 'x'.repeat(63), `${'x'.repeat(49)}.a-b`),
    fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/),
  ),
  'x'.repeat(64),
  `${'x'.repeat(120)}.${'y'.repeat(120)}`,
  'wEb',
);

/** All that is offered by the provider kwok. */
export const OFFERINGS: readonly string[] = [
  'small',
  'Large-2',
  '7',
  'a--b',
  'x'.repeat(63),
  '-a',
  'a-',
  '-',
  'x'.repeat(64),
];
const offering = mostly<string>(fc.constantFrom(...OFFERINGS.slice(0, 5)), ...OFFERINGS.slice(5));

const labelKey = mostly<string>(
  fc.oneof(
    fc.constantFrom(
      'team',
      'example.com/team',
      'A_b.c',
      'constructor',
      'x'.repeat(63),
      `${'a.'.repeat(126)}a/${'x'.repeat(63)}`,
    ),
    fc.constantFrom('node-role.kubernetes.io/web', 'autoscaler.vpsie.com/managed', 'autoscaler.vpsie.com/nodegroup'),
    fc.constantFrom('node.kubernetes.io/pool', 'topology.kubernetes.io/zone', 'node-restriction.kubernetes.io/a'),
  ),
  '',
  'two words',
  '-a',
  'a/b/c',
  'Example.com/team',
  'a..b/team',
  '/team',
  'example.com/',
  'x'.repeat(64),
  `${'x'.repeat(64)}.com/${'x'.repeat(63)}`,
  `${'a.'.repeat(127)}a/b`,
  'kubernetes.io/hostname',
  'k8s.io/a',
);
const labelValue = mostly<string>(
  fc.constantFrom('', 'web', 'A.b_c-d', '0', 'x'.repeat(63)),
  '-a',
  'a-',
  'a b',
  'ü',
  'x'.repeat(64),
);

const taint = fc.record(
  {
    key: labelKey,
    value: labelValue,
    effect: mostly<string>(fc.constantFrom('NoSchedule', 'PreferNoSchedule', 'NoExecute'), 'Never', ''),
    timeAdded: fc.constantFrom('2026-01-01T00:00:00Z', 'yesterday'),
  },
  { requiredKeys: ['key', 'effect'] },
);
const taints = fc.array(taint, { maxLength: 4 });

const span = mostly<string>(
  fc.constantFrom('1m', '15m', '1h30m', '500ms', '1.5h', '99999999999999h', '9999999999999h'),
  '0s',
  '1d',
  'an hour',
);
const nodesAtOnce = mostly<string>(fc.constantFrom('0', '1', '9999', '0%', '10%', '100%'), '101%', '-1');
const reasons = fc.subarray(['Empty', 'Underutilized', 'Requested']);
const schedule = mostly<string>(fc.constantFrom('0 9 * * 1-5', '*/5 * * * *', '0 0 29 2 *'), '0 0 30 2 *', 'noon');
const budget = mostly<object>(
  fc.oneof(fc.record({ nodes: nodesAtOnce, reasons }), fc.record({ nodes: nodesAtOnce, schedule, duration: span })),
  { nodes: '1', duration: '1h' },
  {},
);

const policy = fc.record(
  {
    enabled: fc.boolean(),
    stabilizationWindowSeconds: mostly(fc.integer({ min: 0, max: 1800 }), -1),
    cooldownSeconds: fc.integer({ min: 0, max: 3600 }),
    cpuThreshold: fc.integer({ min: 0, max: 100 }),
    memoryThreshold: fc.integer({ min: 0, max: 100 }),
  },
  { requiredKeys: [] },
);

const ofAll = {
  // What only observes writes nothing.
  mode: fc.constant('act'),
  minNodes: mostly(fc.integer({ min: 0, max: 3 }), -1, 1001),
  maxNodes: mostly(fc.integer({ min: 3, max: 1000 }), 0, 1001),
  offeringIDs: mostly(fc.uniqueArray(offering, { minLength: 1, maxLength: 2 }), ['small', 'small'], []),
  preferredInstanceType: fc.constantFrom('small', 'none', ''),
  labels: fc.dictionary(labelKey, labelValue, { maxKeys: 4 }),
  taints,
  startupTaints: taints,
  scaleUpBatchSize: fc.integer({ min: 0, max: 5 }),
  scaleUpPolicy: policy,
  scaleDownPolicy: policy,
  expander: fc.constantFrom('least-waste', 'price'),
  estimate: fc.constantFrom('simulation', 'simple'),
  exclusive: fc.boolean(),
  budgets: fc.array(budget, { maxLength: 3 }),
  replaceBeforeDrain: fc.boolean(),
  maxNodeProvisionTime: span,
  deletionPolicy: fc.constantFrom('Drain', 'Orphan'),
  approval: fc.constantFrom('none', 'scale-down', 'replacement'),
  userData: fc.constant('#!/bin/sh\n\u0000'),
  tags: fc.constant(['a b']),
  notes: fc.string({ unit: 'binary', maxLength: 20 }),
  spotConfig: fc.constant({ enabled: true }),
};

const ofVpsie = {
  datacenterID: mostly<string>(
    fc.constantFrom('dc-1', 'DC_2', '7', 'x'.repeat(63)),
    '-dc',
    'dc_',
    'x'.repeat(64),
    'dc/1',
    '',
  ),
  resourceIdentifier: mostly<string>(fc.constantFrom('cluster-1', 'a b'), ''),
  project: mostly<string>(fc.constantFrom('project-1', 'ü'), ''),
  kubernetesVersion: mostly<string>(fc.constantFrom('v1.28.0', 'v1.34.1-rc.1+build'), '1.28', 'v1'),
  kubeSizeID: mostly(fc.constantFrom(1, 5, Number.MAX_SAFE_INTEGER), 0),
  osImageID: mostly<string>(fc.constantFrom('ubuntu-24.04', 'x'.repeat(300)), 'a b'),
  sshKeyIDs: fc.constantFrom([], ['key 1']),
};

const required = ['mode', 'minNodes', 'maxNodes', 'offeringIDs'] as const;
const optional = Object.keys(ofAll).filter((key) => !required.some((one) => one === key));

/** With any of the fields that may be absent, the others with any value. */
function specOf(provider: 'kwok' | 'vpsie'): fc.Arbitrary<WrittenGroup['spec']> {
  const own = provider === 'kwok' ? {} : ofVpsie;
  const fields = { ...ofAll, ...own, provider: fc.constant(provider) };
  return fc
    .tuple(fc.record(fields), fc.subarray(optional), mostly<string>(fc.constant(''), 'project', 'kubeSizeID'))
    .map(([spec, absent, missing]) => {
      const gone = new Set([...absent, missing]);
      return Object.fromEntries(Object.entries(spec).filter(([key]) => !gone.has(key))) as WrittenGroup['spec'];
    });
}

export const anyGroup: fc.Arbitrary<WrittenGroup> = fc.record({
  name: anyName,
  spec: fc.oneof(specOf('kwok'), specOf('vpsie')),
});
