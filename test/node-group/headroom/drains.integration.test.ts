/** Nodes are given back safely: blocked drains, replacements, and groups that are deleted. */
import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';
import { longOnly } from '../../kernel/long.ts';

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  plane = await startNodeGroupPlane();
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

/** A group with nodes of its own, and as many pods of a Deployment on them; both are called the same. */
async function populated(group: string, pods: number, spec: Readonly<Record<string, unknown>> = {}): Promise<V1Node> {
  await cluster.createGroup(group, { offeringIDs: ['small'], ...ownNodes(group), ...spec });
  await cluster.createDeployment(group, pods, onlyOn(group));
  await cluster.untilRunning(group, pods);
  const [node] = await cluster.untilReady(group, Math.ceil(pods / 4));
  await cluster.untilSteady(group);
  if (node === undefined) throw new Error(`${group} has no node`);
  return node;
}

const nameOf = ({ metadata }: V1Node): string => metadata?.name ?? '';

describe('a drain that a person asks for', () => {
  it('evicts the pods of the node, once each, and gives it back', async () => {
    const group = 'asked';
    const node = await populated(group, 2);
    await cluster.command(group, 'drain', { node: nameOf(node) });
    await cluster.untilNodeGone(nameOf(node));
    await cluster.untilRunning(group, 2);
    expect(await cluster.evictions(group)).toHaveLength(2);
    const now = await cluster.untilReady(group, 1);
    expect(nameOf(now[0] ?? {})).not.toBe(nameOf(node));
    await cluster.untilSteady(group);
    expect(await cluster.createdNodes(group)).toHaveLength(2);
  });

  it('that a budget blocks names it, is undone, and holds up no scaling up meanwhile', async () => {
    const group = 'blocked';
    const node = await populated(group, 2);
    await cluster.protect(group, 'none-may-go');
    await cluster.command(group, 'drain', { node: nameOf(node) });
    const refused = await eventually('its evictions are refused', async () => {
      const seen = await cluster.drainStatus(node);
      return seen.reason === 'EvictionsRefused' && seen;
    });
    expect(refused.detail).toContain(`the PodDisruptionBudget ${group}/none-may-go refuses the eviction`);
    expect(await cluster.marked(group)).toEqual([nameOf(node)]);
    await cluster.untilStatus(group, 'draining', ({ draining }) => draining.includes(nameOf(node)));

    await cluster.createPods(`${group}-more`, 3, onlyOn(group));
    await cluster.untilRunning(`${group}-more`, 3);
    await cluster.untilReady(group, 2);
    expect((await cluster.status(group)).draining).toEqual([nameOf(node)]);

    // The second one ends it at once: the API server never evicts a pod that two select. One alone ends it after five minutes.
    await cluster.protect(group, 'nor-may-these');
    const { facts, draining } = await cluster.untilStatus(group, 'told of how it ended', (seen) =>
      seen.facts.some((fact) => fact.includes(`${group}/none-may-go`)),
    );
    expect(draining).toEqual([]);
    expect(facts.find((fact) => fact.startsWith(nameOf(node)))).toContain(`${group}/none-may-go`);
    expect(await cluster.marked(group)).toEqual([]);
    expect(await cluster.evictions(group)).toEqual([]);
    expect(await cluster.running(group)).toBe(2);
  });

  it('that a person stops is undone, and its node stays and counts as leaving no longer', longOnly, async () => {
    const group = 'stopped';
    const node = await populated(group, 2);
    await cluster.protect(group, 'none-may-go');
    await cluster.command(group, 'drain', { node: nameOf(node) });
    await eventually(
      'its evictions are refused',
      async () => (await cluster.drainStatus(node)).reason === 'EvictionsRefused',
    );
    const claimed = await cluster.claimedRemovals();
    await cluster.stopDrain(node);
    const { facts } = await cluster.untilSteady(group);
    expect(facts.find((fact) => fact.startsWith(nameOf(node)))).toContain('stopped by alice');
    expect(await cluster.marked(group)).toEqual([]);
    expect(claimed).toContain(node.metadata?.uid);
    expect(await cluster.claimedRemovals()).not.toContain(node.metadata?.uid);
  });
});

describe('a group that replaces before it drains', () => {
  it('evicts nothing before the replacement is ready', async () => {
    const group = 'replaced';
    const node = await populated(group, 3, { replaceBeforeDrain: true });
    await cluster.command(group, 'drain', { node: nameOf(node) });
    await cluster.untilNodeGone(nameOf(node));
    await cluster.untilRunning(group, 3);
    const [replacement] = await cluster.untilReady(group, 1);
    await cluster.untilSteady(group);
    const machines = await cluster.machines(group);
    expect(await cluster.createdNodes(group)).toHaveLength(2);
    const asked = await cluster.evictions(group);
    expect(asked).toHaveLength(3);
    const ready = replacement?.status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready?.status).toBe('True');
    const readyAt = Date.parse(machines[0]?.status?.readyAt ?? '');
    for (const at of asked) expect(Date.parse(at)).toBeGreaterThanOrEqual(readyAt);
  });
});

describe('a group that has more nodes than a person wants', () => {
  it('gives back what is too many, and no more', longOnly, async () => {
    const group = 'lowered';
    await populated(group, 12);
    // Otherwise the pods of the third one would fit nowhere else, and it would stay.
    await cluster.scale(group, 8);
    await cluster.patchGroupStatus(group, { desiredNodes: 2 });
    await eventually('one node is gone', async () => (await cluster.nodes(group)).length === 2);
    await cluster.untilSteady(group);
    await cluster.untilRunning(group, 8);
    expect(await cluster.nodes(group)).toHaveLength(2);
    // The starter sees last that the machine is gone, and has the status written then.
    await eventually('the status says so', async () => {
      const { desiredNodes, currentNodes, readyNodes } = (await cluster.group(group)).status ?? {};
      return [desiredNodes, currentNodes, readyNodes].join() === '2,2,2';
    });
  });
});

describe('a group that is deleted', () => {
  it('gives all of its nodes back, and is gone then', async () => {
    const group = 'deleted';
    await populated(group, 8);
    await cluster.deleteGroup(group);
    await cluster.untilEmpty(group);
    await eventually('the group is gone', async () => !(await cluster.groupNames()).includes(group));
    expect(await cluster.evictions(group)).toHaveLength(8);
    expect(await cluster.createdNodes(group)).toHaveLength(2);
    await eventually('its workflow has ended', async () => (await cluster.describe(group)).status.name === 'COMPLETED');
  });
});
