import { MERGE_PATCH } from '../../../activities/node-group/group/group-objects.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NodeGroupActivities } from '../../../activities/node-group/interface.ts';
import { FRESH_TAINT } from '../../../domain/node-group/plan/cluster-packing.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { MACHINES } from '../../../activities/node-group/machines/machine-objects.ts';
import { MachineCluster, nodesOf, TestClock } from './cluster.ts';

/** At least as many as it takes to ask for the deletion of a machine. */
const REQUESTS = 30;

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
      // That a node was not ready is taken off by Kubernetes in its own time.
      expect(spec?.taints?.filter(({ key }) => !FRESH_TAINT.test(key))).toEqual([taint]);
    }
    const machines = await cluster.machines(name);
    expect(machines.map(({ phase }) => phase)).toEqual(['Ready', 'Ready', 'Ready']);
    expect(await cluster.status(name)).toMatchObject({ currentNodes: 3, readyNodes: 3, desiredNodes: 3 });
    expect(await cluster.events(name)).toEqual(['Normal ScalingUp']);
  });

  it('has nodes that are filled later than others for a minute where the plan says so, whoever goes on then', async () => {
    const name = 'later';
    const input = await cluster.createGroup(name);
    const fence = await cluster.fence('plan-later');
    const newNodes = [{ ...nodesOf(name, 1), fillLater: 2 }];
    await cluster.process().ensureScaledUp({ ...input, fence, newNodes });
    const settle = async (now: () => number): Promise<readonly (readonly [string, string])[]> => {
      const process = cluster.process({ clock: new TestClock(now) });
      await cluster.untilDone('the machine is settled', async () => await process.ensureMachinesSettled(input));
      const [node] = await cluster.nodes(name);
      const taints = node?.spec?.taints ?? [];
      return taints.filter(({ key }) => !FRESH_TAINT.test(key)).map(({ key, effect }) => [key, effect]);
    };
    const wishes = [1, 2].map((number) => [`autoscaler.vpsie.com/fill-later-${number}`, 'PreferNoSchedule']);
    expect(await settle(() => Date.now())).toEqual(wishes);
    expect(await settle(() => Date.now())).toEqual(wishes);
    expect(await settle(() => Date.now() + 60_000)).toEqual([]);
    expect((await cluster.machines(name)).map(({ phase }) => phase)).toEqual(['Ready']);
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

  it.each([
    { meanwhile: 'another one goes', isThere: true, more: -1 },
    { meanwhile: 'another one goes, and its node was deleted before', isThere: false, more: -1 },
    { meanwhile: 'another one comes', isThere: true, more: 1 },
  ])('wants one less than before, at whichever request $meanwhile', async ({ isThere, more }) => {
    const name = `meanwhile-${isThere}-${more}`.toLowerCase();
    const input = await cluster.populated(name, 2 * REQUESTS);
    const undisturbed = cluster.process();
    const give = async (process: NodeGroupActivities, machine: string): Promise<void> => {
      await cluster.untilDone('it is gone', async () => await process.ensureMachineDeleted({ ...input, machine }));
    };
    const names = (await cluster.machines(name)).map((each) => each.name);
    const takeOne = async (): Promise<string> => {
      const machine = names.shift() ?? '';
      await cluster.markDrained(machine);
      if (!isThere) await cluster.core.deleteNode({ name: machine });
      return machine;
    };
    const scaleUp = async (plan: string): Promise<void> => {
      const fence = await cluster.fence(plan);
      const newNodes = [nodesOf(name, 1)];
      expect(await undisturbed.ensureScaledUp({ ...input, fence, newNodes })).toMatchObject({ kind: 'created' });
    };
    let wanted = names.length;
    /** Gives one back, and says whether its deletion had not been asked for yet when that happened: afterwards nothing is counted. */
    const giveOne = async (disturbedAt: number): Promise<boolean> => {
      const one = await takeOne();
      const other = more < 0 ? await takeOne() : '';
      let requests = 0;
      let isInTime = false;
      const before = async (): Promise<void> => {
        requests += 1;
        if (requests !== disturbedAt) return;
        isInTime = (await cluster.machines(name)).some((machine) => machine.name === one && !machine.isDeleting);
        if (more < 0) await give(undisturbed, other);
        else await scaleUp(`plan-${name}-${disturbedAt}`);
      };
      await give(cluster.process({ before }), one);
      wanted += more - 1;
      expect([disturbedAt, await cluster.status(name)]).toMatchObject([disturbedAt, { desiredNodes: wanted }]);
      return isInTime;
    };
    let request = 1;
    while (await giveOne(request)) request += 1;
    expect(await cluster.machines(name)).toHaveLength(wanted);
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

  it('drains a node first that was taken back after its machine had said that it goes, and whose VPSieNode a person deletes then', async () => {
    const name = 'deleted-back';
    const input = await cluster.populated(name, 1);
    const process = cluster.process();
    const [machine = ''] = (await cluster.machines(name)).map((each) => each.name);
    // As an end between the size and the deletion leaves it.
    await cluster.patchMachineStatus(machine, { phase: 'Deleting', phaseSince: formatInstant(Date.now()) });
    await cluster.custom.deleteNamespacedCustomObject({ ...MACHINES, name: machine });
    expect(await process.ensureMachineDeleted({ ...input, machine })).toBe(true);
    await process.ensureMachinesSettled(input);
    expect(await cluster.machines(name)).toMatchObject([{ name: machine, phase: 'Ready', isDrainRequested: true }]);
    expect(await cluster.nodes(name)).toHaveLength(1);
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
