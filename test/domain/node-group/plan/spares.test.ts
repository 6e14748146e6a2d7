/** Nodes in whose place others come, and that do not go: one comes, it is named, and no second one does. */
import { describe, expect, it } from 'vitest';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { judgeSpares } from '../../../../domain/node-group/plan/spares.ts';
import { promiseOf } from '../../../../domain/node-group/plan/pod-kind.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { boundTo, groupOf, machineOf, nodeOf, NOW, podOf, stateOf, typeOf } from '../builders.ts';
import { randomOf, SimulatedCluster } from './simulated-cluster.ts';

const HOSTNAME = 'kubernetes.io/hostname';
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u' };
const types = { web: [typeOf('large', 8, 32, { pricePerHour: 0.4 }), typeOf('small', 4, 16, { pricePerHour: 0.1 })] };

interface Held {
  readonly group?: Partial<NodeGroup>;
  readonly pods?: number;
  /** Of what pods ask for, the share that they use. */
  readonly use?: number;
  /** How many of the node's pods are never evicted. */
  readonly count?: number;
  /** Whether they can be on no other node. */
  readonly isBound?: boolean;
}

/** Three nodes of one size, each with pods for most of it; one of them has pods that are never evicted. */
function cluster({ group = {}, pods = 9, use = 0.8, count = 3, isBound = true }: Held = {}) {
  const isHeld = ({ labels }: Pod): boolean => labels['held'] === 'yes';
  const over = { maxNodes: 20, offeringIds: ['small'], preferredInstanceType: 'small', ...group };
  const groups = [groupOf('web', over)];
  const world = new SimulatedCluster({ groups, instanceTypes: types, random: randomOf(7), use, holds: isHeld });
  for (let number = 0; number < pods; number += 1) {
    world.pods.push({ ...podOf(`pod-${number}`, { cpu: '1.2', memory: '1Gi' }), owner, isReady: true });
  }
  world.run(45);
  const node = world.pods[0]?.node ?? '';
  const held = world.pods.filter((pod) => pod.node === node).slice(0, count);
  world.pods = world.pods.map((pod) =>
    held.includes(pod)
      ? { ...pod, labels: { held: 'yes' }, nodeSelector: isBound ? { [HOSTNAME]: node } : pod.nodeSelector }
      : pod,
  );
  const since = world.at;
  const came = (): readonly string[] => world.lives.filter(({ cameAt }) => cameAt >= since).map(({ name }) => name);
  const keptAs = () => world.plan?.kept.find((kept) => kept.node === node);
  return { world, node, came, keptAs };
}

/** Hours in which starters come and go. */
function hours(world: SimulatedCluster, count: number): void {
  for (let part = 0; part < count * 2; part += 1) {
    world.run(30);
    if (part % 3 === 2) world.restart();
  }
}

describe('a node that is not Ready for the second time, hours later', () => {
  it('has another one Ready first, however full the first one is by then', () => {
    const { world, node, came } = cluster({ isBound: false });
    world.hear(node, false);
    world.run(35);
    expect(came()).toHaveLength(1);
    world.hear(node, true);
    world.run(2);
    for (let number = 0; number < 3; number += 1) {
      world.pods.push({ ...podOf(`more-${number}`, { cpu: '1.2', memory: '1Gi' }), owner, isReady: true });
    }
    world.run(10);
    world.pods = world.pods.map((pod) => ({ ...pod, labels: {} }));
    hours(world, 10);
    world.hear(node, false);
    for (let minute = 0; minute < 30; minute += 1) {
      world.run(1);
      expect(world.pending).toEqual([]);
      expect(world.plan?.inVain['web']).toEqual([]);
    }
    expect(came()).toHaveLength(2);
    expect(world.lives.find(({ name }) => name === node)?.wentAt).toEqual(expect.any(Number));
  });
});

describe('what came in place of a node, of which it is all that came', () => {
  const HOUR = 3_600_000;
  const READY = NOW - 100 * HOUR;
  const came = {
    node: 's',
    phase: 'Ready',
    createdAt: READY - 300_000,
    phaseSince: READY,
    replaces: 'uid-old',
  } as const;
  const found = (status: 'True' | 'False' | 'Unknown', since: number, over: Partial<ClusterState> = {}) => {
    const nodes = [{ ...nodeOf('old'), ready: { status, since } }, nodeOf('s')];
    const { there, onTrial, failed } = judgeSpares(
      stateOf({ nodes, machines: [machineOf('s', 'web', came)], ...over }),
    );
    return [there.size, onTrial.length, failed.length];
  };

  it('counts as long as the node is not Ready, from before or from within a quarter of an hour', () => {
    expect(found('Unknown', READY - HOUR)).toEqual([1, 0, 1]);
    expect(found('False', READY + 900_000)).toEqual([1, 0, 1]);
  });

  it('counts no more once the node is Ready again, or was', () => {
    expect(found('True', READY + HOUR)).toEqual([0, 0, 0]);
    expect(found('Unknown', READY + 900_001)).toEqual([0, 0, 0]);
    expect(found('False', NOW)).toEqual([0, 0, 0]);
  });

  it('stays while the drain goes on', () => {
    expect(found('False', NOW, { leaving: ['old'] })).toEqual([1, 1, 0]);
  });

  it('counts for two days where the node has been Ready all the time', () => {
    const since = READY - 500 * HOUR;
    expect(found('True', since, { at: READY + 900_000 })).toEqual([1, 0, 1]);
    expect(found('True', since, { at: READY + 900_000 + 48 * HOUR - 1 })).toEqual([1, 0, 1]);
    expect(found('True', since, { at: READY + 900_000 + 48 * HOUR })).toEqual([0, 0, 0]);
  });
});

describe('a node that is Ready again, or all the time', () => {
  const HOUR = 3_600_000;
  const small = typeOf('small', 4, 16);
  const big = (name: string, node: string): Pod => ({
    ...boundTo(node, podOf(name, { cpu: '3' })),
    owner,
    isReady: true,
  });
  const days = (since: number, over: Partial<NodeGroup>, isDrainRequested: boolean) => {
    const old = { node: 'old', phase: 'Ready', createdAt: NOW - 900 * HOUR, phaseSince: NOW - 900 * HOUR } as const;
    const spare = { node: 's', phase: 'Ready', createdAt: NOW - 500 * HOUR, phaseSince: NOW - 499 * HOUR } as const;
    const state = stateOf({
      groups: [groupOf('web', { maxNodes: 20, ...over })],
      instanceTypes: { web: [small] },
      nodes: [nodeOf('old'), nodeOf('s')].map((node) => ({ ...node, ready: { status: 'True', since } })),
      machines: [
        machineOf('old', 'web', { ...old, isDrainRequested }),
        machineOf('s', 'web', { ...spare, replaces: 'uid-old' }),
      ],
      pods: [big('a', 'old'), big('b', 's')],
    });
    return planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] }).plan;
  };

  it('has another one in its place when its VPSieNode is deleted, although the first one lives', () => {
    const plan = days(NOW - 400 * HOUR, { replaceBeforeDrain: true }, true);
    expect(plan.removals).toMatchObject([{ node: 'old', replacement: { instanceType: 'small' } }]);
  });

  it('has no entry again in the plan that ends one after two days', () => {
    const group = groupOf('web', { maxNodes: 20 });
    const at = NOW - 49 * HOUR;
    const record = { instanceType: 'small', kind: 'node/uid-old', pod: 'old', machine: 's', at, waited: at };
    const inVain = [{ ...record, promise: promiseOf(group, small), tries: 1, isFirm: true }];
    expect(days(NOW - 900 * HOUR, { inVain }, false).inVain['web']).toEqual([]);
  });
});

describe('a node that is not Ready for good, and whose drain does not end', () => {
  it('has one in its place, which goes when nothing uses it, and no second one; it is named', () => {
    const { world, node, came, keptAs } = cluster();
    world.hear(node, false);
    hours(world, 4);
    const [spare = '', ...more] = came();
    expect([more, world.lives.find(({ name }) => name === spare)?.wentAt]).toEqual([[], expect.any(Number)]);
    expect(keptAs()).toMatchObject({ reason: 'NoReplacement' });
    expect(keptAs()?.detail).toContain(`${spare} came in its place and it has not gone`);
    expect(world.plan?.inVain['web']).toMatchObject([{ kind: `node/uid-${node}`, pod: node, machine: spare }]);
  });

  it('has one where that one took some of its pods', () => {
    const { world, node, came } = cluster({ count: 1 });
    world.hear(node, false);
    hours(world, 4);
    expect([came().length, world.pods.filter((pod) => pod.node === node).length]).toEqual([1, 1]);
  });

  it('has another one when it was Ready again in between', () => {
    const { world, node, came } = cluster();
    world.hear(node, false);
    hours(world, 2);
    world.hear(node, true);
    world.run(15);
    expect([came().length, world.plan?.inVain['web']]).toEqual([1, []]);
    world.hear(node, false);
    hours(world, 1);
    expect(came()).toHaveLength(2);
  });
});

it('a node for which a cheaper one comes, and whose drain does not end, has one for hours', () => {
  const scaleDown = { ...groupOf('web').scaleDown, consolidation: true };
  const group = { offeringIds: ['large', 'small'], preferredInstanceType: 'large', scaleDown };
  const { world, came } = cluster({ pods: 3, use: 1.5, isBound: false, group });
  hours(world, 6);
  expect(came()).toHaveLength(1);
});
