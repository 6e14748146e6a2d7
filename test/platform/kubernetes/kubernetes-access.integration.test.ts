import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadKubeConfig, waitForKubernetes } from '../../../platform/kubernetes/kubernetes-access.ts';
import { createLog } from '../../../platform/log/log.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';

const USER = 'reader';
const UUID = /^[0-9a-f-]{36}$/;

let plane: ControlPlane;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'headroom-access-'));
  // system:masters may read; what this user is refused for is its token alone.
  plane = await startControlPlane({ users: [{ name: USER, groups: ['system:masters'] }, { name: 'nobody' }] });
});
afterAll(async () => {
  await plane?.stop();
  await rm(folder, { recursive: true });
});

interface Kubeconfig {
  clusters: { name: string; cluster: Record<string, unknown> }[];
  users: { name: string; user: Record<string, unknown> }[];
}

async function kubeconfigOf(user: string): Promise<Kubeconfig> {
  return parse(await readFile(plane.kubeconfigFor(user), 'utf8')) as Kubeconfig;
}

async function tokenOf(user: string): Promise<string> {
  return String((await kubeconfigOf(user)).users[0]?.user['token']);
}

/** A copy of the user's kubeconfig with other fields for the user or the cluster. */
async function changed(name: string, user: Record<string, unknown> | undefined, cluster = {}): Promise<string> {
  const kubeconfig = await kubeconfigOf(USER);
  for (const entry of kubeconfig.users) entry.user = user ?? entry.user;
  for (const entry of kubeconfig.clusters) Object.assign(entry.cluster, cluster);
  const path = join(folder, name);
  await writeFile(path, stringify(kubeconfig));
  return path;
}

/** @param requestTimeoutMs as in production unless given: an API server that has just started on a busy machine needs seconds. */
function load(kubeconfig: string, requestTimeoutMs = 30_000) {
  return loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs }, {});
}

function recorded() {
  const messages: string[] = [];
  const write = (line: string): void => void messages.push((JSON.parse(line) as { msg: string }).msg);
  return { messages, log: createLog({ name: 'worker', level: 'info', destination: { write } }) };
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('waiting for Kubernetes', () => {
  it('gives the UID of kube-system, which tells one cluster from another', async () => {
    const { log } = recorded();
    expect(await waitForKubernetes(load(plane.adminKubeconfig), { log, signal: AbortSignal.timeout(30_000) })).toMatch(
      UUID,
    );
  });

  it('says what it waits for while the API server is away, and goes on when it is back', async () => {
    const { log, messages } = recorded();
    await plane.killApiServer();
    const { promise: rejected, resolve } = Promise.withResolvers<string>();
    const uid = waitForKubernetes(load(plane.adminKubeconfig), {
      log,
      // An API server may need a minute for its start where all cores are busy.
      signal: AbortSignal.timeout(110_000),
      onWait: (reason) => resolve(reason ?? ''),
    });
    // Who does not wait has found it or given up, and says so.
    expect(await Promise.race([rejected, uid])).toContain('ECONNREFUSED');
    await plane.startApiServer();
    expect(await uid).toMatch(UUID);
    expect(messages[0]).toMatch(/^waiting for Kubernetes at https:\/\/127\.0\.0\.1:\d+: .*ECONNREFUSED/);
    expect(messages.at(-1)).toMatch(/is there after \d+ s$/);
  });

  it("says in the API server's own words what it is not allowed", async () => {
    const { log } = recorded();
    const controller = new AbortController();
    const reasons: string[] = [];
    const wait = waitForKubernetes(load(plane.kubeconfigFor('nobody')), {
      log,
      signal: controller.signal,
      onWait: (why) => reasons.push(why ?? ''),
    });
    const words = '403 namespaces "kube-system" is forbidden: User "nobody" cannot get resource';
    // Not always at first: an attempt that gets no answer in time, on a busy machine, says that.
    await eventually(
      () => `it says ${words}, not ${reasons.join('; ')}`,
      () => reasons.some((why) => why.includes(words)),
    );
    controller.abort(new Error('stopping'));
    await expect(wait).rejects.toThrow('stopping');
  });
});

describe('a token that was refused', () => {
  it('in the kubeconfig is read again, and the request succeeds', async () => {
    const core = load(plane.kubeconfigFor(USER)).makeApiClient(CoreV1Api);
    await core.readNamespace({ name: 'default' });
    await plane.rotateToken(USER);
    expect((await core.readNamespace({ name: 'default' })).metadata?.name).toBe('default');
  });

  it('in a token file, with its line break, is read again, and the request succeeds', async () => {
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, `${await tokenOf(USER)}\n`);
    const core = load(await changed('with-token-file', { tokenFile: 'token' })).makeApiClient(CoreV1Api);
    await core.readNamespace({ name: 'default' });
    await plane.rotateToken(USER);
    await writeFile(tokenFile, `${await tokenOf(USER)}\n`);
    expect((await core.readNamespace({ name: 'default' })).metadata?.name).toBe('default');
  });

  it('from a credential plugin is fetched again, and the request succeeds', async () => {
    const credential = join(folder, 'credential.json');
    const issue = async (): Promise<void> =>
      await writeFile(
        credential,
        JSON.stringify({
          apiVersion: 'client.authentication.k8s.io/v1',
          kind: 'ExecCredential',
          status: { token: await tokenOf(USER) },
        }),
      );
    await issue();
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'cat', args: [credential] };
    const core = load(await changed('with-plugin', { exec })).makeApiClient(CoreV1Api);
    await core.readNamespace({ name: 'default' });
    await plane.rotateToken(USER);
    await issue();
    expect((await core.readNamespace({ name: 'default' })).metadata?.name).toBe('default');
  });

  it('that nobody replaced is an error, not a loop', async () => {
    const core = load(await changed('refused', { token: 'long-expired' })).makeApiClient(CoreV1Api);
    await expect(core.readNamespace({ name: 'default' })).rejects.toMatchObject({ code: 401 });
  });
});

describe('requests', () => {
  it('one after the other share their connections', async () => {
    const target = new URL(plane.url);
    let connections = 0;
    const proxy = createServer((socket) => {
      connections += 1;
      const upstream = connect(Number(target.port), target.hostname);
      socket.pipe(upstream).pipe(socket);
      socket.on('error', () => upstream.destroy());
      upstream.on('error', () => socket.destroy());
    });
    const port = await listening(proxy);
    const path = await changed('through-proxy', undefined, { server: `https://127.0.0.1:${port}` });
    const kubeConfig = load(path);
    for (let i = 0; i < 10; i += 1) await kubeConfig.makeApiClient(CoreV1Api).readNamespace({ name: 'default' });
    proxy.close();
    // One is free again a moment after its answer was read, and the next request may come before that.
    expect(connections).toBeLessThanOrEqual(2);
  });

  it('end their connections when they are closed', async () => {
    const sockets = new Set<Socket>();
    const target = new URL(String((await kubeconfigOf(USER)).clusters[0]?.cluster['server']));
    const proxy = createServer((socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
      const upstream = connect(Number(target.port), target.hostname);
      socket.pipe(upstream).pipe(socket);
      socket.on('error', () => upstream.destroy());
      upstream.on('error', () => socket.destroy());
    });
    const port = await listening(proxy);
    const kubeConfig = load(await changed('closed', undefined, { server: `https://127.0.0.1:${port}` }));
    await kubeConfig.makeApiClient(CoreV1Api).readNamespace({ name: 'default' });
    expect(sockets.size).toBe(1);
    await kubeConfig.close();
    // Idle connections are kept for longer than this waits.
    await eventually('no connection is left', () => sockets.size === 0, 15_000);
    proxy.close();
  });

  it('name Headroom in the audit log', async () => {
    await load(plane.kubeconfigFor(USER)).makeApiClient(CoreV1Api).readNamespace({ name: 'kube-public' });
    await eventually('the request is in the audit log', async () =>
      (await plane.auditEvents()).some(
        ({ objectRef, userAgent }) => objectRef?.name === 'kube-public' && userAgent === 'headroom',
      ),
    );
  });

  it('to a server that does not answer end after the time limit', async () => {
    const silent = createServer(() => undefined);
    const port = await listening(silent);
    const path = await changed('silent', undefined, { server: `https://127.0.0.1:${port}` });
    const started = performance.now();
    await expect(load(path, 300).makeApiClient(CoreV1Api).readNamespace({ name: 'default' })).rejects.toThrow(
      /timeout/i,
    );
    // Not by the limit of production, which is 30 s.
    expect(performance.now() - started).toBeLessThan(25_000);
    silent.close();
  });
});
