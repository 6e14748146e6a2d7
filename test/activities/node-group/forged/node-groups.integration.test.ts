/** What whoever schedules activities says of node groups, and what it gains: nodes, machines and claims are read where they are. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writePause } from '../../../../activities/kernel/pause.ts';
import { orNull } from '../../../../activities/kubernetes/failure.ts';
import { MERGE_PATCH } from '../../../../activities/node-group/group/group-objects.ts';
import { MACHINES } from '../../../../activities/node-group/machines/machine-objects.ts';
import type { GroupInput } from '../../../../activities/node-group/interface.ts';
import { claimedRemovals, parseClaims, PLAN_CLAIMS } from '../../../../domain/node-group/plan-claim.ts';
import { parseWishes, PLAN_WISHES } from '../../../../domain/node-group/plan-wishes.ts';
import type { DrainTarget } from '../../../../domain/node-group/target.ts';
import { attempt, MachineCluster, nodesOf, SYSTEM_NAMESPACE, TestClock } from '../../../node-group/machines/cluster.ts';
import { silent } from '../../../node-group/machines/providers.ts';

const PROGRESS = { reason: 'Requested', timeoutMs: 300_000, progress: null, refusedBy: [] } as const;
const REFUSED = { type: 'PolicyChanged', nonRetryable: true } as const;

let cluster: MachineCluster;

beforeAll(async () => {
  cluster = await MachineCluster.start();
});
afterAll(async () => {
  await cluster?.stop();
});

/** A group with one node. */
async function pool(name: string): Promise<{
  readonly input: GroupInput;
  readonly machine: string;
  readonly target: DrainTarget;
}> {
  const input = await cluster.populated(name, 1);
  const [machine] = await cluster.machines(name);
  const target = await cluster.drainTarget(name, machine?.node ?? '');
  return { input, machine: machine?.name ?? '', target };
}

/** A group with two machines that name the first one's Node, on which a pod runs. */
async function pair(group: string) {
  const input = await cluster.populated(group, 2);
  const machines = (await cluster.machines(group)).map(({ name }) => name).toSorted();
  const [first, second] = await cluster.machines(group);
  const name = first?.node ?? '';
  // Its provider does not say whose it is.
  await cluster.core.deleteNode({ name: second?.node ?? '' });
  for (const machine of machines) await cluster.patchMachineStatus(machine, { nodeName: name, providerID: null });
  await cluster.run(group, name);
  return { input, machines, name, target: await cluster.drainTarget(group, name) };
}

async function isThere(pod: string): Promise<boolean> {
  const found = await orNull(cluster.core.readNamespacedPod({ namespace: 'default', name: pod }));
  return found !== null && found.metadata?.deletionTimestamp === undefined;
}

async function isMarked({ node }: DrainTarget): Promise<boolean> {
  const { metadata, spec } = await cluster.core.readNode({ name: node });
  return spec?.unschedulable === true || 'autoscaler.vpsie.com/drain' in (metadata?.annotations ?? {});
}

async function claim({ target, uid }: GroupInput, nodes: readonly string[]): Promise<boolean> {
  const fence = await cluster.fence(`claim-${target.group}-${nodes.join()}`);
  return await cluster.process().ensureRemovalsClaimed({ target, uid, fence, nodes });
}

async function claims() {
  return parseClaims((await cluster.lease())?.metadata?.annotations?.[PLAN_CLAIMS]).claims;
}

describe('a machine whose deletion is asked for', () => {
  it('stays with its pods where its node was not drained, whatever is said of that', async () => {
    const { input, machine, target } = await pool('undrained');
    await cluster.run('undrained', target.node);
    const said = {
      nothing: undefined,
      'that it was drained': target,
      'that a person asked for it': { ...target, reason: 'Requested' as const },
      'that it is broken': { ...target, reason: 'NotReady' as const },
      'that another node was drained, which is gone': { ...target, node: 'none', uid: 'uid-of-none' },
      'that the node is another one': { ...target, uid: 'uid-of-none' },
    };
    for (const [what, drained] of Object.entries(said)) {
      const more = drained === undefined ? {} : { drained };
      const answer = await attempt(
        async () => await cluster.process().ensureMachineDeleted({ ...input, machine, ...more }),
      );
      expect([what, answer]).toEqual([what, true]);
    }
    expect(await cluster.machines('undrained')).toMatchObject([{ isDeleting: false, phase: 'Ready' }]);
    expect(await isThere('undrained')).toBe(true);
  });

  it('stays while pods are on its node that came after the drain, and goes when they have gone', async () => {
    const { input, machine, target } = await pool('come-back');
    await cluster.markDrained(target.node);
    await cluster.run('come-back', target.node);
    const deleteIt = async () => await cluster.process().ensureMachineDeleted({ ...input, machine, drained: target });
    expect(await attempt(deleteIt)).toBe(true);
    expect(await isThere('come-back')).toBe(true);
    await cluster.core.deleteNamespacedPod({ namespace: 'default', name: 'come-back', gracePeriodSeconds: 0 });
    expect(await cluster.untilDone('it is gone', deleteIt)).toBe(false);
    expect(await cluster.machines('come-back')).toEqual([]);
  });

  it('stays where its object was deleted and its node, which is not written there yet, was not drained', async () => {
    const { input, machine, target } = await pool('unnamed');
    await cluster.run('unnamed', target.node);
    const body = { status: { nodeName: null, phase: 'Joining' } };
    await cluster.custom.patchNamespacedCustomObjectStatus({ ...MACHINES, name: machine, body }, MERGE_PATCH);
    await cluster.custom.deleteNamespacedCustomObject({ ...MACHINES, name: machine });
    const deleteIt = async () => await cluster.process().ensureMachineDeleted({ ...input, machine });
    expect(await attempt(deleteIt)).toBe(true);
    expect(await isThere('unnamed')).toBe(true);
    // Who wants no drain says so on the object.
    const metadata = { annotations: { 'autoscaler.vpsie.com/delete-without-drain': 'true' } };
    await cluster.custom.patchNamespacedCustomObject({ ...MACHINES, name: machine, body: { metadata } }, MERGE_PATCH);
    expect(await cluster.untilDone('it is gone', deleteIt)).toBe(false);
  });

  it('stays while it has not become a node', async () => {
    const name = 'coming';
    const provider = silent();
    const process = cluster.process({ provider: () => provider });
    const input = await cluster.createGroup(name);
    await process.ensureScaledUp({ ...input, fence: await cluster.fence('plan-coming'), newNodes: [nodesOf(name, 1)] });
    await attempt(async () => await process.ensureMachinesSettled(input));
    const [machine] = await cluster.machines(name);
    expect(
      await attempt(async () => await process.ensureMachineDeleted({ ...input, machine: machine?.name ?? '' })),
    ).toBe(true);
    expect(provider.made.size).toBe(1);
  });

  it('goes where its node is gone, and where only a silent kubelet could end its pods', async () => {
    const gone = await pool('node-gone');
    await cluster.core.deleteNode({ name: gone.target.node });
    const process = cluster.process();
    const isGone = async () => await process.ensureMachineDeleted({ ...gone.input, machine: gone.machine });
    expect(await cluster.untilDone('it is gone', isGone)).toBe(false);

    const input = await cluster.populated('broken', 3);
    const [machine] = await cluster.machines('broken');
    const target = await cluster.drainTarget('broken', machine?.node ?? '');
    await cluster.run('broken', target.node);
    await cluster.playKubelet(target.node, false);
    await cluster.markDrained(target.node);
    await cluster.core.deleteNamespacedPod({ namespace: 'default', name: 'broken', gracePeriodSeconds: 1 });
    const drained = { ...target, reason: 'NotReady' as const };
    const deleteIt = (now: () => number) => async () =>
      await cluster
        .process({ clock: new TestClock(now) })
        .ensureMachineDeleted({ ...input, machine: machine?.name ?? '', drained });
    expect(await attempt(deleteIt(Date.now))).toBe(true);
    expect(
      await cluster.untilDone(
        'it is gone',
        deleteIt(() => Date.now() + 60_000),
      ),
    ).toBe(false);
  });
});

describe('two machines that name one Node', () => {
  it('stay while nothing says which of them it is, and it is not drained, whichever is to go', async () => {
    const { input, target, name, machines } = await pair('either');
    await cluster.labelNode(name, null);
    // Nor does another machine come in its place: it would have come in vain.
    expect(await claim(input, [target.uid])).toBe(false);
    const fence = await cluster.fence('instead-of-either');
    const newNodes = [nodesOf('either', 1, { reason: 'Replacement' })];
    const instead = cluster.process().ensureScaledUp({ ...input, fence, newNodes, replaces: [target.uid] });
    expect(await instead).toMatchObject({ kind: 'superseded' });
    await expect(cluster.drains().ensureDrainMarked({ target })).rejects.toMatchObject({
      ...REFUSED,
      message: expect.stringContaining(`may be any of the machines ${machines.join(' and ')}`) as string,
    });
    const process = cluster.process();
    const answers = await Promise.all(
      machines.map(
        async (machine) => await attempt(async () => await process.ensureMachineDeleted({ ...input, machine })),
      ),
    );
    expect({ answers, isThere: await isThere('either') }).toEqual({
      answers: [true, true],
      isThere: true,
    });
    // A person says which.
    const [kept = '', other = ''] = machines;
    await cluster.labelNode(name, kept);
    expect(await claim(input, [target.uid])).toBe(true);
    const deleteIt = async (machine: string) => await process.ensureMachineDeleted({ ...input, machine });
    expect(await cluster.untilDone('the other one is gone', async () => await deleteIt(other))).toBe(false);
    expect(await attempt(async () => await deleteIt(kept))).toBe(true);
    expect(await cluster.drains().ensureDrainMarked({ target })).toEqual({ kind: 'marked' });
    expect(await isThere('either')).toBe(true);
  });

  it('are told apart by the provider, also where the label is a mistake', async () => {
    const { input, target, name, machines } = await pair('provided');
    const [first = '', second = ''] = machines;
    // A Node has the provider's name of its machine for ever.
    await cluster.core.deleteNode({ name });
    const metadata = { name, annotations: { 'kwok.x-k8s.io/node': 'fake' } };
    await cluster.core.createNode({ body: { metadata, spec: { providerID: `test://${second}` } } });
    for (const machine of machines) await cluster.patchMachineStatus(machine, { providerID: `test://${machine}` });
    await cluster.run('provided-again', name);
    const process = cluster.process();
    const answered = async (machine: string) =>
      await attempt(async () => await process.ensureMachineDeleted({ ...input, machine }));
    await cluster.labelNode(name, null);
    expect(await answered(second)).toBe(true);
    await cluster.labelNode(name, first);
    expect(await answered(second)).toBe(true);
    // Nor does whoever drives machines take it away, where a person has deleted its object.
    await cluster.custom.deleteNamespacedCustomObject({ ...MACHINES, name: second });
    await attempt(async () => await process.ensureMachinesSettled(input));
    expect(await cluster.machines('provided')).toContainEqual(
      expect.objectContaining({ name: second, phase: 'Ready', isDrainRequested: true }),
    );
    const again = await cluster.drainTarget(target.group, name);
    expect(await claim(input, [again.uid])).toBe(true);
    expect(await cluster.drains().ensureDrainMarked({ target: again })).toEqual({ kind: 'marked' });
    expect(await cluster.untilDone('the first is gone', async () => await answered(first))).toBe(false);
    expect(await isThere('provided-again')).toBe(true);
  });
});

describe('a drain', () => {
  it('of a node of no group, of another group, or that nobody has claimed marks and evicts nothing', async () => {
    const { input, target } = await pool('claimed');
    await pool('beside');
    await cluster.run('claimed', target.node);
    const name = 'of-nobody';
    await cluster.core.createNode({ body: { metadata: { name } } });
    const drains = cluster.drains();
    const others = [
      target,
      { ...target, group: 'beside' },
      { ...target, group: 'none' },
      await cluster.drainTarget('claimed', name),
      { ...(await cluster.drainTarget('claimed', name)), group: '' },
    ];
    for (const other of others) {
      await expect(drains.ensureDrainMarked({ target: other })).rejects.toMatchObject(REFUSED);
      await expect(drains.ensureEvicted({ target: other, ...PROGRESS })).rejects.toMatchObject(REFUSED);
      expect(await isMarked(other)).toBe(false);
    }
    expect(await isThere('claimed')).toBe(true);
    // The claim of a node is what the plan says of it, and as much as the command `drain` of its group does.
    expect(await claim(input, [target.uid])).toBe(true);
    await expect(drains.ensureDrainMarked({ target: { ...target, group: 'beside' } })).rejects.toMatchObject(REFUSED);
    expect(await drains.ensureDrainMarked({ target })).toEqual({ kind: 'marked' });
  });

  it('is held by the pause of the node’s own group, whichever other group is named', async () => {
    const { input, target } = await pool('in-pause');
    await pool('not-in-pause');
    await cluster.run('in-pause', target.node);
    const drains = cluster.drains();
    expect(await claim(input, [target.uid])).toBe(true);
    expect(await drains.ensureDrainMarked({ target })).toEqual({ kind: 'marked' });
    const scope = { kind: 'target', controller: 'node-group', name: 'in-pause' } as const;
    const pauses = { kubernetes: { core: cluster.core }, systemNamespace: SYSTEM_NAMESPACE };
    await writePause(pauses, scope, { by: 'alice', reason: 'a freeze', at: null });
    await expect(drains.ensureEvicted({ target, ...PROGRESS })).rejects.toMatchObject({ type: 'Paused' });
    const renamed = { ...target, group: 'not-in-pause' };
    await expect(drains.ensureEvicted({ target: renamed, ...PROGRESS })).rejects.toMatchObject(REFUSED);
    expect(await isThere('in-pause')).toBe(true);
    await writePause(pauses, scope, null);
    expect(await attempt(async () => await drains.ensureEvicted({ target, ...PROGRESS }))).toBe('again');
    expect(await isThere('in-pause')).toBe(false);
  });

  it('needs no claim where its VPSieNode or its group was deleted', async () => {
    const [deleted, withGroup] = [await pool('machine-deleted'), await pool('group-deleted')];
    await cluster.custom.deleteNamespacedCustomObject({ ...MACHINES, name: deleted.machine });
    await cluster.deleteGroup('group-deleted');
    const drains = cluster.drains();
    for (const { target } of [deleted, withGroup]) {
      expect(await drains.ensureDrainMarked({ target })).toEqual({ kind: 'marked' });
    }
  });
});

describe('a plan', () => {
  it('gets no more machines than its group may have, and of no type that it does not offer', async () => {
    const name = 'bounded';
    const input = await cluster.createGroup(name, { maxNodes: 3, offeringIDs: ['small'] });
    const process = cluster.process();
    const asked = async (newNodes: Parameters<typeof process.ensureScaledUp>[0]['newNodes']) =>
      await process.ensureScaledUp({ ...input, fence: await cluster.fence(`plan-${Math.random()}`), newNodes });
    const before = await cluster.lease();
    for (const newNodes of [
      [nodesOf(name, 4)],
      [nodesOf(name, 2), nodesOf(name, 2)],
      [nodesOf(name, 1, { instanceType: 'large' })],
    ]) {
      expect(await asked(newNodes)).toMatchObject({ kind: 'superseded' });
    }
    for (const count of [0, -1, 0.5, 1e9, Number.NaN]) {
      await expect(asked([nodesOf(name, count)])).rejects.toMatchObject({ type: 'InvalidInput', nonRetryable: true });
    }
    expect(await cluster.lease()).toEqual(before);
    // What is left: as many as the group may have, which nobody needs.
    expect(await asked([nodesOf(name, 2)])).toMatchObject({ kind: 'created' });
    expect(await asked([nodesOf(name, 2)])).toMatchObject({ kind: 'superseded' });
    expect(await asked([nodesOf(name, 1)])).toMatchObject({ kind: 'created' });
    expect(await cluster.machines(name)).toHaveLength(3);
  });

  it('gets no machines for a group that is not to grow', async () => {
    const name = 'disabled';
    const input = await cluster.createGroup(name, { scaleUpPolicy: { enabled: false } });
    const fence = await cluster.fence('plan-disabled');
    const newNodes = [nodesOf(name, 1)];
    expect(await cluster.process().ensureScaledUp({ ...input, fence, newNodes })).toMatchObject({ kind: 'superseded' });
  });

  it('has no nodes count as leaving but those of its group, which acts', async () => {
    const { input, target } = await pool('own-nodes');
    const { target: foreign } = await pool('foreign-nodes');
    const observed = await cluster.createGroup('only-observed', { mode: 'observe' });
    const before = await claims();
    expect(await claim(input, [foreign.uid])).toBe(false);
    expect(await claim(input, [target.uid, 'uid-of-nothing'])).toBe(false);
    expect(await claim({ ...input, uid: 'uid-before' }, [target.uid])).toBe(false);
    expect(await claim(observed, [])).toBe(false);
    const newNodes = [nodesOf('own-nodes', 1)];
    const replacing = { ...input, fence: await cluster.fence('plan-own-nodes-2'), newNodes, replaces: [foreign.uid] };
    expect(await cluster.process().ensureScaledUp(replacing)).toMatchObject({ kind: 'superseded' });
    expect(await claims()).toEqual(before);
    expect(await claim(input, [target.uid])).toBe(true);
    expect(claimedRemovals(await claims())).toContain(target.uid);
  });
});

describe('a group', () => {
  it('of another UID is left as it is, and one that nobody has deleted keeps its finalizer', async () => {
    const { input, target } = await pool('own-uid');
    const process = cluster.process();
    const asIs = async () => ({ group: await cluster.group('own-uid'), machines: await cluster.machines('own-uid') });
    await process.ensureInstanceTypes(input);
    await process.ensureGroupStatus(input);
    const before = await asIs();
    for (const uid of ['uid-before', '']) {
      const other = { ...input, uid };
      const inVain = { found: [], over: ['small'] };
      await process.ensureGroupStatus({ ...other, inVain });
      await process.ensureInstanceTypes(other);
      await process.ensureGroupReleased(other);
      expect(await process.ensureMachinesSettled(other)).toEqual({ failed: [] });
    }
    await process.ensureGroupReleased(input);
    expect(await asIs()).toEqual(before);
    expect(await isMarked(target)).toBe(false);
  });
});

describe('the end of a drain', () => {
  it('that was refused before its first mark is told, as a person may have asked for it', async () => {
    const { input, target } = await pool('never-begun');
    const blocked = { groupUid: input.uid, reason: 'WriteFailed', detail: 'nobody has ordered it' };
    const end = async () => await cluster.drains().ensureDrainUnmarked({ target, blocked });
    await end();
    await end();
    const told = (await cluster.events('never-begun')).filter((event) => event === 'Warning ScaleDownBlocked');
    expect(told).toHaveLength(1);
  });

  it('takes back no other drain’s marks, and no cordon of a person', async () => {
    const { target } = await pool('cordoned');
    const { node: name } = target;
    const drains = cluster.drains();
    await cluster.core.patchNode({ name, body: { spec: { unschedulable: true } } }, MERGE_PATCH);
    await drains.ensureDrainUnmarked({ target });
    expect((await cluster.core.readNode({ name })).spec?.unschedulable).toBe(true);
    await cluster.core.patchNode({ name, body: { spec: { unschedulable: null } } }, MERGE_PATCH);
    await cluster.markDrained(name);
    await drains.ensureDrainUnmarked({ target: { ...target, uid: 'uid-of-none' } });
    expect(await isMarked(target)).toBe(true);
    // What is left: a drain that stops, as by `stop-drain`.
    await drains.ensureDrainUnmarked({ target });
    expect(await isMarked(target)).toBe(false);
  });
});

describe('what people have said', () => {
  it('is kept of a group that is there, by its UID, and for a day at most', async () => {
    const { input, target } = await pool('said');
    const process = cluster.process();
    const wishes = { requested: [{ node: target.node, by: 'alice' }], failed: [], rejected: [] };
    const written = async () => parseWishes((await cluster.lease())?.metadata?.annotations?.[PLAN_WISHES]);
    await process.ensureWishesKept({ ...input, wishes });
    const kept = await written();
    expect(kept).toMatchObject([{ group: 'said', uid: input.uid, ...wishes }]);
    const until = Date.now() + 1e12;
    const forEver = { requested: [], failed: [], rejected: [{ key: `${target.uid} Empty`, by: 'eve', until }] };
    for (const uid of ['uid-before', '']) {
      await process.ensureWishesKept({ ...input, uid, wishes: forEver });
      await process.ensureWishesKept({ ...input, uid, wishes: { requested: [], failed: [], rejected: [] } });
    }
    await process.ensureWishesKept({ target: { ...input.target, group: 'none' }, uid: 'uid', wishes: forEver });
    expect(await written()).toEqual(kept);
    // What is left: a person's rejection, as by the command, though for a day.
    await process.ensureWishesKept({ ...input, wishes: forEver });
    const [own] = await written();
    expect(own?.rejected[0]?.until).toBeLessThanOrEqual(Date.now() + 86_400_000);
  });
});
