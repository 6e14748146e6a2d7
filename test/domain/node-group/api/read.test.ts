import { describe, expect, it } from 'vitest';
import { nodeGroupDefinition, vpsieNodeDefinition } from '../../../../domain/node-group/api/definition.ts';
import { machineBody, machineSpec, readMachine } from '../../../../domain/node-group/api/machine.ts';
import { readNodeGroup } from '../../../../domain/node-group/api/read-node-group.ts';
import { groupOf } from '../builders.ts';

/** As the VPSie autoscaler's examples have it. */
const VPSIE = {
  minNodes: 1,
  maxNodes: 10,
  datacenterID: 'dc-1',
  resourceIdentifier: 'cluster-1',
  project: 'project-1',
  offeringIDs: ['small', 'large'],
  kubernetesVersion: 'v1.28.0',
  kubeSizeID: 5,
};
const KWOK = { provider: 'kwok', minNodes: 0, maxNodes: 3, offeringIDs: ['small'] };

const withTaints = (...taints: readonly object[]) => ({
  ...KWOK,
  taints: taints.map((taint) => ({ effect: 'NoSchedule', ...taint })),
});

const read = (spec: object, status: object = {}, namespace = 'kube-system') =>
  readNodeGroup({ metadata: { name: 'web', namespace, uid: 'u', generation: 2 }, spec, status }, { mode: 'observe' });

describe('a NodeGroup of the VPSie autoscaler', () => {
  it('is read with its defaults, and the mode of the configuration', () => {
    const { group, problems } = read(VPSIE);
    expect(problems).toEqual([]);
    expect(group).toMatchObject({
      provider: 'vpsie',
      mode: 'observe',
      scaleUp: { enabled: true, cooldownMs: 0, batchSize: 0 },
      scaleDown: {
        enabled: true,
        stabilizationMs: 600_000,
        cooldownMs: 600_000,
        cpuThreshold: 50,
        memoryThreshold: 50,
      },
      budgets: [{ nodes: '10%', reasons: [], window: null }],
      maxNodeProvisionMs: 900_000,
      providerSpec: { datacenterID: 'dc-1', kubeSizeID: '5', kubernetesVersion: 'v1.28.0' },
      desiredNodes: null,
      backoff: null,
    });
  });

  it('gives a machine a minute at least, where the group is older than that rule', () => {
    expect(read({ ...VPSIE, maxNodeProvisionTime: '0s' }).group).toMatchObject({ maxNodeProvisionMs: 60_000 });
  });

  it('keeps what its status says of earlier decisions', () => {
    const status = {
      desiredNodes: 4,
      lastScaleUpTime: '2026-01-01T00:00:00Z',
      backoff: { until: '2026-01-01T00:05:00Z', failures: 2, reason: 'quota exceeded' },
    };
    expect(read(VPSIE, status).group).toMatchObject({
      desiredNodes: 4,
      lastScaleUp: Date.UTC(2026, 0, 1),
      lastScaleDown: null,
      backoff: { until: Date.UTC(2026, 0, 1, 0, 5), failures: 2, reason: 'quota exceeded' },
    });
  });
});

describe('a NodeGroup', () => {
  it('has the default cooldown where it says 0, as the VPSie autoscaler has it', () => {
    expect(read({ ...KWOK, scaleDownPolicy: { cooldownSeconds: 0 } }).group?.scaleDown.cooldownMs).toBe(600_000);
    expect(read({ ...KWOK, scaleDownPolicy: { cooldownSeconds: 30 } }).group?.scaleDown.cooldownMs).toBe(30_000);
  });

  it('has budgets with windows', () => {
    const budgets = [{ nodes: '0', reasons: ['Empty'], schedule: '0 9 * * 1-5', duration: '8h' }];
    expect(read({ ...KWOK, budgets }).group?.budgets).toEqual([
      { nodes: '0', reasons: ['Empty'], window: { schedule: '0 9 * * 1-5', durationMs: 28_800_000 } },
    ]);
  });

  it('is read with labels that say of its nodes what is written on them anyway', () => {
    const labels = {
      'autoscaler.vpsie.com/managed': 'true',
      'autoscaler.vpsie.com/nodegroup': 'web',
      'autoscaler.vpsie.com/offering': 'small',
    };
    expect(read({ ...KWOK, offeringIDs: ['small'], labels })).toMatchObject({ problems: [], group: { labels } });
  });

  it.each(['foo bar baz qux quux', '0 0 30 2 *', 'noon'])('is read, and goes on, with a budget in %s', (schedule) => {
    const budgets = [{ nodes: '0', schedule, duration: '8h' }];
    const { group, problems } = read({ ...KWOK, budgets });
    expect(problems).toEqual([]);
    expect(group?.budgets).toEqual([{ nodes: '0', reasons: [], window: { schedule, durationMs: 28_800_000 } }]);
  });

  it.each([
    ['spec.minNodes: Invalid value: 4: at most maxNodes (3)', { ...KWOK, minNodes: 4 }],
    ['spec.kubeSizeID: Required value: VPSie makes no machine without it', { ...VPSIE, kubeSizeID: undefined }],
    ['spec.offeringIDs: Invalid value: ["a","a"]: each of them once', { ...KWOK, offeringIDs: ['a', 'a'] }],
    [
      'spec.labels: Invalid value: "kubernetes.io/os": a key outside of kubernetes.io/ and k8s.io/',
      { ...KWOK, labels: { 'kubernetes.io/os': 'linux', 'node.kubernetes.io/pool': 'web' } },
    ],
    [
      'spec.startupTaints: Invalid value: "k8s.io/a": a key outside of kubernetes.io/ and k8s.io/',
      { ...KWOK, startupTaints: [{ key: 'k8s.io/a', effect: 'NoSchedule' }] },
    ],
    [
      'spec.budgets[0]: Required value: schedule and duration, or neither of them',
      { ...KWOK, budgets: [{ nodes: '1', schedule: '0 9 * * *' }] },
    ],
  ])('is not read: %s', (problem, spec) => {
    expect(read(spec)).toMatchObject({ name: 'web', generation: 2, group: null, problems: [problem] });
  });

  it.each([
    ['more than 1000 nodes', { ...KWOK, maxNodes: 1001 }, 'spec.maxNodes: '],
    [
      'a window over half an hour',
      { ...KWOK, scaleUpPolicy: { stabilizationWindowSeconds: 1801 } },
      'spec.scaleUpPolicy',
    ],
    ['no instance type', { ...KWOK, offeringIDs: [] }, 'spec.offeringIDs: '],
    [
      'a label that no node can have',
      { ...KWOK, labels: { 'two words': 'a' } },
      'spec.labels: Invalid value: "two words"',
    ],
    ['a value that no label can have', { ...KWOK, labels: { a: '-b' } }, 'spec.labels.a: '],
    ['a datacenter that VPSie cannot have', { ...VPSIE, datacenterID: 'dc/1' }, 'spec.datacenterID: '],
    ['an image that VPSie cannot have', { ...VPSIE, osImageID: 'a b' }, 'spec.osImageID: '],
    [
      'a label by which its nodes would be those of another group',
      { ...KWOK, labels: { 'autoscaler.vpsie.com/nodegroup': 'other', 'autoscaler.vpsie.com/managed': 'true' } },
      'spec.labels: Invalid value: "autoscaler.vpsie.com/nodegroup": a key that Headroom does not write itself',
    ],
    [
      'one by which they would be of another type',
      { ...KWOK, labels: { 'autoscaler.vpsie.com/offering': 'large' } },
      'spec.labels: Invalid value: "autoscaler.vpsie.com/offering": ',
    ],
    [
      'one by which those of all its types would be of one',
      { ...KWOK, offeringIDs: ['small', 'large'], labels: { 'autoscaler.vpsie.com/offering': 'small' } },
      'spec.labels: Invalid value: "autoscaler.vpsie.com/offering": ',
    ],
    ['an unknown provider', { ...KWOK, provider: 'other' }, 'spec.provider: '],
    ['an instance type that is no label', { ...KWOK, offeringIDs: ['small-'] }, 'spec.offeringIDs[0]: '],
    ['one that is too long for a label', { ...KWOK, offeringIDs: ['x'.repeat(64)] }, 'spec.offeringIDs[0]: '],
    ['a datacenter that is no label', { ...VPSIE, datacenterID: 'dc_' }, 'spec.datacenterID: '],
    ['one that is too long for a label', { ...VPSIE, datacenterID: 'x'.repeat(64) }, 'spec.datacenterID: '],
    ['a key that no taint can have', withTaints({ key: 'two words' }), 'spec.taints[0].key: '],
    ['a prefix that no key can have', withTaints({ key: `${'a.'.repeat(127)}a/b` }), 'spec.taints: '],
    ['a value that no taint can have', withTaints({ key: 'a', value: '-b' }), 'spec.taints[0].value: '],
    [
      'a taint twice',
      withTaints({ key: 'a' }, { key: 'b' }, { key: 'a', value: 'b' }),
      'spec.taints[2]: Duplicate value: "a:NoSchedule": each key once with each effect',
    ],
    [
      'a startup taint that no node can have',
      { ...KWOK, startupTaints: [{ key: '-a', effect: 'NoExecute' }] },
      'spec.startupTaints[0].key: ',
    ],
  ])('is not read with %s', (_, spec, beginning) => {
    expect(read(spec).problems).toEqual([expect.stringContaining(beginning)]);
  });

  it('is not read with a name that is too long for the labels of its nodes', () => {
    const named = (name: string) =>
      readNodeGroup({ metadata: { name, namespace: 'kube-system' }, spec: KWOK }, { mode: 'act' });
    expect(named('x'.repeat(63)).problems).toEqual([]);
    expect(named('x'.repeat(64)).problems).toEqual([
      `metadata.name: Invalid value: "${'x'.repeat(64)}": at most 63 characters, as it is a label of its nodes`,
    ]);
  });

  it('has its instance types from the status', () => {
    const kept = { id: 'small', capacity: { cpu: 2000 }, allocatable: { cpu: 1900 }, labels: { zone: 'a' } };
    const status = {
      instanceTypes: [
        { ...kept, isAvailable: true, pricePerHour: 0.5 },
        { ...kept, isAvailable: false },
      ],
      instanceTypesTime: '2026-01-01T00:00:00Z',
    };
    const { group } = readNodeGroup(
      { metadata: { name: 'web', namespace: 'kube-system' }, spec: KWOK, status },
      { mode: 'act' },
    );
    expect(group?.instanceTypes).toEqual([
      { ...kept, isAvailable: true, pricePerHour: 0.5 },
      { ...kept, isAvailable: false, pricePerHour: null },
    ]);
    expect(group?.instanceTypesAt).toBe(Date.UTC(2026, 0, 1));
  });

  it('is not read in another namespace, nor where it is no object', () => {
    expect(read(KWOK, {}, 'default').problems).toEqual([
      'metadata.namespace: Invalid value: "default": NodeGroups are in kube-system',
    ]);
    expect(readNodeGroup(null, { mode: 'act' }).group).toBeNull();
  });
});

describe('a NodeGroup that is being deleted, and is not valid', () => {
  const leaving = (spec: object, namespace = 'kube-system') =>
    readNodeGroup(
      { metadata: { name: 'web', namespace, uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' }, spec },
      { mode: 'act' },
    );

  it('is given back by what can be read of it', () => {
    const spec = { ...KWOK, minNodes: 5, maxNodes: -1, offeringIDs: 'small', budgets: [{ nodes: '1' }], mode: 'act' };
    const { group, problems } = leaving({ ...spec, labels: { 'kubernetes.io/mine': 'x' }, taints: 1 });
    expect(group).toMatchObject({ provider: 'kwok', mode: 'act', isDeleting: true, deletionPolicy: 'Drain' });
    expect(group).toMatchObject({ labels: {}, taints: [], budgets: [{ nodes: '1' }] });
    expect(problems.length).toBeGreaterThan(2);
    expect(leaving({ ...VPSIE, kubeSizeID: 'x', minNodes: 11 }).group).toMatchObject({
      providerSpec: { resourceIdentifier: 'cluster-1' },
    });
  });

  it('keeps its nodes where it says so, and is left alone where that, or how fast they may go, cannot be read', () => {
    const policy = (deletionPolicy: unknown) => leaving({ ...KWOK, minNodes: 4, deletionPolicy }).group?.deletionPolicy;
    expect([policy('Orphan'), policy('orphan'), policy(7)]).toEqual(['Orphan', undefined, undefined]);
    const closed = { ...KWOK, budgets: [{ nodes: '0' }, { nodes: 'x' }] };
    for (const spec of [{ ...KWOK, mode: 'Observe' }, closed]) expect(leaving(spec).group).toBeNull();
  });

  it('is left alone where nobody can tell where its machines are', () => {
    const { resourceIdentifier: _, ...nowhere } = VPSIE;
    const all = [leaving({ ...KWOK, provider: 'aws' }), leaving(nowhere), leaving({ ...VPSIE, resourceIdentifier: 5 })];
    expect(all.map(({ group }) => group)).toEqual([null, null, null]);
    expect(leaving(KWOK, 'default').group).toBeNull();
  });
});

describe('a VPSieNode', () => {
  it('is read as it was created', () => {
    const body = machineBody(groupOf('web', { providerSpec: { datacenterID: 'dc-1', kubeSizeID: '5' } }), {
      name: 'web-1',
      instanceType: 'small',
      decision: 'd7',
      cameFor: ['k1', 'k2'],
      fillLater: 2,
      replaces: null,
      reason: 'PendingPods',
    });
    expect(readMachine(body)).toMatchObject({
      name: 'web-1',
      group: 'web',
      instanceType: 'small',
      phase: 'Pending',
      providerId: null,
      node: null,
      decision: 'd7',
      cameFor: ['k1', 'k2'],
      fillLater: 2,
      replaces: null,
    });
    expect(machineSpec.strict().parse(body.spec)).toEqual(body.spec);
  });

  it('of the VPSie autoscaler has the name of its machine in the spec, and the time of its phase by its steps', () => {
    const machine = readMachine({
      metadata: { name: 'vn', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { vpsieInstanceID: 17, nodeGroupName: 'web', instanceType: 'small' },
      status: { phase: 'Joining', nodeName: 'node-1', provisionedAt: '2026-01-01T00:03:00Z' },
    });
    expect(machine).toMatchObject({ phase: 'Joining', providerId: '17', node: 'node-1' });
    expect(machine.phaseSince).toBe(Date.UTC(2026, 0, 1, 0, 3));
  });
});

describe('the definitions', () => {
  it('have the names of the VPSie autoscaler', () => {
    expect([nodeGroupDefinition(), vpsieNodeDefinition()].map(({ metadata }) => metadata.name)).toEqual([
      'nodegroups.autoscaler.vpsie.com',
      'vpsienodes.autoscaler.vpsie.com',
    ]);
  });
});
