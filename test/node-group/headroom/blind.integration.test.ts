/** A control plane that does not see its nodes: nothing of them is taken away, and nothing was lost when it sees them again. */
import { V1MicroTime, type V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { eventually, never } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { merge, NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';
import { type NodePlane, startNodePlane } from '../plane.ts';

let plane: HeadroomPlane;
let nodePlane: NodePlane;
let cluster: NodeGroupCluster;

beforeAll(async () => {
  // Heartbeats are 10 s apart: kube-controller-manager takes a node for lost after four that are missing.
  plane = await startNodeGroupPlane({
    startPlane: async (options) => (nodePlane = await startNodePlane({ ...options, notReadyAfterSeconds: 40 })),
  });
  cluster = new NodeGroupCluster(plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' } }]);
  await plane.startWorker();
  await plane.startStarter();
});

afterAll(async () => {
  await plane?.stop();
});

const nameOf = ({ metadata }: V1Node): string => metadata?.name ?? '';
const uidsOf = (objects: readonly { readonly metadata?: { readonly uid?: string } }[]): readonly string[] =>
  objects.map(({ metadata }) => metadata?.uid ?? '').toSorted();

/** Longer ago than the 20 minutes after which a node that is not Ready is replaced. */
function longAgo(): number {
  return Math.floor(Date.now() / 1000) * 1000 - 1_500_000;
}

async function readyReason(group: string): Promise<string | undefined> {
  const { status } = await cluster.group(group);
  return status?.conditions?.find(({ type }) => type === 'Ready')?.reason;
}

async function readyStatus(name: string): Promise<string | undefined> {
  const { status } = await cluster.core.readNode({ name });
  return status?.conditions?.find(({ type }) => type === 'Ready')?.status;
}

/** Takes the Lease of a node from kwok, for so many seconds from now. */
async function holdLease(name: string, seconds: number): Promise<void> {
  const spec = { holderIdentity: 'nobody', renewTime: new V1MicroTime(), leaseDurationSeconds: seconds };
  await cluster.coordination.patchNamespacedLease({ namespace: 'kube-node-lease', name, body: { spec } }, merge);
}

describe('nodes that all turn NotReady', () => {
  it('stay, with everything on them, for as long as that is so, and are as they were afterwards', async () => {
    const group = 'lost';
    await cluster.createGroup(group, { minNodes: 3, offeringIDs: ['small'], ...ownNodes(group) });
    await cluster.createDeployment(group, 12, onlyOn(group));
    await cluster.untilRunning(group, 12);
    const nodes = await cluster.untilReady(group, 3);
    await cluster.untilSteady(group);
    const pods = await cluster.pods(group);

    await nodePlane.killKwok();
    await eventually(
      'kube-controller-manager has lost all nodes',
      async () =>
        (await cluster.nodes(group)).every(({ status }) =>
          status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'Unknown'),
        ),
      120_000,
    );
    for (const node of nodes) await cluster.silence(nameOf(node), longAgo());
    await cluster.untilStatus(
      group,
      'halted',
      ({ phase, reason, detail }) =>
        phase === 'Blocked' && reason === 'TooFewReady' && detail.startsWith('none of the 3 nodes of the cluster'),
    );
    await eventually('the condition says so', async () => (await readyReason(group)) === 'TooFewReady');
    await never(
      'a node is cordoned, or a pod leaves',
      async () =>
        (await cluster.nodes(group)).some(({ spec }) => spec?.unschedulable === true) ||
        (await cluster.pods(group)).some(({ metadata }) => metadata?.deletionTimestamp !== undefined),
      15_000,
    );
    const { items: events } = await cluster.core.listNamespacedEvent({ namespace: NAMESPACE });
    expect(events.filter(({ reason }) => reason === 'TooFewReady')).toMatchObject([
      { type: 'Warning', involvedObject: { kind: 'NodeGroup', name: group } },
    ]);

    for (const node of nodes) await cluster.show(nameOf(node));
    // One after the other, and the last one late, as somebody else plays its kubelet, and says nothing.
    const [last, ...first] = nodes;
    if (last === undefined) throw new Error('no node');
    await holdLease(nameOf(last), 120);
    await nodePlane.startKwok();
    for (const node of first) {
      await eventually(`${nameOf(node)} is ready`, async () => (await readyStatus(nameOf(node))) === 'True');
    }
    await eventually('nothing is halted any more', async () => (await readyReason(group)) !== 'TooFewReady');
    await never(
      'another one comes for the last one, or it is cordoned',
      async () =>
        (await cluster.machines(group)).length > 3 ||
        (await cluster.nodes(group)).some(({ spec }) => spec?.unschedulable === true),
      15_000,
    );
    expect(await readyStatus(nameOf(last))).not.toBe('True');
    await holdLease(nameOf(last), 1);
    await cluster.untilSteady(group);
    await eventually('the condition is true again', async () => (await readyReason(group)) === 'NodesReady');
    await cluster.untilRunning(group, 12);
    expect(uidsOf(await cluster.untilReady(group, 3))).toEqual(uidsOf(nodes));
    expect(uidsOf(await cluster.pods(group))).toEqual(uidsOf(pods));
    expect(await cluster.createdNodes(group)).toHaveLength(3);
    expect(await cluster.evictions(group)).toEqual([]);
  }, 300_000);
});

describe('a node that is being replaced', () => {
  it('is given back its cordon when most of the others turn NotReady as well', async () => {
    const group = 'halved';
    await cluster.createGroup(group, { minNodes: 4, offeringIDs: ['small'], ...ownNodes(group) });
    await cluster.createDeployment(group, 16, onlyOn(group));
    await cluster.untilRunning(group, 16);
    const nodes = await cluster.untilReady(group, 4);
    await cluster.protect(group, 'web');
    const [broken, ...others] = nodes;
    if (broken === undefined) throw new Error('no node');
    await cluster.silence(nameOf(broken), longAgo());
    await eventually(
      'its pods are being evicted, in vain',
      async () => (await cluster.drainStatus(broken)).reason === 'EvictionsRefused',
      120_000,
    );
    // The other one is ready first.
    await cluster.untilReady(group, 5);

    for (const other of others) await cluster.silence(nameOf(other), longAgo());
    await eventually(
      'the drain is undone',
      async () => {
        const { phase, reason } = await cluster.drainStatus(broken);
        return phase === 'Ended' && reason === 'TooFewReady';
      },
      60_000,
    );
    const { spec } = await cluster.core.readNode({ name: nameOf(broken) });
    expect(spec?.unschedulable).not.toBe(true);
    await cluster.untilStatus(group, 'halted', ({ reason }) => reason === 'TooFewReady');
    expect(uidsOf(await cluster.nodes(group))).toEqual(expect.arrayContaining([...uidsOf(nodes)]));
    expect(await cluster.evictions(group)).toEqual([]);
  }, 300_000);
});
