/** Dear nodes whose pods a cheaper instance type would take. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { INSTANCE_TYPES } from '../../../activities/node-group/provider/kwok/instance-types.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { type KwokType, NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

const small: KwokType = { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 };
const large: KwokType = { id: 'large', capacity: { cpu: '8', memory: '16Gi', pods: '110' }, pricePerHour: 0.3 };

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([small, large]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

const bigOf = (group: string): string => `${group}-big`;

/**
 * A group with one large node, on which two small pods are left, as the one that it came for is gone: without a fall by half of what it
 * came for, a node stays for an hour.
 */
async function dearGroup(group: string, scaleDownPolicy: object): Promise<string> {
  const resources = { requests: { cpu: '6', memory: '6Gi' } };
  const containers = [{ name: 'main', image: 'test/none:1', resources }];
  await cluster.createDeployment(bigOf(group), 1, { containers, terminationGracePeriodSeconds: 1, ...onlyOn(group) });
  const times = { stabilizationWindowSeconds: 1, cooldownSeconds: 1 };
  const spec = { offeringIDs: ['small', 'large'], scaleDownPolicy: { ...times, ...scaleDownPolicy } };
  await cluster.createGroup(group, { ...spec, ...ownNodes(group) });
  await cluster.untilRunning(bigOf(group), 1);
  // Only now, so that the node came for the big pod alone, whichever pods a plan had seen by then.
  await cluster.createDeployment(group, 2, onlyOn(group));
  await cluster.untilRunning(group, 2);
  const [node] = await cluster.untilReady(group, 1);
  expect(await typesOf(group)).toEqual(['large']);
  await cluster.untilSteady(group);
  return node?.metadata?.name ?? '';
}

async function typesOf(group: string): Promise<readonly string[]> {
  return (await cluster.machines(group)).map(({ spec }) => spec.instanceType);
}

describe('a node whose pods a cheaper type takes', () => {
  it('goes when the cheaper one is ready and not before, where the group consolidates, and stays where it does not', async () => {
    const [dear, kept] = await Promise.all([
      dearGroup('consolidated', { consolidation: true }),
      dearGroup('left-alone', {}),
    ]);
    const [leaving] = await cluster.nodes('consolidated');
    for (const group of ['consolidated', 'left-alone']) await cluster.scale(bigOf(group), 0);
    await cluster.untilNodeGone(dear);
    expect(await cluster.claimedRemovals()).toContain(leaving?.metadata?.uid);
    await cluster.untilRunning('consolidated', 2);
    await cluster.untilReady('consolidated', 1);
    await cluster.untilSteady('consolidated');
    expect(await typesOf('consolidated')).toEqual(['small']);
    expect(await cluster.createdNodes('consolidated')).toHaveLength(2);

    const [machine] = await cluster.machines('consolidated');
    const asked = await cluster.evictions('consolidated');
    expect(asked).toHaveLength(2);
    const readyAt = Date.parse(machine?.status?.readyAt ?? '');
    for (const at of asked) expect(Date.parse(at)).toBeGreaterThanOrEqual(readyAt);

    expect((await cluster.nodes('left-alone')).map(({ metadata }) => metadata?.name)).toEqual([kept]);
    expect(await cluster.createdNodes('left-alone')).toHaveLength(1);
    expect(await cluster.evictions('left-alone')).toEqual([]);
  }, 300_000);

  it('stays with its pods where the cheaper one cannot be had, and the group says why', async () => {
    const group = 'sold-out';
    const dear = await dearGroup(group, { consolidation: true });
    // The provider has none of them any more, after it said that it had.
    const { namespace, name, key } = INSTANCE_TYPES;
    const body = { metadata: { name }, data: { [key]: JSON.stringify([large]) } };
    await cluster.core.replaceNamespacedConfigMap({ namespace, name, body });
    await cluster.scale(bigOf(group), 0);
    const { detail } = await cluster.untilStatus(group, 'backing off', ({ reason }) => reason === 'BackingOff');
    expect(detail).toContain('has no instance type small');
    expect((await cluster.nodes(group)).map(({ metadata }) => metadata?.name)).toEqual([dear]);
    expect(await cluster.marked(group)).toEqual([]);
    expect(await cluster.evictions(group)).toEqual([]);
    expect(await cluster.running(group)).toBe(2);
  }, 300_000);
});
