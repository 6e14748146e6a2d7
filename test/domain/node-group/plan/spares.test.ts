/** Nodes in whose place others come, and that do not go: one comes, it is named, and no second one does. */
import { describe, expect, it } from 'vitest';
import type { NodeGroup } from '../../../../domain/node-group/model/node-group.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { groupOf, podOf, typeOf } from '../builders.ts';
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
