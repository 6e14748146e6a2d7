import { MERGE_PATCH } from '../../../activities/node-group/group/group-objects.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MachineCluster, nodesOf } from './cluster.ts';

let cluster: MachineCluster;

beforeAll(async () => {
  cluster = await MachineCluster.start();
});

afterAll(async () => {
  await cluster?.stop();
});

describe('a group that is scaled up', () => {
  it('has its machines as ready nodes with its labels and taints, startup taints taken off, and says so', async () => {
    const name = 'plain';
    const taint = { key: 'example.com/dedicated', value: 'plain', effect: 'NoSchedule' };
    const input = await cluster.createGroup(name, {
      labels: { pool: 'plain' },
      taints: [taint],
      startupTaints: [{ key: 'example.com/starting', effect: 'NoSchedule' }],
    });
    const process = cluster.process();
    const fence = await cluster.fence('plan-plain');
    const scaled = await process.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 3)] });
    expect(scaled).toMatchObject({
      kind: 'created',
      machines: Array.from({ length: 3 }, () => ({ instanceType: 'small', reason: 'PendingPods' })),
    });
    expect((await cluster.machines(name)).map(({ phase }) => phase)).toEqual(['Pending', 'Pending', 'Pending']);
    expect(
      await cluster.untilDone('the machines are ready', async () => await process.ensureMachinesSettled(input)),
    ).toEqual({
      failed: [],
    });
    const nodes = await cluster.nodes(name);
    expect(nodes).toHaveLength(3);
    for (const { metadata, spec } of nodes) {
      expect(metadata?.labels).toMatchObject({
        pool: 'plain',
        'autoscaler.vpsie.com/managed': 'true',
        'autoscaler.vpsie.com/nodegroup': name,
        'autoscaler.vpsie.com/vpsienode': metadata?.name,
        'autoscaler.vpsie.com/offering': 'small',
      });
      expect(spec?.taints).toEqual([taint]);
    }
    const machines = await cluster.machines(name);
    expect(machines.map(({ phase }) => phase)).toEqual(['Ready', 'Ready', 'Ready']);
    expect(await cluster.status(name)).toMatchObject({ currentNodes: 3, readyNodes: 3, desiredNodes: 3 });
    expect(await cluster.events(name)).toEqual(['Normal ScalingUp']);
  });

  it('wants none where all of its machines are given back at once', async () => {
    const name = 'gives-all-back';
    const input = await cluster.createGroup(name);
    const process = cluster.process();
    await process.ensureScaledUp({ ...input, fence: await cluster.fence('plan-all'), newNodes: [nodesOf(name, 3)] });
    await cluster.untilDone('the machines are ready', async () => await process.ensureMachinesSettled(input));
    for (const { metadata } of await cluster.nodes(name)) await cluster.markDrained(metadata?.name ?? '');
    const machines = (await cluster.machines(name)).map((each) => each.name);
    await Promise.all(
      machines.map(async (machine) => {
        await cluster.untilDone('it is gone', async () => await process.ensureMachineDeleted({ ...input, machine }));
      }),
    );
    expect(await cluster.machines(name)).toEqual([]);
    expect(await cluster.status(name)).toMatchObject({ desiredNodes: 0 });
  });

  it('gives a machine back with its node, and wants one node less', async () => {
    const name = 'gives-back';
    const input = await cluster.createGroup(name);
    const process = cluster.process();
    await process.ensureScaledUp({ ...input, fence: await cluster.fence('plan-back'), newNodes: [nodesOf(name, 2)] });
    await cluster.untilDone('the machines are ready', async () => await process.ensureMachinesSettled(input));
    const [machine = ''] = (await cluster.machines(name)).map((each) => each.name);
    await cluster.markDrained(machine);
    await cluster.untilDone(
      'the machine is gone',
      async () => await process.ensureMachineDeleted({ ...input, machine }),
    );
    expect(await cluster.machines(name)).toHaveLength(1);
    expect(await cluster.nodes(name)).toHaveLength(1);
    await process.ensureGroupStatus(input);
    expect(await cluster.status(name)).toMatchObject({ currentNodes: 1, readyNodes: 1, desiredNodes: 1 });
    expect(await cluster.events(name)).toEqual(['Normal ScalingDown', 'Normal ScalingUp']);
  });

  it('leaves a machine alone whose node somebody took back after the drain', async () => {
    const name = 'taken-back';
    const input = await cluster.createGroup(name);
    const process = cluster.process();
    await process.ensureScaledUp({ ...input, fence: await cluster.fence('plan-taken'), newNodes: [nodesOf(name, 1)] });
    await cluster.untilDone('the machine is ready', async () => await process.ensureMachinesSettled(input));
    const [node] = await cluster.nodes(name);
    const [machine] = (await cluster.machines(name)).map((each) => each.name);
    const { name: nodeName = '', uid = '' } = node?.metadata ?? {};
    const drained = { ...input.target, node: nodeName, uid };
    expect(await process.ensureMachineDeleted({ ...input, machine: machine ?? '', drained })).toBe(true);
    expect(await cluster.machines(name)).toMatchObject([{ isDeleting: false, phase: 'Ready' }]);
  });

  it('keeps a node that somebody gave the label of another group', async () => {
    const name = 'relabelled';
    const input = await cluster.createGroup(name);
    const process = cluster.process();
    await process.ensureScaledUp({ ...input, fence: await cluster.fence('plan-label'), newNodes: [nodesOf(name, 1)] });
    await cluster.untilDone('the machine is ready', async () => await process.ensureMachinesSettled(input));
    const [node] = await cluster.nodes(name);
    const body = { metadata: { labels: { 'autoscaler.vpsie.com/nodegroup': 'other' } } };
    await cluster.core.patchNode({ name: node?.metadata?.name ?? '', body }, MERGE_PATCH);
    expect(await process.ensureMachinesSettled(input)).toEqual({ failed: [] });
    expect(await cluster.machines(name)).toMatchObject([{ isDeleting: false, phase: 'Ready' }]);
  });
});
