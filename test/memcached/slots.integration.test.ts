/** The slots of servers on a real control plane, whose own controllers replace pods and write EndpointSlices. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { headroom } from '../starter/run-program.ts';
import { MemcachedCluster, startMemcachedPlane } from './cluster.ts';
import { type Listed, SlotsCluster, withoutKubelets } from './slots-cluster.ts';
import { longOnly } from '../kernel/long.ts';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let slots: SlotsCluster;
beforeAll(async () => {
  plane = await startMemcachedPlane(withoutKubelets);
  cluster = new MemcachedCluster(plane);
  slots = new SlotsCluster(cluster);
  await slots.createNode();
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

const numbers = (servers: readonly Listed[]): readonly number[] => servers.map(({ slot }) => slot);
const without = (servers: readonly Listed[], slot: number) => servers.filter((server) => server.slot !== slot);

describe.concurrent('the servers of a Memcached', () => {
  it('are listed from the start, and a pod that replaces another one takes its slot', async () => {
    const name = 'slots-replaced';
    await cluster.create(name, { replicas: 3 });
    await eventually('the list can be mounted', async () => (await slots.listed(name)).length === 0);
    await slots.ready(name, 3);
    const before = await slots.untilFilled(name, 3);
    expect(numbers(before)).toEqual([0, 1, 2]);
    expect(before.map((server) => server.name)).toEqual([`${name}-0`, `${name}-1`, `${name}-2`]);
    await eventually('the status has them', async () => (await cluster.read(name)).status?.servers?.length === 3);
    expect((await cluster.read(name)).status?.servers).toEqual(before.map(({ slot, address }) => ({ slot, address })));
    expect(await slots.lines(name)).toEqual(before.map((server) => `${server.name} ${server.address}`));

    const asked = { CLUSTER_NAME: 'test', KUBECONFIG: plane.plane.adminKubeconfig };
    const explained = await headroom(['memcached', 'explain', `${name}/${name}`], asked);
    expect(explained.stdout).toContain(`\n  ${name}-1 ${before[1]?.address}\n`);

    const lists = await slots.watch(name);
    // One that is not ready for a while keeps its slot.
    await slots.setReady(name, before[0]?.pod ?? '', 'False');
    await cluster.untilCondition(name, 'Available=True Available: 2/3 replicas are ready');
    await slots.ready(name, 3);
    await cluster.untilCondition(name, 'Available=True Available: 3/3 replicas are ready');
    expect(lists.seen).toEqual([before]);

    await cluster.core.deleteNamespacedPod({ namespace: name, name: before[1]?.pod ?? '' });
    await slots.ready(name, 3);
    const after = await slots.untilFilled(name, 3);
    expect(without(after, 1)).toEqual(without(before, 1));
    expect(after[1]?.address).not.toBe(before[1]?.address);
    // In one step: the slot had the address of before until then.
    await eventually('the list was seen', () => lists.seen.length > 1);
    expect(lists.seen).toEqual([before, after]);
    lists.stop();
  });

  it('keep their slots in a rolling update, each of which changes hands once', async () => {
    const name = 'slots-rollout';
    await cluster.create(name, { replicas: 3 });
    await slots.ready(name, 3);
    const before = await slots.untilFilled(name, 3);
    const lists = await slots.watch(name);
    await cluster.edit(name, { memcached: { threads: 8 } });
    await eventually('the argument is there', async () =>
      (await cluster.deployment(name)).spec?.template.spec?.containers[0]?.args?.includes('8'),
    );
    await slots.ready(name, 3);
    const after = await slots.untilFilled(name, 3);
    await eventually('the last list was seen', () => JSON.stringify(lists.seen.at(-1)) === JSON.stringify(after));
    lists.stop();
    for (const seen of lists.seen) expect(numbers(seen)).toEqual([0, 1, 2]);
    for (const slot of [0, 1, 2]) {
      const had = [...new Set(lists.seen.map((seen) => seen[slot]?.pod))];
      expect(had).toEqual([before[slot]?.pod, after[slot]?.pod]);
      expect(had[0]).not.toBe(had[1]);
    }
  });

  it('have the numbers that follow when there are more, and keep theirs when there are fewer, down to none', async () => {
    const name = 'slots-scaled';
    await cluster.create(name, { replicas: 2 });
    await slots.ready(name, 2);
    const two = await slots.untilFilled(name, 2);
    // The starter watches what has the labels of a Memcached's objects, so nothing else counts for the worker.
    const { metadata: service } = await cluster.core.readNamespacedService({ namespace: name, name });
    await cluster.custom.createNamespacedCustomObject({
      group: 'discovery.k8s.io',
      version: 'v1',
      plural: 'endpointslices',
      namespace: name,
      body: {
        metadata: {
          name: 'unlabelled',
          labels: { 'kubernetes.io/service-name': name },
          ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid: service?.uid }],
        },
        addressType: 'IPv4',
        endpoints: [{ addresses: ['192.0.2.1'], targetRef: { kind: 'Pod', name: '0-first' } }],
      },
    });
    await cluster.edit(name, { replicas: 4 });
    await slots.ready(name, 4);
    const four = await slots.untilFilled(name, 4);
    expect(four.slice(0, 2)).toEqual(two);
    expect(numbers(four)).toEqual([0, 1, 2, 3]);
    expect(four.map(({ pod }) => pod)).not.toContain('0-first');
    await cluster.edit(name, { replicas: 1 });
    await slots.ready(name, 1);
    const [left, ...others] = await slots.untilFilled(name, 1);
    expect(others).toEqual([]);
    expect(four).toContainEqual(left);
    await cluster.edit(name, { replicas: 0 });
    await eventually('nobody is listed', async () => (await slots.listed(name)).length === 0);
    await eventually('nor in the status', async () => (await cluster.read(name)).status?.servers === undefined);
  });

  it('are listed again as they were when somebody edits or deletes the list', async () => {
    const name = 'slots-drift';
    await cluster.create(name, { replicas: 2 });
    await slots.ready(name, 2);
    const before = await slots.untilFilled(name, 2);
    await eventually('the status has them', async () => (await cluster.read(name)).status?.servers?.length === 2);
    await cluster.ended(name);
    const swapped = before.map((server) => ({ ...server, slot: 1 - server.slot }));
    await slots.edit(name, JSON.stringify({ servers: swapped }));
    await eventually('they have their slots again', async () => {
      expect(await slots.listed(name)).toEqual(before);
      return true;
    });
    await cluster.core.deleteNamespacedConfigMap({ namespace: name, name: `${name}-servers` });
    await eventually('they are listed again', async () => {
      expect(await slots.listed(name)).toEqual(before);
      return true;
    });
  });

  it('stay while the Service is made again, behind which there is nobody for a moment', longOnly, async () => {
    const name = 'slots-service';
    await cluster.create(name, { replicas: 2 });
    await slots.ready(name, 2);
    const before = await slots.untilFilled(name, 2);
    const lists = await slots.watch(name);
    const { metadata } = await cluster.core.readNamespacedService({ namespace: name, name });
    await cluster.core.deleteNamespacedService({ namespace: name, name });
    const again = await eventually('there is another Service', async () => {
      const found = await cluster.core.readNamespacedService({ namespace: name, name });
      return found.metadata?.uid === metadata?.uid ? undefined : found.metadata?.uid;
    });
    await slots.untilEndpoints(name, again, 2);
    // A pod that goes now is replaced by what stands behind the other Service.
    await cluster.core.deleteNamespacedPod({ namespace: name, name: before[0]?.pod ?? '' });
    await slots.ready(name, 2);
    const after = await slots.untilFilled(name, 2);
    expect(without(after, 0)).toEqual(without(before, 0));
    await eventually('the list was seen', () => lists.seen.length > 1);
    expect(lists.seen).toEqual([before, after]);
    lists.stop();
  });

  it('pass their slots on when they were asked to stop and another one is ready, and no sooner', async () => {
    const name = 'slots-stopping';
    await cluster.create(name, { replicas: 2 });
    await slots.ready(name, 2);
    const before = await slots.untilFilled(name, 2);
    const pod = before[0]?.pod ?? '';
    const lists = await slots.watch(name);
    await cluster.core.deleteNamespacedPod({ namespace: name, name: pod });
    await cluster.untilCondition(name, 'Available=True Available: 1/2 replicas are ready');
    expect(await slots.listed(name)).toEqual(before);
    await slots.ready(name, 2, [pod]);
    const after = await slots.untilFilled(name, 2, [pod]);
    expect(numbers(after)).toEqual([0, 1]);
    expect(after[1]).toEqual(before[1]);
    expect(await cluster.pods(name)).toContain(pod);
    // When it is gone at last, nothing changes any more.
    await slots.ready(name, 2);
    await eventually('it is gone', async () => !(await cluster.pods(name)).includes(pod));
    await cluster.untilCondition(name, 'Ready=True MemcachedReady: All 2 replicas are ready');
    await cluster.ended(name);
    expect(lists.seen).toEqual([before, after]);
    lists.stop();
  });

  it(
    'are followed also while the spec contradicts itself, and while the list cannot be written',
    longOnly,
    async () => {
      const name = 'slots-blocked';
      await cluster.core.createNamespace({ body: { metadata: { name } } });
      const theirs = { metadata: { name: `${name}-servers` }, data: { theirs: 'yes' } };
      await cluster.core.createNamespacedConfigMap({ namespace: name, body: theirs });
      await cluster.createIn(name, { replicas: 2 });
      await slots.ready(name, 2);
      const why = `ConfigMap ${name}/${name}-servers exists and does not belong to this Memcached: delete or rename one of them`;
      await cluster.untilCondition(name, `Degraded=True Conflict: ${why}`);
      await eventually('the status has them', async () => (await cluster.read(name)).status?.servers?.length === 2);
      expect((await slots.read(name)).data).toEqual(theirs.data);
      const { servers } = (await cluster.read(name)).status ?? {};
      await cluster.core.deleteNamespacedConfigMap({ namespace: name, name: `${name}-servers` });
      await cluster.command(name, 'reconcileNow');
      const before = await slots.untilFilled(name, 2);
      expect(before.map(({ slot, address }) => ({ slot, address }))).toEqual(servers);

      await cluster.edit(name, { memcached: { maxMemoryMB: 64 }, resources: { limits: { memory: '64Mi' } } });
      await cluster.reaches(name, 'Blocked', 'Invalid');
      await cluster.core.deleteNamespacedPod({ namespace: name, name: before[0]?.pod ?? '' });
      await slots.ready(name, 2);
      const after = await slots.untilFilled(name, 2);
      expect(after[1]).toEqual(before[1]);
    },
  );
});

it('worker and starter were refused nothing', async () => {
  expect(await cluster.refused()).toEqual([]);
});

// Last: an API server that has just started refuses what it does not know the roles of yet.
it('the servers of a Memcached keep their slots when the API server was away, and pods with it', async () => {
  const name = 'slots-outage';
  await cluster.create(name, { replicas: 3 });
  await slots.ready(name, 3);
  const before = await slots.untilFilled(name, 3);
  await plane.plane.restartApiServer();
  await cluster.core.deleteNamespacedPod({ namespace: name, name: before[1]?.pod ?? '' });
  await slots.ready(name, 3);
  const after = await slots.untilFilled(name, 3);
  expect(without(after, 1)).toEqual(without(before, 1));
  expect(numbers(after)).toEqual([0, 1, 2]);
});
