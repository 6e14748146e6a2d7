/** What a Memcached specifies, with memcached and its exporter themselves: their very arguments, clients, probes and ends. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import type { Pair } from '../../starter/admission/certificate.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { MemcachedCluster, startMemcachedPlane } from './cluster.ts';
import { certificateOf, newAuthority } from './certificates.ts';
import { type Kubelet, startKubelet } from './kubelet/kubelet.ts';
import type { RunningPod } from './kubelet/pod.ts';
import { TextClient } from './text-client.ts';

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
const kubelets: Kubelet[] = [];
beforeAll(async () => {
  plane = await startMemcachedPlane();
  cluster = new MemcachedCluster(plane);
  await Promise.all([plane.startWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await Promise.all(kubelets.map(async (kubelet) => await kubelet.stop()));
  await plane?.stop();
});

/** A Secret's keys, as text. */
type Secrets = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Creates a Memcached with a kubelet for its pods and its Secrets, and waits until its status says that they are ready. */
async function running(
  name: string,
  spec: WrittenSpec,
  secrets: Secrets = {},
): Promise<{ kubelet: Kubelet; pod: RunningPod }> {
  const kubelet = await startKubelet(plane.plane.adminKubeconfig, name);
  kubelets.push(kubelet);
  await cluster.core.createNamespace({ body: { metadata: { name } } });
  for (const [secret, stringData] of Object.entries(secrets)) {
    await cluster.core.createNamespacedSecret({ namespace: name, body: { metadata: { name: secret }, stringData } });
  }
  await cluster.createIn(name, spec);
  await cluster.settledByItself(name, spec.replicas ?? 1);
  const [pod] = kubelet.pods;
  if (pod === undefined) throw new Error(`${name} is ready without a pod`);
  return { kubelet, pod };
}

/** Whether the exporter of a pod could ask its memcached, once it answers. */
async function scrapes({ address }: RunningPod): Promise<boolean> {
  const [, up] = await eventually(`the exporter at ${address} answers`, async () => {
    const answer = await fetch(`http://${address}:9150/metrics`);
    return /^memcached_up ([01])$/m.exec(await answer.text());
  });
  return up === '1';
}

describe.concurrent('a pod', () => {
  it('is not made for arguments that memcached would not start with, also where no webhook refuses them', async () => {
    const name = 'would-not-start';
    await cluster.create(name, { memcached: { extraArgs: ['-t', '0'] } });
    const why =
      'spec.memcached.extraArgs: Invalid value: "-t 0": memcached does not serve clients with it; it takes a number from 1 on';
    await cluster.untilCondition(name, `Degraded=True Invalid: ${why}`);
    expect((await cluster.apps.listNamespacedDeployment({ namespace: name })).items).toEqual([]);
  });

  it('serves clients once its own probes say so, with the memory, threads, connections and sizes that are specified', async () => {
    const { pod } = await running('text', {
      monitoring: { enabled: true },
      memcached: { maxMemoryMB: 16, threads: 2, maxConnections: 40, maxItemSize: '2m' },
    });
    const client = await TextClient.connect(pod.address);
    expect(await client.set('greeting', 'hello')).toBe('STORED');
    expect(await client.get('greeting')).toBe('hello');
    const settings = await client.stats('settings');
    expect(Object.fromEntries(settings)).toMatchObject({
      maxbytes: String(16 * 1024 * 1024),
      maxconns: '40',
      num_threads: '2',
      item_size_max: String(2 * 1024 * 1024),
    });
    await eventually('its exporter has its metrics', async () => await scrapes(pod));
  });

  it('evicts what exceeds its memory, refuses larger items, and connections beyond their number', async () => {
    const { pod } = await running('limits', {
      memcached: { maxMemoryMB: 16, maxConnections: 50, maxItemSize: '512k' },
    });
    const client = await TextClient.connect(pod.address);
    expect(await client.set('large', 'x'.repeat(600_000))).toBe('SERVER_ERROR object too large for cache');
    // 20 MB, of which 16 MiB have a place.
    for (let n = 0; n < 50; n += 1) expect(await client.set(`item-${n}`, 'x'.repeat(400_000))).toBe('STORED');
    const stats = await client.stats();
    expect(Number(stats.get('evictions'))).toBeGreaterThan(0);
    expect(Number(stats.get('bytes'))).toBeLessThan(16 * 1024 * 1024);
    expect(await client.get('item-0')).toBeUndefined();
    expect(await client.get('item-49')).toHaveLength(400_000);

    const others: TextClient[] = [];
    const connectOne = async (): Promise<void> => {
      const other = await TextClient.connect(pod.address);
      others.push(other);
      expect(await other.ask('version')).toMatch(/^VERSION/);
    };
    await expect(
      (async () => {
        for (let n = 0; n < 60; n += 1) await connectOne();
      })(),
    ).rejects.toThrow('the server closed the connection');
    // Its own files count as well.
    expect(others.length).toBeGreaterThan(10);
    expect(others.length).toBeLessThanOrEqual(50);
    for (const other of others) other.close();
    await eventually('others may connect again', async () => await connectOne().then(() => true));
  });

  it('with a password asks every client for it, which its exporter does not have', async () => {
    const { pod } = await running(
      'password',
      { monitoring: { enabled: true }, security: { sasl: { enabled: true, credentialsSecretRef: { name: 'users' } } } },
      { users: { 'password-file': 'alice:wonder\n' } },
    );
    const client = await TextClient.connect(pod.address);
    expect(await client.ask('get key')).toBe('CLIENT_ERROR unauthenticated');
    // The first value that is set is taken for a user and a password.
    expect(await client.set('key', 'value')).toBe('CLIENT_ERROR bad authentication token format');
    expect(await client.set('login', 'alice wrong')).toBe('CLIENT_ERROR authentication failure');
    expect(await client.set('login', 'alice wonder')).toBe('STORED');
    expect(await client.set('key', 'value')).toBe('STORED');
    expect(await client.get('key')).toBe('value');
    expect(await scrapes(pod)).toBe(false);
  });

  it('with TLS speaks it at both ports that the Service names, and nothing else; its exporter speaks it too', async () => {
    const authority = await newAuthority();
    const { certificate, key } = await certificateOf(authority, 'tls.example.com');
    const { pod } = await running(
      'tls-holds',
      { monitoring: { enabled: true }, security: { tls: { enabled: true, certificateSecretRef: { name: 'pair' } } } },
      { pair: { 'tls.crt': certificate, 'tls.key': key } },
    );
    const { spec } = await cluster.core.readNamespacedService({ namespace: 'tls-holds', name: 'tls-holds' });
    expect(spec?.ports?.map(({ port }) => port)).toEqual([11_211, 11_212, 9150]);
    const tls = { ca: authority.certificate, checkServerIdentity: () => undefined };
    const [first, second] = await Promise.all(
      [11_211, 11_212].map(async (port) => await TextClient.connect(pod.address, tls, port)),
    );
    expect(await first?.set('key', 'value')).toBe('STORED');
    expect(await second?.get('key')).toBe('value');
    for (const port of [11_211, 11_212]) {
      const plain = await TextClient.connect(pod.address, undefined, port);
      await expect(plain.ask('version')).rejects.toThrow('the server closed the connection');
    }
    const stranger = await newAuthority();
    await expect(TextClient.connect(pod.address, { ...tls, ca: stranger.certificate })).rejects.toThrow(/certificate/);
    await eventually('its exporter has its metrics', async () => await scrapes(pod));
  });

  it('demands a certificate of its authority where that is asked for, and its exporter shows one', async () => {
    const authority = await newAuthority();
    const server = await certificateOf(authority, 'mutual.example.com');
    const { pod } = await running(
      'mutual',
      {
        monitoring: { enabled: true },
        security: { tls: { enabled: true, certificateSecretRef: { name: 'pair' }, enableClientCert: true } },
      },
      { pair: { 'tls.crt': server.certificate, 'tls.key': server.key, 'ca.crt': authority.certificate } },
    );
    const tls = { ca: authority.certificate, checkServerIdentity: () => undefined };
    const asks = async (pair?: Pair): Promise<string> => {
      const own = pair === undefined ? {} : { cert: pair.certificate, key: pair.key };
      return await (await TextClient.connect(pod.address, { ...tls, ...own })).set('key', 'value');
    };
    await expect(asks()).rejects.toThrow('the server closed the connection');
    await expect(asks(await certificateOf(await newAuthority(), 'stranger'))).rejects.toThrow(
      'the server closed the connection',
    );
    expect(await asks(await certificateOf(authority, 'client'))).toBe('STORED');
    await eventually('its exporter has its metrics', async () => await scrapes(pod));
  });

  it('goes on serving during preStop, ends by itself, and is killed at the end of its grace period if it does not', async () => {
    const name = 'graceful';
    const gracefulShutdown = { enabled: true, preStopDelaySeconds: 5, terminationGracePeriodSeconds: 8 };
    const { kubelet } = await running(name, { replicas: 2, highAvailability: { gracefulShutdown } });
    const [served, frozen] = kubelet.pods as [RunningPod, RunningPod];
    const [serving, freezing] = [served, frozen].map((pod) => pod.containers[0]?.process);
    freezing?.signal('SIGSTOP');
    const client = await TextClient.connect(served.address);
    await client.set('key', 'kept');

    const deletedAt = performance.now();
    const after = async (ended: Promise<unknown> | undefined) => {
      const exit = await ended;
      return { exit, ms: performance.now() - deletedAt };
    };
    const ends = Promise.all([after(serving?.exited), after(freezing?.exited)]);
    await Promise.all(
      [served, frozen].map((pod) => cluster.core.deleteNamespacedPod({ namespace: name, name: pod.name })),
    );
    // New connections as well, as a client may have the address for as long as its resolver keeps it.
    expect(await (await TextClient.connect(served.address)).get('key')).toBe('kept');
    const [gentle, hard] = await ends;
    expect(gentle.exit).toEqual({ code: 0, signal: null });
    expect(gentle.ms).toBeGreaterThan(5000);
    expect(hard.exit).toEqual({ code: null, signal: 'SIGKILL' });
    expect(hard.ms).toBeGreaterThan(8000);
    await eventually('both are replaced', async () => {
      const pods = await cluster.pods(name);
      return pods.length === 2 && !pods.includes(served.name) && !pods.includes(frozen.name);
    });
    await cluster.settledByItself(name, 2);
  });
});
