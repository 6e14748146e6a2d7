/** When machines are not created, given up, or left alone. */
import { PatchStrategy, setHeaderOptions, V1MicroTime } from '@kubernetes/client-node';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import { MERGE_PATCH } from '../../../activities/node-group/group/group-objects.ts';
import type { GroupInput } from '../../../activities/node-group/interface.ts';
import { MACHINES } from '../../../activities/node-group/machines/machine-objects.ts';
import { createKwokProvider } from '../../../activities/node-group/provider/kwok/kwok-provider.ts';
import type { NodeProvider } from '../../../activities/node-group/provider/provider.ts';
import { AUTOSCALER_LEASE, DELETE_WITHOUT_DRAIN, NAMESPACE, REPLACES } from '../../../domain/node-group/api/names.ts';
import { listOf } from '../../../domain/kernel/pod-requests.ts';
import { machinesInPlace } from '../../../domain/node-group/pair-replacements.ts';
import {
  claimedRemovals,
  parseClaims,
  PLAN_CLAIMS,
  PLAN_LEASE,
  upcomingMachines,
} from '../../../domain/node-group/plan-claim.ts';
import { NO_WISHES, parseWishes, PLAN_WISHES, type Wishes, withBound } from '../../../domain/node-group/plan-wishes.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { attempt, MachineCluster, nodesOf, TestClock } from './cluster.ts';
import { refusing, silent } from './providers.ts';

const MINUTE = 60_000;
const JSON_PATCH = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);

let cluster: MachineCluster;

beforeAll(async () => {
  cluster = await MachineCluster.start();
});

afterAll(async () => {
  await cluster?.stop();
});

async function upcoming(): Promise<readonly string[]> {
  const claims = parseClaims((await cluster.lease())?.metadata?.annotations?.[PLAN_CLAIMS]);
  return upcomingMachines(claims, new Set(), Date.now()).map(({ name }) => name);
}

async function claimedNodes(): Promise<readonly string[]> {
  return claimedRemovals(parseClaims((await cluster.lease())?.metadata?.annotations?.[PLAN_CLAIMS]).claims);
}

describe('a plan', () => {
  it('is carried out once: another one that was made of the same state writes nothing', async () => {
    const [first, second] = [await cluster.createGroup('first'), await cluster.createGroup('second')];
    const [one, other] = [await cluster.fence('plan-1'), await cluster.fence('plan-2')];
    const process = cluster.process();
    expect(await process.ensureScaledUp({ ...first, fence: one, newNodes: [nodesOf('first', 1)] })).toMatchObject({
      kind: 'created',
    });
    const before = await cluster.group('second');
    expect(await process.ensureScaledUp({ ...second, fence: other, newNodes: [nodesOf('second', 1)] })).toMatchObject({
      kind: 'superseded',
    });
    expect(await cluster.machines('second')).toEqual([]);
    expect(await cluster.group('second')).toEqual(before);
  });

  it('is carried out by several groups at once', async () => {
    const names = ['at-once-1', 'at-once-2', 'at-once-3', 'at-once-4'];
    const inputs = await Promise.all(names.map(async (name) => await cluster.createGroup(name)));
    const fence = await cluster.fence('plan-at-once');
    const answers = await Promise.all(
      inputs.map(
        async (input) =>
          await cluster.process().ensureScaledUp({ ...input, fence, newNodes: [nodesOf(input.target.group, 2)] }),
      ),
    );
    expect(answers.map(({ kind }) => kind)).toEqual(names.map(() => 'created'));
    for (const name of names) expect(await cluster.machines(name)).toHaveLength(2);
  });

  it('is not carried out again, whatever went since, by an attempt that has lost what others did', async () => {
    const name = 'once';
    let now = Date.now();
    const process = cluster.process({ clock: new TestClock(() => now) });
    const input = { ...(await cluster.createGroup(name)), newNodes: [nodesOf(name, 2)] };
    const scaleUp = { ...input, fence: await cluster.fence('plan-once') };
    await process.ensureScaledUp(scaleUp);
    await cluster.untilDone('they are ready', async () => await process.ensureMachinesSettled(input));
    const [gone = '', left] = (await cluster.machines(name)).map((machine) => machine.name);
    await cluster.markDrained(gone);
    await cluster.untilDone('one is gone', async () => await process.ensureMachineDeleted({ ...input, machine: gone }));
    now += 4 * MINUTE;
    expect(await process.ensureScaledUp(scaleUp)).toMatchObject({ kind: 'created', machines: [{ name: left }] });
    expect(await cluster.machines(name)).toHaveLength(1);
    expect(await cluster.status(name)).toMatchObject({ desiredNodes: 1 });
  });

  it('is claimed by the time of the API server, however wrong the clock of the worker is', async () => {
    for (const [name, aheadMs] of [
      ['ahead', 25 * MINUTE],
      ['behind', -25 * MINUTE],
    ] as const) {
      const input = { ...(await cluster.createGroup(name)), newNodes: [nodesOf(name, 1)] };
      const process = cluster.process({ clock: new ServerClock(() => Date.now() + aheadMs) });
      const fence = await cluster.fence(`plan-${name}`);
      expect(await process.ensureScaledUp({ ...input, fence })).toMatchObject({ kind: 'created' });
      const { claims } = parseClaims((await cluster.lease())?.metadata?.annotations?.[PLAN_CLAIMS]);
      const own = claims.filter(({ group }) => group === name);
      expect(own.map(({ at }) => Math.abs(at - Date.now()) < MINUTE)).toEqual([true]);
    }
  });

  it('of two at once for one pod is carried out by one group', async () => {
    const names = ['either-1', 'either-2'];
    const inputs = await Promise.all(names.map(async (name) => await cluster.createGroup(name)));
    const fences = await Promise.all(names.map(async (name) => await cluster.fence(`plan-${name}`)));
    const answers = await Promise.all(
      inputs.map(
        async (input, at) =>
          await cluster
            .process()
            .ensureScaledUp({ ...input, fence: fences[at] ?? '', newNodes: [nodesOf(input.target.group, 1)] }),
      ),
    );
    expect(answers.map(({ kind }) => kind).toSorted()).toEqual(['created', 'superseded']);
    const machines = await Promise.all(names.map(async (name) => await cluster.machines(name)));
    expect(machines.flat()).toHaveLength(1);
  });
});

describe('a node that the size asks for', () => {
  it('is not made by a plan that does not know yet that the size went down', async () => {
    const name = 'less-wanted';
    const input = await cluster.populated(name, 2);
    const process = cluster.process();
    const [gone = ''] = (await cluster.machines(name)).map((machine) => machine.name);
    await cluster.markDrained(gone);
    await cluster.untilDone('one is gone', async () => await process.ensureMachineDeleted({ ...input, machine: gone }));
    // Whoever planned has seen that the machine is gone, and not yet what its NodeGroup says since.
    const newNodes = [nodesOf(name, 1, { reason: 'BelowDesired' })];
    const fence = await cluster.fence('plan-made-before');
    expect(await process.ensureScaledUp({ ...input, fence, newNodes })).toEqual({
      kind: 'superseded',
      detail: 'less-wanted is to have 1 node and has 1: fewer are wanted than when the plan was made',
    });
    expect(await cluster.machines(name)).toHaveLength(1);
    await cluster.patchGroupStatus(name, { desiredNodes: 2 });
    expect(await process.ensureScaledUp({ ...input, fence, newNodes })).toMatchObject({ kind: 'created' });
    expect(await cluster.machines(name)).toHaveLength(2);
  });
});

describe('nodes that are to go', () => {
  it('are claimed by one of two plans that were made of the same state, and by no plan before a machine was', async () => {
    const names = ['goes-1', 'goes-2'];
    const inputs: GroupInput[] = [];
    for (const name of names) inputs.push(await cluster.populated(name, 1));
    const uids = await Promise.all(names.map(async (name) => (await cluster.nodes(name))[0]?.metadata?.uid ?? ''));
    const fences = await Promise.all(names.map(async (name) => await cluster.fence(`plan-removals-${name}`)));
    const claim = async (at: number): Promise<boolean> => {
      const input = inputs[at];
      if (input === undefined) throw new Error('there is no such group');
      const { target, uid } = input;
      const nodes = [uids[at] ?? ''];
      return await cluster.process().ensureRemovalsClaimed({ target, uid, fence: fences[at] ?? '', nodes });
    };
    const answers = await Promise.all([claim(0), claim(1)]);
    expect(answers.filter(Boolean)).toEqual([true]);
    const winner = answers.indexOf(true);
    expect(await claimedNodes()).toEqual([uids[winner]]);
    // An attempt that lost its answer, and one of a plan that is too old.
    expect([await claim(0), await claim(1)]).toEqual(answers);
    const [first] = inputs;
    if (first === undefined) throw new Error('there is no group');
    const newNodes = [nodesOf('goes-1', 1)];
    const lost = fences[1 - winner] ?? '';
    expect(await cluster.process().ensureScaledUp({ ...first, fence: lost, newNodes })).toMatchObject({
      kind: 'superseded',
    });
    // The plan that goes through may create as well.
    const won = { ...first, fence: fences[winner] ?? '', newNodes };
    expect(await cluster.process().ensureScaledUp(won)).toMatchObject({ kind: 'created' });
  });

  it('are claimed with the machine that is to replace them, before they have a mark', async () => {
    const input = await cluster.populated('replacing', 1);
    const [node] = await cluster.nodes('replacing');
    const fence = await cluster.fence('plan-replacing-2');
    const newNodes = [nodesOf('replacing', 1)];
    const uid = node?.metadata?.uid ?? '';
    await cluster.process().ensureScaledUp({ ...input, fence, newNodes, replaces: [uid] });
    expect(await claimedNodes()).toContain(uid);
  });

  it('are drained for the machine that says so, also where the first of several was not made', async () => {
    const name = 'one-of-two';
    let now = Date.now();
    const process = cluster.process({ clock: new TestClock(() => now) });
    const input = await cluster.populated(name, 2);
    const replaces = (await cluster.nodes(name)).map(({ metadata }) => metadata?.uid ?? '');
    const replacement = nodesOf(name, 1, { reason: 'Replacement', podCount: 0 });
    const fence = await cluster.fence('plan-one-of-two-2');
    const scaleUp = { ...input, fence, newNodes: [replacement, replacement], replaces };
    const made = await process.ensureScaledUp(scaleUp);
    expect(made.kind === 'created' ? made.machines.map((machine) => machine.replaces) : []).toEqual(replaces);
    const [first = { name: '' }] = made.kind === 'created' ? made.machines : [];
    const metadata = { annotations: { [DELETE_WITHOUT_DRAIN]: 'true' } };
    await cluster.custom.patchNamespacedCustomObject(
      { ...MACHINES, name: first.name, body: { metadata } },
      MERGE_PATCH,
    );
    await cluster.custom.deleteNamespacedCustomObject({ ...MACHINES, name: first.name });
    await cluster.untilDone(
      'the first one is gone',
      async () => await process.ensureMachineDeleted({ ...input, machine: first.name }),
    );
    now += 4 * MINUTE;
    expect(await process.ensureScaledUp(scaleUp)).toMatchObject({
      kind: 'created',
      machines: [{ replaces: replaces[1] }],
    });
  });

  it('have the machines that an attempt of an earlier version has made, which say of no node, and no others', async () => {
    const name = 'made-before';
    const input = await cluster.populated(name, 2);
    const nodes = (await cluster.nodes(name)).map(({ metadata }) => ({
      uid: metadata?.uid ?? '',
      instanceType: 'small',
    }));
    const replacement = nodesOf(name, 1, { reason: 'Replacement', podCount: 0 });
    const fence = await cluster.fence('plan-made-before-2');
    const replaces = nodes.map(({ uid }) => uid);
    const scaleUp = { ...input, fence, newNodes: [replacement, replacement], replaces };
    const made = await cluster.process().ensureScaledUp(scaleUp);
    const machines = made.kind === 'created' ? made.machines : [];
    const body = { metadata: { annotations: { [REPLACES]: null } } };
    for (const said of [1, 0]) {
      const { name: silent = '' } = machines[said] ?? {};
      await cluster.custom.patchNamespacedCustomObject({ ...MACHINES, name: silent, body }, MERGE_PATCH);
      const again = await cluster.process().ensureScaledUp(scaleUp);
      const pairs = machinesInPlace(nodes, again.kind === 'created' ? again.machines : []);
      expect([...pairs.keys()].toSorted()).toEqual(replaces.toSorted());
      expect(new Set(pairs.values()).size).toBe(2);
    }
    expect(await cluster.machines(name)).toHaveLength(4);
  });

  it('have their replacements beside the machines that the same plan makes for pods', async () => {
    const name = 'both';
    const populated = await cluster.populated(name, 1);
    const [node] = await cluster.nodes(name);
    const input = { ...populated, fence: await cluster.fence('plan-both-2') };
    const [replacing, forPods] = [[nodesOf(name, 1, { reason: 'Replacement', podCount: 0 })], [nodesOf(name, 2)]];
    const first = { ...input, newNodes: replacing, replaces: [node?.metadata?.uid ?? ''] };
    const answers = [
      await cluster.process().ensureScaledUp(first),
      await cluster.process().ensureScaledUp({ ...input, newNodes: forPods }),
      await cluster.process().ensureScaledUp(first),
    ];
    expect(answers.map((answer) => (answer.kind === 'created' ? answer.machines.length : 0))).toEqual([1, 2, 1]);
    expect(answers[2]).toEqual(answers[0]);
    expect(await cluster.machines(name)).toHaveLength(4);
  });
});

describe('a machine that never registers', () => {
  it('is given up after its time and deleted, also at the minimum, and its group backs off', async () => {
    const name = 'never';
    const provider = silent();
    let now = Date.now();
    const process = cluster.process({ provider: () => provider, clock: new TestClock(() => now) });
    const input = await cluster.createGroup(name, { minNodes: 2 });
    const fence = await cluster.fence('plan-never');
    const newNodes = [nodesOf(name, 2, { reason: 'BelowMinimum', podCount: 0 })];
    await process.ensureScaledUp({ ...input, fence, newNodes });
    expect(await attempt(async () => await process.ensureMachinesSettled(input))).toBe('again');
    expect((await cluster.machines(name)).map(({ phase }) => phase)).toEqual(['Joining', 'Joining']);
    expect(provider.made.size).toBe(2);
    now += 15 * MINUTE + 1000;
    const driven = await cluster.untilDone('both are gone', async () => await process.ensureMachinesSettled(input));
    expect(driven.failed).toHaveLength(2);
    expect(provider.made.size).toBe(0);
    expect(await cluster.machines(name)).toEqual([]);
    const status = await cluster.status(name);
    expect(status).toMatchObject({ currentNodes: 0, desiredNodes: 2, backoff: { failures: 1 } });
    const { until } = status['backoff'] as { readonly until: string };
    expect(Math.round((Date.parse(until) - now) / MINUTE)).toBe(5);
    expect(status['conditions']).toContainEqual(
      expect.objectContaining({ type: 'Error', status: 'True', reason: 'MachineFailed' }),
    );
    expect(await cluster.events(name)).toEqual(['Normal ScalingUp', 'Warning ScaleUpFailed', 'Warning ScaleUpFailed']);
  });

  it('is given up at once where its provider says that there is none, and counts as coming no longer', async () => {
    const name = 'refused';
    const input = await cluster.createGroup(name);
    const fence = await cluster.fence('plan-refused');
    const process = cluster.process({ provider: () => refusing('the quota is exceeded') });
    const scaled = await process.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 1)] });
    const machines = scaled.kind === 'created' ? scaled.machines.map((machine) => machine.name) : [];
    expect(await upcoming()).toEqual(expect.arrayContaining([...machines]));
    const driven = await cluster.untilDone('it is gone', async () => await process.ensureMachinesSettled(input));
    expect(driven.failed).toEqual([expect.stringContaining('the quota is exceeded')]);
    expect(await cluster.machines(name)).toEqual([]);
    // Nobody but the pods had wanted it: another group is to be tried.
    expect(await cluster.status(name)).toMatchObject({ desiredNodes: 0, backoff: { failures: 1 } });
    expect(await upcoming()).not.toEqual(expect.arrayContaining([...machines]));
  });
});

describe('a machine whose node is gone', () => {
  it('is ready again when it registers, and is deleted when it does not', async () => {
    const name = 'lost';
    let now = Date.now();
    const withoutMaking = (kubernetes: Kubernetes): NodeProvider => createKwokProvider({ kubernetes });
    const process = cluster.process({ provider: withoutMaking, clock: new TestClock(() => now) });
    const input = await cluster.createGroup(name, { labels: { pool: name } });
    const fence = await cluster.fence('plan-lost');
    await process.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 1)] });
    await cluster.untilDone('it is ready', async () => await process.ensureMachinesSettled(input));
    const [node] = await cluster.nodes(name);
    const nodeName = node?.metadata?.name ?? '';
    await cluster.core.deleteNode({ name: nodeName });
    now += 60 * MINUTE;
    expect(await attempt(async () => await process.ensureMachinesSettled(input))).toBe('again');
    expect((await cluster.machines(name)).map(({ phase }) => phase)).toEqual(['Joining']);
    const { annotations = {} } = node?.metadata ?? {};
    const providerID = node?.spec?.providerID ?? '';
    await cluster.core.createNode({ body: { metadata: { name: nodeName, annotations }, spec: { providerID } } });
    await cluster.untilDone('it is ready again', async () => await process.ensureMachinesSettled(input));
    expect((await cluster.nodes(name)).map(({ metadata }) => metadata?.labels?.['pool'])).toEqual([name]);

    await cluster.core.deleteNode({ name: nodeName });
    expect(await attempt(async () => await process.ensureMachinesSettled(input))).toBe('again');
    now += 15 * MINUTE + 1000;
    const driven = await cluster.untilDone('it is gone', async () => await process.ensureMachinesSettled(input));
    expect(driven.failed).toEqual([]);
    expect(await cluster.machines(name)).toEqual([]);
    expect((await cluster.status(name))['backoff']).toBeUndefined();
  });
});

describe('machines whose Nodes are deleted at once', () => {
  it('stay for an hour where they are more than the rest of their group, which says so', async () => {
    const name = 'vanished';
    const input = await cluster.populated(name, 3);
    let now = Date.now();
    const process = cluster.process({ clock: new TestClock(() => now) });
    const settle = async (): Promise<unknown> => await attempt(async () => await process.ensureMachinesSettled(input));
    const [first, second, third] = (await cluster.nodes(name)).map(({ metadata }) => metadata?.name ?? '');
    for (const node of [first, second, third]) await cluster.core.deleteNode({ name: node ?? '' });
    expect(await settle()).toBe('again');
    now += 16 * MINUTE;
    expect(await settle()).toBe('again');
    expect((await cluster.machines(name)).map(({ phase, isDeleting }) => [phase, isDeleting])).toEqual(
      Array.from({ length: 3 }, () => ['Joining', false]),
    );
    const { conditions } = await cluster.status(name);
    expect(conditions).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'Ready', status: 'False', reason: 'TooFewReady' })]),
    );
    expect(await cluster.events(name)).toContain('Warning TooFewReady');
    now += 45 * MINUTE;
    await cluster.untilDone('they are gone', async () => await process.ensureMachinesSettled(input));
    expect(await cluster.machines(name)).toEqual([]);
  });
});

describe('a machine whose node has come back and is not ready', () => {
  it('is given up in its time, and not while pods run on the node', async () => {
    const name = 'unready-used';
    const input = await cluster.populated(name, 1);
    const [machine] = await cluster.machines(name);
    const node = machine?.node ?? '';
    await cluster.run(name, node);
    await cluster.playKubelet(node, false);
    await cluster.patchMachineStatus(machine?.name ?? '', { phase: 'Joining' });
    const late = cluster.process({ clock: new TestClock(() => Date.now() + 16 * MINUTE) });
    expect(await attempt(async () => await late.ensureMachinesSettled(input))).toBe('again');
    expect(await cluster.machines(name)).toMatchObject([{ phase: 'Joining', isDeleting: false }]);
    await cluster.core.deleteNamespacedPod({ namespace: 'default', name, gracePeriodSeconds: 0 });
    await cluster.untilDone('it is gone', async () => await late.ensureMachinesSettled(input));
    expect(await cluster.machines(name)).toEqual([]);
  });
});

describe('a group that is deleted', () => {
  it('is kept until its machines are gone, and those that are no nodes yet are not waited for', async () => {
    const name = 'deleted';
    const provider = silent();
    const process = cluster.process({ provider: () => provider });
    const input = await cluster.createGroup(name);
    const fence = await cluster.fence('plan-deleted');
    await process.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 2)] });
    await attempt(async () => await process.ensureMachinesSettled(input));
    await cluster.deleteGroup(name);
    expect(await attempt(async () => await process.ensureGroupReleased(input))).toBe('again');
    await cluster.untilDone('its machines are gone', async () => await process.ensureMachinesSettled(input));
    expect([provider.made.size, await cluster.machines(name)]).toEqual([0, []]);
    expect(await cluster.events(name)).not.toContain('Warning ScaleUpFailed');
    await process.ensureGroupReleased(input);
    await eventually('the group is gone', async () => (await cluster.group(name)) === null);
    // For whoever asks again.
    await process.ensureGroupReleased(input);
    const late = { ...input, fence: await cluster.fence('plan-late'), newNodes: [nodesOf(name, 1)] };
    expect(await process.ensureScaledUp(late)).toMatchObject({ kind: 'superseded' });
  });
});

describe('the status of a group', () => {
  it('has its instance types as the provider has them', async () => {
    const process = cluster.process();
    const input = await cluster.createGroup('types');
    await process.ensureInstanceTypes(input);
    const { instanceTypes, instanceTypesTime } = await cluster.status('types');
    expect(instanceTypes).toMatchObject([
      { id: 'small', capacity: { cpu: 2000, pods: 110 }, pricePerHour: 0.1, isAvailable: true },
      { id: 'large', capacity: { cpu: 8000 } },
    ]);
    expect(Date.now() - Date.parse(String(instanceTypesTime))).toBeLessThan(MINUTE);
  });

  it('is written only where something differs', async () => {
    const process = cluster.process();
    const input = await cluster.createGroup('quiet');
    await process.ensureGroupStatus(input);
    await process.ensureInstanceTypes(input);
    const before = await cluster.group('quiet');
    await process.ensureGroupStatus(input);
    await process.ensureInstanceTypes(input);
    expect((await cluster.group('quiet'))?.metadata.resourceVersion).toBe(before?.metadata.resourceVersion);
  });
});

describe("while the VPSie autoscaler's controller runs", () => {
  it('nothing is written', async () => {
    const name = 'foreign';
    const input = await cluster.createGroup(name);
    const process = cluster.process();
    const fence = await cluster.fence('plan-foreign');
    await process.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 1)] });
    await cluster.populated('held-drained', 1);
    const [drained] = await cluster.machines('held-drained');
    await cluster.markDrained(drained?.node ?? '');
    const given = { target: { ...input.target, group: 'held-drained' }, uid: drained?.heldBy ?? '' };
    const spec = { holderIdentity: 'vpsie-autoscaler-0', renewTime: new V1MicroTime() };
    const body = { metadata: { name: AUTOSCALER_LEASE, namespace: NAMESPACE }, spec };
    await cluster.coordination.createNamespacedLease({ namespace: NAMESPACE, body });
    const seen = async () => [await cluster.group(name), await cluster.machines(name), await cluster.lease()];
    const before = await seen();
    const held = cluster.process();
    const newNodes = [nodesOf(name, 1)];
    for (const write of [
      async () => await held.ensureScaledUp({ ...input, fence: await cluster.fence('plan-held'), newNodes }),
      async () => await held.ensureMachinesSettled(input),
      async () => await held.ensureMachineDeleted({ ...given, machine: drained?.name ?? '' }),
      async () => await held.ensureInstanceTypes(input),
      async () => await held.ensureGroupStatus(input),
    ]) {
      await expect(write()).rejects.toMatchObject({ type: 'PolicyChanged', nonRetryable: true });
    }
    expect(await seen()).toEqual(before);
    expect(await cluster.nodes(name)).toEqual([]);
    await cluster.coordination.deleteNamespacedLease({ namespace: NAMESPACE, name: AUTOSCALER_LEASE });
    await cluster.untilDone('it is ready', async () => await held.ensureMachinesSettled(input));
    expect(await cluster.nodes(name)).toHaveLength(1);
  });

  it('nothing is written until it has renewed nothing for a minute, by the clock that all writes go by', async () => {
    const input = await cluster.createGroup('foreign-and-gone');
    const spec = { holderIdentity: 'vpsie-autoscaler-0', renewTime: new V1MicroTime() };
    const body = { metadata: { name: AUTOSCALER_LEASE, namespace: NAMESPACE }, spec };
    await cluster.coordination.createNamespacedLease({ namespace: NAMESPACE, body });
    const after = async (ms: number): Promise<void> =>
      await cluster.process({ clock: new TestClock(() => Date.now() + ms) }).ensureInstanceTypes(input);
    await expect(after(0)).rejects.toMatchObject({ type: 'PolicyChanged' });
    await after(2 * MINUTE);
    expect(await cluster.status('foreign-and-gone')).toMatchObject({
      instanceTypes: [{ id: 'small' }, { id: 'large' }],
    });
    await cluster.coordination.deleteNamespacedLease({ namespace: NAMESPACE, name: AUTOSCALER_LEASE });
  });
});

describe('the machine of a node that was drained', () => {
  it('stays for as long as too few other nodes are ready, and goes when they are again', async () => {
    const name = 'drained';
    const process = cluster.process();
    const input = await cluster.createGroup(name);
    await process.ensureScaledUp({
      ...input,
      fence: await cluster.fence('plan-drained'),
      newNodes: [nodesOf(name, 2)],
    });
    await cluster.untilDone('they are ready', async () => await process.ensureMachinesSettled(input));
    const [machine] = await cluster.machines(name);
    const node = machine?.node ?? '';
    const nodes = await cluster.nodes(name);
    const uid = nodes.find(({ metadata }) => metadata?.name === node)?.metadata?.uid ?? '';
    const other = nodes.find(({ metadata }) => metadata?.name !== node)?.metadata?.name ?? '';
    await cluster.markDrained(node);
    const drained = { ...input.target, node, uid, reason: 'Underutilized' as const };
    // A process of its own each time: one goes by what it has read of the nodes for a second.
    const deleteIt = async () =>
      await cluster.process().ensureMachineDeleted({ ...input, machine: machine?.name ?? '', drained });

    await cluster.playKubelet(other, false);
    expect(await deleteIt()).toBe(true);
    expect(await cluster.machines(name)).toMatchObject([{ isDeleting: false }, { isDeleting: false }]);
    await cluster.playKubelet(other, true);
    expect(await cluster.untilDone('it is gone', deleteIt)).toBe(false);
    expect(await cluster.machines(name)).toHaveLength(1);
  });
});

describe('the Lease of plans', () => {
  it('has nothing of nodes that are not there any more, and tells the workflow which', async () => {
    const input = await cluster.createGroup('wishing');
    const name = 'wished';
    const { metadata } = await cluster.core.createNode({ body: { metadata: { name } } });
    const until = Date.now() + 60 * MINUTE;
    const of = (node: string, uid: string) => ({
      requested: [{ node, by: 'alice' }],
      failed: [{ node, uid, detail: 'a budget refused', until }],
      rejected: [{ key: `${uid} Empty`, by: 'alice', until }],
    });
    const [there, gone] = [of(name, metadata?.uid ?? ''), of('gone', 'uid-gone')];
    const both = {
      requested: [...there.requested, ...gone.requested],
      failed: [...there.failed, ...gone.failed],
      rejected: [...there.rejected, ...gone.rejected],
    };
    const answer = await cluster.process().ensureWishesKept({ ...input, wishes: both, forgetsGone: true });
    expect(answer).toEqual({ names: ['gone'], uids: ['uid-gone'] });
    expect(await wishesOf('wishing')).toMatchObject(there);
    await cluster.process().ensureWishesKept({ ...input, wishes: NO_WISHES });
    expect(await wishesOf('wishing')).toBeUndefined();
  });

  it('binds a request for a drain to the Node that has the name, and another one that gets the name does not inherit it', async () => {
    const input = await cluster.createGroup('binding');
    const name = 'bound';
    const keep = async (wishes: Wishes) =>
      await cluster.process().ensureWishesKept({ ...input, wishes, forgetsGone: true, bindsNodes: true });
    const create = async (): Promise<string> =>
      (await cluster.core.createNode({ body: { metadata: { name } } })).metadata?.uid ?? '';
    const uid = await create();
    const asked = { ...NO_WISHES, requested: [{ node: name, by: 'alice' }] };
    const first = await keep(asked);
    expect(first).toEqual({ names: [], uids: [], bound: { [name]: uid } });
    const bound = withBound(asked, first?.bound ?? {});
    expect(await wishesOf('binding')).toMatchObject(bound);
    await cluster.core.deleteNode({ name });
    await create();
    expect(await keep(bound)).toEqual({ names: [], uids: [uid], bound: {} });
    expect(await wishesOf('binding')).toBeUndefined();
    await cluster.core.deleteNode({ name });
  });

  it('takes what other groups write where the part of one is huge, and that one says so', async () => {
    const names = ['huge', 'modest', 'claiming'] as const;
    const [huge, modest, claiming] = await Promise.all(names.map(async (name) => await cluster.createGroup(name)));
    if (huge === undefined || modest === undefined || claiming === undefined) throw new Error('there are no groups');
    const node = 'asked-for';
    await cluster.core.createNode({ body: { metadata: { name: node } } });
    const asking = (count: number) => ({
      ...NO_WISHES,
      requested: Array.from({ length: count }, () => ({ node, by: 'a'.repeat(200) })),
    });
    // An earlier version has written down as much as the API server takes.
    const text = JSON.stringify([{ group: 'huge', uid: huge.uid, ...asking(1_000) }]);
    const lease = await cluster.lease();
    const body = { metadata: { annotations: { [PLAN_WISHES]: text } } };
    const where = { namespace: lease?.metadata?.namespace ?? '', name: PLAN_LEASE };
    await cluster.coordination.patchNamespacedLease({ ...where, body }, MERGE_PATCH);

    const fence = await cluster.fence('plan-claiming');
    const scaled = await cluster.process().ensureScaledUp({ ...claiming, fence, newNodes: [nodesOf('claiming', 1)] });
    expect(scaled).toMatchObject({ kind: 'created' });
    await cluster.process().ensureWishesKept({ ...modest, wishes: asking(1) });
    expect(await wishesOf('modest')).toMatchObject(asking(1));
    expect(await wishesOf('huge')).toBeUndefined();
    expect(await conditionOf('huge')).toMatchObject({ status: 'True', reason: 'TooLarge' });

    const refusal: unknown = await cluster
      .process()
      .ensureWishesKept({ ...huge, wishes: asking(1_000) })
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    expect(String(refusal)).toMatch(/would take 2\d\d KiB, and may take 192 KiB; most is of huge \(2\d\d KiB\)/);
    expect(await conditionOf('huge')).toMatchObject({ message: expect.stringContaining('most is of huge') });
    expect(await wishesOf('modest')).toMatchObject(asking(1));
    // Nobody has said so for half an hour.
    const later = cluster.process({ clock: new TestClock(() => Date.now() + 31 * MINUTE) });
    await later.ensureGroupStatus(huge);
    expect(await conditionOf('huge')).toBeUndefined();
  });

  async function wishesOf(name: string) {
    const written = parseWishes((await cluster.lease())?.metadata?.annotations?.[PLAN_WISHES]);
    return written.find(({ group }) => group === name);
  }

  async function conditionOf(name: string) {
    return listOf((await cluster.status(name))['conditions']).find(({ type }) => type === 'LeaseFull');
  }
});

describe("while the definitions are the VPSie autoscaler's", () => {
  it('nothing is written, since it would be lost', async () => {
    const input = await cluster.createGroup('pruned');
    const definition = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' } as const;
    const name = 'vpsienodes.autoscaler.vpsie.com';
    const path = '/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/phaseSince';
    const body = [{ op: 'remove', path }];
    await cluster.custom.patchClusterCustomObject({ ...definition, name, body }, JSON_PATCH);
    const before = await cluster.group('pruned');
    // The API server answers nothing for a moment while it takes the definition over.
    const refusal = await eventually('nothing is written', async () => {
      const failed: unknown = await cluster
        .process()
        .ensureGroupStatus(input)
        .catch((error: unknown) => error);
      return failed instanceof ApplicationFailure && failed.type === 'PolicyChanged' && failed;
    });
    expect(refusal).toMatchObject({ nonRetryable: true, message: expect.stringContaining(name) });
    expect(await cluster.group('pruned')).toEqual(before);
  });
});
