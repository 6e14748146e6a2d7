/** Worker and starter die in the middle of what they write: others go on, and nothing is done twice or left undone. */
import type { V1Node } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROUP, NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import type { Hold, HoldRule } from '../../kernel/forge/http/faults.ts';
import { type KubernetesGate, openKubernetesGate } from '../../kernel/servers/kubernetes-gate.ts';
import type { SupervisedProcess } from '../../kernel/servers/supervised-process.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../../kernel/stack/headroom-plane.ts';
import { NodeGroupCluster, onlyOn, ownNodes, startNodeGroupPlane } from './cluster.ts';
import { partOf } from '../../kernel/long.ts';

/** Milliseconds: a worker that is lost is noticed after ten seconds, and what failed is tried again after up to half a minute. */
const WITHIN_MS = 180_000;

let plane: HeadroomPlane;
let cluster: NodeGroupCluster;
let gate: KubernetesGate;
let worker: SupervisedProcess;
let starter: SupervisedProcess;

beforeAll(async () => {
  // Longer than a request stands: one that is given up would be made again, and go on.
  plane = await startNodeGroupPlane({ env: { 'timings.requestTimeout': '4m' } });
  cluster = new NodeGroupCluster(plane);
  gate = await openKubernetesGate(plane.plane);
  await cluster.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  await start();
});

afterAll(async () => {
  await plane?.stop();
  await gate?.stop();
});

async function start(): Promise<void> {
  worker = await plane.startWorker({ KUBECONFIG: await gate.kubeconfigFor('headroom-worker') });
  starter = await plane.startStarter();
}

/** SIGKILL for both, with what they have sent and what was not answered; then others. */
async function die(holds: readonly Hold[]): Promise<void> {
  await Promise.all([worker.kill(), starter.kill()]);
  for (const hold of holds) hold.abandon();
  await start();
}

type Write = Pick<HoldRule, 'nth'> & {
  readonly what: string;
  /** Absent: any that writes. */
  readonly method?: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly path: (group: string) => RegExp;
  /** Whether the group's name is in the body only. */
  readonly isNamedInBody?: boolean;
};

interface Death {
  readonly group: string;
  readonly write: Write;
  readonly when: 'before' | 'after';
}

function deathsAt(prefix: string, writes: readonly Write[]): readonly Death[] {
  return writes.flatMap((write) =>
    (['before', 'after'] as const).map((when) => ({ group: `${prefix}-${write.what}-${when}`, write, when })),
  );
}

function holdAt({ group, write, when }: Death): Hold {
  const { method, nth = 1, path, isNamedInBody = false } = write;
  return gate.hold({
    nth,
    path: path(group),
    when,
    ...(method === undefined ? {} : { method }),
    ...(isNamedInBody ? { body: group } : {}),
  });
}

async function untilHeld(deaths: readonly Death[], holds: readonly Hold[]): Promise<void> {
  const open = new Set(deaths.map(({ group }) => group));
  for (const [index, hold] of holds.entries()) void hold.held.then(() => open.delete(deaths[index]?.group ?? ''));
  await eventually(
    () => `they come to their writes: ${[...open].join(', ')} do not`,
    () => open.size === 0,
    WITHIN_MS,
  );
}

const machines = `/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/vpsienodes`;
const exactly = (path: string): RegExp => new RegExp(`^${path}$`);

/** What is written while machines are created and become nodes, in order. */
const creating: readonly Write[] = [
  {
    what: 'claim',
    path: () => new RegExp(`/leases(/${PLAN_LEASE})?$`),
    // Those of others have it too, once it has claimed.
    isNamedInBody: true,
  },
  { what: 'machine', method: 'POST', nth: 2, path: () => exactly(machines), isNamedInBody: true },
  {
    what: 'desired',
    method: 'PATCH',
    path: (group) => exactly(`/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/nodegroups/${group}/status`),
    nth: 2,
  },
  { what: 'node', method: 'POST', nth: 2, path: () => exactly('/api/v1/nodes'), isNamedInBody: true },
  { what: 'made', method: 'PATCH', path: (group) => exactly(`${machines}/${group}-[0-9a-f]+/status`) },
  { what: 'join', method: 'PATCH', path: (group) => exactly(`/api/v1/nodes/${group}-[0-9a-f]+`) },
];

/** What is written while a node is drained and its machine deleted, in order. */
const draining: readonly Write[] = [
  { what: 'mark', method: 'PATCH', path: (group) => exactly(`/api/v1/nodes/${group}-[0-9a-f]+`) },
  { what: 'evict', method: 'POST', path: (group) => exactly(`/api/v1/namespaces/${group}/pods/pod-1/eviction`) },
  {
    what: 'wish',
    method: 'PATCH',
    path: (group) => exactly(`/apis/${GROUP}/v1alpha1/namespaces/${NAMESPACE}/nodegroups/${group}/status`),
  },
  { what: 'begun', method: 'PATCH', path: (group) => exactly(`${machines}/${group}-[0-9a-f]+/status`) },
  { what: 'object', method: 'DELETE', path: (group) => exactly(`${machines}/${group}-[0-9a-f]+`) },
  { what: 'node', method: 'DELETE', path: (group) => exactly(`/api/v1/nodes/${group}-[0-9a-f]+`) },
  { what: 'free', method: 'PATCH', path: (group) => exactly(`${machines}/${group}-[0-9a-f]+`) },
];

/** What is written when a drain is undone, after its marks. */
const undoing: readonly Write[] = [
  { what: 'unmark', method: 'PATCH', path: (group) => exactly(`/api/v1/nodes/${group}-[0-9a-f]+`), nth: 2 },
];

/** The group, steady and with its instance types known. */
async function createGroup(group: string): Promise<void> {
  await cluster.createGroup(group, { offeringIDs: ['small'], ...ownNodes(group) });
  await cluster.untilSteady(group);
}

/** A group with one node and two pods on it, which nobody makes again. */
async function populated(group: string): Promise<V1Node> {
  await createGroup(group);
  await cluster.createPods(group, 2, onlyOn(group));
  await cluster.untilRunning(group, 2);
  const [node] = await cluster.untilReady(group, 1);
  await cluster.untilSteady(group);
  if (node === undefined) throw new Error(`${group} has no node`);
  return node;
}

/** How often each thing of a group took effect, by verb, kind and name; only what happened more than once. */
async function doneTwice(group: string): Promise<readonly string[]> {
  const counts = new Map<string, number>();
  for (const { verb, objectRef: { resource, subresource, namespace, name = '' } = {} } of await cluster.writes()) {
    const isOfGroup = name.startsWith(`${group}-`) || namespace === group;
    const isOnce = verb === 'create' ? resource !== 'events' : verb === 'delete';
    if (!isOfGroup || !isOnce) continue;
    const key = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`} ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts].flatMap(([key, count]) => (count > 1 ? [`${key}: ${count} times`] : []));
}

describe('worker and starter that die', () => {
  it(
    'while machines are created leave exactly those that were wanted, whichever write it was',
    async () => {
      const deaths = partOf(deathsAt('up', creating), 4);
      for (const { group } of deaths) await createGroup(group);
      const holds = deaths.map(holdAt);
      for (const { group } of deaths) await cluster.createPods(group, 8, onlyOn(group));
      await untilHeld(deaths, holds);
      await die(holds);
      for (const { group } of deaths) {
        await cluster.untilRunning(group, 8, WITHIN_MS);
        await cluster.untilReady(group, 2);
        await cluster.untilSteady(group);
        const seen = {
          group,
          nodes: (await cluster.nodes(group)).length,
          machines: (await cluster.machines(group)).map(({ status }) => status?.phase),
          created: (await cluster.createdNodes(group)).length,
          twice: await doneTwice(group),
          marked: await cluster.marked(group),
        };
        expect(seen).toEqual({ group, nodes: 2, machines: ['Ready', 'Ready'], created: 2, twice: [], marked: [] });
      }
    },
    4 * WITHIN_MS,
  );

  it(
    'while nodes are drained leave none behind and evict nothing twice, whichever write it was',
    async () => {
      const deaths = partOf(deathsAt('down', draining), 3);
      const undone = partOf(deathsAt('back', undoing), 1);
      const all = [...deaths, ...undone];
      const holds: Hold[] = [];
      for (const death of all) {
        const node = await populated(death.group);
        if (undone.includes(death)) {
          await cluster.protect(death.group, 'one');
          await cluster.protect(death.group, 'two');
        }
        holds.push(holdAt(death));
        await cluster.command(death.group, 'drain', { node: node.metadata?.name ?? '' });
      }
      await untilHeld(all, holds);
      await die(holds);
      for (const { group } of deaths) {
        await cluster.untilEmpty(group);
        expect({ group, twice: await doneTwice(group), pods: (await cluster.pods(group)).length }).toEqual({
          group,
          twice: [],
          pods: 0,
        });
      }
      for (const { group } of undone) {
        await eventually(`${group} has no marks`, async () => (await cluster.marked(group)).length === 0, WITHIN_MS);
        expect({ group, nodes: (await cluster.nodes(group)).length, running: await cluster.running(group) }).toEqual({
          group,
          nodes: 1,
          running: 2,
        });
      }
    },
    4 * WITHIN_MS,
  );
});
