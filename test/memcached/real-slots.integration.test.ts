/** What slots are for: a client of memcacheds themselves loses no key of a pod that is still there. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { MemcachedCluster, startMemcachedPlane } from './cluster.ts';
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts';
import { type Found, RingClient } from './ring-client.ts';
import { SlotsCluster } from './slots-cluster.ts';

const KEYS: readonly string[] = Array.from({ length: 300 }, (_, at) => `session:${at}`);

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let slots: SlotsCluster;
const kubelets: Kubelet[] = [];
let client = new RingClient([]);
beforeAll(async () => {
  plane = await startMemcachedPlane();
  cluster = new MemcachedCluster(plane);
  slots = new SlotsCluster(cluster);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  client.close();
  await Promise.all(kubelets.map(async (kubelet) => await kubelet.stop()));
  await plane?.stop();
});

/** Until so many servers are listed, and none of these pods. */
async function untilListed(name: string, count: number, gone: readonly string[]): Promise<readonly string[]> {
  return await eventually(`${count} servers of ${name} are listed, without ${gone.join(', ') || 'any'}`, async () => {
    const listed = await slots.listed(name);
    return listed.length === count && listed.every(({ pod }) => !gone.includes(pod))
      ? await slots.lines(name)
      : undefined;
  });
}

/** Asks for every key, with the list of servers as it is. */
async function askAll(lines: readonly string[]): Promise<ReadonlyMap<string, Found>> {
  client = new RingClient(lines, client);
  const found = new Map<string, Found>();
  for (const key of KEYS) found.set(key, await client.ask(key));
  return found;
}

it('a pod that is replaced takes its own keys along and no others, and a rolling update takes each key once', async () => {
  const name = 'slots-served';
  kubelets.push(await startKubelet(plane.plane.adminKubeconfig, name));
  await cluster.create(name, { replicas: 3 });
  await cluster.settledByItself(name, 3);
  const before = await untilListed(name, 3, []);
  await askAll(before);
  expect(new Set((await askAll(before)).values())).toEqual(new Set(['there']));

  const pods = await slots.listed(name);
  const replaced = pods[1]?.pod ?? '';
  await cluster.core.deleteNamespacedPod({ namespace: name, name: replaced });
  const lost = await askAll(await untilListed(name, 3, [replaced]));
  const own = KEYS.filter((key) => client.slotOf(key) === `${name}-1`);
  expect(own.length).toBeGreaterThan(0);
  expect([...lost].filter(([, found]) => found !== 'there')).toEqual(own.map((key) => [key, 'missing']));

  const old = (await slots.listed(name)).map(({ pod }) => pod);
  const fills = new Map<string, number>();
  await cluster.edit(name, { memcached: { threads: 2 } });
  await eventually('every server is another one', async () => {
    const listed = await slots.listed(name);
    for (const [key, found] of await askAll(await slots.lines(name))) {
      if (found === 'missing') fills.set(key, (fills.get(key) ?? 0) + 1);
    }
    return listed.length === 3 && listed.every(({ pod }) => !old.includes(pod));
  });
  expect(new Map(KEYS.map((key) => [key, fills.get(key)]))).toEqual(new Map(KEYS.map((key) => [key, 1])));
});

it('worker and starter were refused nothing', async () => {
  expect(await cluster.refused()).toEqual([]);
});
