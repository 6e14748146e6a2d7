/** What the status of a Memcached notes, beside what Kubernetes makes of it; the Secrets that it names, and its own name. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import { memcachedDefinition } from '../../domain/memcached/api/definition.ts';
import { GROUP, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { memcachedId } from '../../domain/memcached/target.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { MemcachedCluster, type MemcachedObject, merge, startMemcachedPlane } from './cluster.ts';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
beforeAll(async () => {
  plane = await startMemcachedPlane();
  cluster = new MemcachedCluster(plane);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
});

const notesOf = async (name: string): Promise<readonly string[]> => (await cluster.read(name)).status?.notes ?? [];

describe.concurrent('the notes of a Memcached', () => {
  it.each<[string, NonNullable<WrittenSpec['highAvailability']>['podDisruptionBudget'], number]>([
    ['noted-67', { minAvailable: '67%' }, 0],
    ['noted-66', { minAvailable: '66%' }, 1],
    ['noted-1', { maxUnavailable: '1%' }, 1],
    ['noted-0', { maxUnavailable: 0 }, 0],
  ])('%s: Kubernetes lets go as many of three pods as they say, with %j: %i', async (name, budget, allowed) => {
    await cluster.create(name, {
      replicas: 3,
      highAvailability: { podDisruptionBudget: { enabled: true, ...budget } },
    });
    await cluster.settled(name, 3);
    await eventually('Kubernetes has counted the pods', async () => {
      const { status } = await cluster.policy.readNamespacedPodDisruptionBudget({ namespace: name, name });
      return status?.currentHealthy === 3 && status.expectedPods === 3 && status.disruptionsAllowed === allowed;
    });
    const warned = allowed === 0 ? [expect.stringContaining('never lets a pod go with 3 pods') as unknown] : [];
    expect(await notesOf(name)).toEqual(warned);
  });

  it('name a Secret that the worker may not read, which makes nobody compare again and again', async () => {
    const name = 'noted-secret';
    await cluster.core.createNamespace({ body: { metadata: { name } } });
    await cluster.core.createNamespacedSecret({ namespace: name, body: { metadata: { name: 'tls' } } });
    const tls = { enabled: true, certificateSecretRef: { name: 'tls' } };
    // A name that no Secret has would be read as two from the note.
    const two = { enabled: true, certificateSecretRef: { name: 'a, b' } };
    await expect(cluster.createIn(name, { security: { tls: two } }, 'All')).rejects.toThrow(
      'certificateSecretRef.name',
    );
    await cluster.createIn(name, { replicas: 1, security: { tls } });
    await cluster.settled(name, 1);
    expect(await notesOf(name)).toEqual([
      'changes of tls restart no pod, because the worker may not read these Secrets',
    ]);

    const runId = async () => (await cluster.handle(name).describe()).runId;
    const stays = async (ms: number): Promise<true> => {
      const before = await runId();
      await never('there is another episode', async () => (await runId()) !== before, ms);
      return true;
    };
    // What the starter saw before the last write of the status may ask for one more.
    await eventually('its episodes are over', async () => await stays(2000));
    // The starter, which reads no Secret at all, compares it.
    const labelled = { metadata: { labels: { team: 'a' } } };
    const object = { group: GROUP, version: VERSION, plural: PLURAL, namespace: name, name };
    await cluster.custom.patchNamespacedCustomObject({ ...object, body: labelled }, merge);
    await stays(3000);
    await cluster.edit(name, { security: { tls: { enabled: false } } });
    await eventually('the note is gone', async () => (await notesOf(name)).length === 0);
  });

  it('the Secrets of a namespace are watched for as long as a Memcached there names some', async () => {
    const name = 'watched-secrets';
    await cluster.core.createNamespace({ body: { metadata: { name } } });
    await cluster.allowSecrets(name);
    const tls = { enabled: true, certificateSecretRef: { name: 'tls' } };
    const watches = async (): Promise<number> => await cluster.openWatches('headroom-starter', 'secrets', name);
    await cluster.createIn(name, { security: { tls } });
    await eventually('they are watched', async () => (await watches()) === 1);
    await cluster.edit(name, { security: { tls: { enabled: false } } });
    await eventually('nobody watches them', async () => (await watches()) === 0);
    await cluster.edit(name, { security: { tls: { enabled: true } } });
    await eventually('they are watched again', async () => (await watches()) === 1);
    await cluster.delete(name);
    await eventually('nobody watches them any more', async () => (await watches()) === 0);
  });
});

it('a name that no Service has is refused; with one of before the rule nothing is made, and its episode ends with it', async () => {
  const namespace = 'long-names';
  await cluster.core.createNamespace({ body: { metadata: { name: namespace } } });
  const kind = { group: GROUP, version: VERSION, plural: PLURAL, namespace };
  const create = async (name: string, dryRun?: 'All') => {
    const body = { apiVersion: `${GROUP}/${VERSION}`, kind: 'Memcached', metadata: { name }, spec: {} };
    await cluster.custom.createNamespacedCustomObject({ ...kind, body, ...(dryRun && { dryRun }) });
    return true;
  };
  const message = 'its Service is called the same: at most 63 characters, and no dots';
  const long = 'x'.repeat(64);
  await expect(create(long, 'All')).rejects.toThrow(message);
  await expect(create('cache.eu', 'All')).rejects.toThrow(message);
  await create('x'.repeat(63), 'All');

  const definition = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions' };
  const { spec } = memcachedDefinition();
  const patchVersions = async (patch: (rules: unknown) => object): Promise<void> => {
    const body = spec.versions.map(({ schema: { openAPIV3Schema: schema } }, at) => ({
      ...patch(schema['x-kubernetes-validations']),
      path: `/spec/versions/${at}/schema/openAPIV3Schema/x-kubernetes-validations`,
    }));
    const header = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
    await cluster.custom.patchClusterCustomObject({ ...definition, name: `${PLURAL}.${GROUP}`, body }, header);
  };
  await patchVersions(() => ({ op: 'remove' }));
  await eventually('it can be stored', async () => await create(long));
  await patchVersions((value) => ({ op: 'add', value }));
  await eventually('the rule holds again', async () =>
    create('cache.eu', 'All').then(
      () => false,
      (error: unknown) => String(error).includes(message),
    ),
  );

  const stored = { ...kind, name: long };
  await cluster.custom.patchNamespacedCustomObject({ ...stored, body: { spec: { replicas: 2 } } }, merge);
  await eventually('the status says why', async () => {
    const { status } = (await cluster.custom.getNamespacedCustomObject(stored)) as MemcachedObject;
    const degraded = status?.conditions?.find(({ type }) => type === 'Degraded');
    return (
      status?.observedGeneration === 2 && degraded?.message === `metadata.name: Invalid value: "${long}": ${message}`
    );
  });
  expect(await cluster.writes(namespace)).toEqual([]);
  const episode = cluster.plane.client.workflow.getHandle(memcachedId({ cluster: CLUSTER, namespace, name: long }));
  expect((await episode.describe()).status.name).toBe('RUNNING');
  await cluster.custom.deleteNamespacedCustomObject(stored);
  await eventually('its episode has ended', async () => (await episode.describe()).status.name === 'COMPLETED');
});
