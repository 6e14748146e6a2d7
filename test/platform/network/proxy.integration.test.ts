/** Servers that only a proxy with a password reaches, and whose certificates only a private authority vouches for. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { CoreV1Api, Watch } from '@kubernetes/client-node';
import { getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parse, stringify } from 'yaml';
import { loadKubeConfig, KubernetesAccessError } from '../../../platform/kubernetes/kubernetes-access.ts';
import { createLog } from '../../../platform/log/log.ts';
import { useNetwork } from '../../../platform/network/network.ts';
import { useGrpcLog } from '../../../platform/temporal/grpc-log.ts';
import { connectClient } from '../../../platform/temporal/temporal.ts';
import { connectWorker } from '../../../platform/temporal/worker-connection.ts';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { type Config, loadConfig } from '../../../starter/config.ts';
import {
  type ConnectProxy,
  PROXY_PASSWORD,
  startConnectProxy,
  startTlsFront,
  type TlsFront,
} from '../../kernel/servers/connect-proxy.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { borrowTemporal } from '../../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { forgetRuntime, installRuntime } from '../process/sdk-runtime.ts';

// Names that exist nowhere: who does not ask the proxy finds no server.
const TEMPORAL = 'temporal.headroom.test:7233';
const KUBERNETES = 'kubernetes.headroom.test:6443';
const PROVIDER = 'provider.headroom.test';

let dir: string;
let proxy: ConnectProxy;
let temporal: TemporalServer;
let plane: ControlPlane;
const fronts: TlsFront[] = [];
const before = { dispatcher: getGlobalDispatcher(), authorities: getCACertificates('default') };
const lines: string[] = [];

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'headroom-proxy-'));
  [proxy, temporal, plane] = await Promise.all([startConnectProxy(), borrowTemporal(), borrowControlPlane([])]);
  const authority = await issueAuthority(Date.now());
  await writeFile(join(dir, 'ca.pem'), authority.certificate);
  const front = async (host: string, port: number, protocol: 'h2' | 'http/1.1'): Promise<number> => {
    const started = await startTlsFront(await issueServer(host, authority, Date.now()), port, protocol);
    fronts.push(started);
    return started.port;
  };
  proxy.allow(TEMPORAL, await front('temporal.headroom.test', portOf(`http://${temporal.address}`), 'h2'));
  proxy.allow(KUBERNETES, portOf(plane.url));
  proxy.allow(`${PROVIDER}:443`, await front(PROVIDER, portOf(temporal.uiUrl), 'http/1.1'));
  await installRuntime(recorded());
});
afterAll(async () => {
  setGlobalDispatcher(before.dispatcher);
  setDefaultCACertificates(before.authorities);
  await forgetRuntime();
  for (const front of fronts) await front.stop();
  await proxy?.stop();
  await rm(dir, { recursive: true, force: true });
});

function portOf(url: string): number {
  return Number(new URL(url).port);
}

function recorded() {
  return createLog({ name: 'test', level: 'trace', destination: { write: (line) => void lines.push(line) } });
}

function load(env: Readonly<Record<string, string>> = {}): Config {
  return loadConfig({
    env: {
      CLUSTER_NAME: 'kind',
      HOME: dir,
      TEMPORAL_ADDRESS: TEMPORAL,
      TEMPORAL_NAMESPACE: temporal.namespace,
      TEMPORAL_TLS: 'true',
      HTTPS_PROXY: proxy.url,
      HEADROOM_CA_FILE: join(dir, 'ca.pem'),
      ...env,
    },
    argv: [],
  });
}

/** The same proxy, asked with another password. */
function withWrongPassword(): string {
  const url = new URL(proxy.url);
  url.password = 'not-the-password';
  return url.href;
}

describe('Temporal', () => {
  it('is reached through the proxy by the client and by workers', async () => {
    const log = recorded();
    const options = { log, signal: AbortSignal.timeout(60_000) };
    const target = load().temporal;
    const asked = proxy.asked.length;
    const client = await connectClient(target, { ...options, identity: 'test' });
    const workers = await connectWorker(target, options);
    const worker = await workers.createWorker({ taskQueue: 'proxied', activities: { look: () => 'seen' } });
    await worker.runUntil(async () => {
      await client.workflow.count();
      await eventually('the worker polls', async () => {
        const { pollers } = await client.workflowService.describeTaskQueue({
          namespace: temporal.namespace,
          taskQueue: { name: 'proxied' },
          // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- TASK_QUEUE_TYPE_ACTIVITY; the enum's package is not ours
          taskQueueType: 2,
        });
        return (pollers ?? []).length > 0;
      });
    });
    await workers.close();
    await client.connection.close();
    expect(new Set(proxy.asked.slice(asked))).toEqual(new Set([`CONNECT ${TEMPORAL} 200`]));
    expect(proxy.asked.length - asked).toBeGreaterThanOrEqual(2);
  });

  it('is not reached with another password, nor without the authority, and the wait says by which way', async () => {
    const firstReason = async (env: Readonly<Record<string, string>>): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const controller = new AbortController();
      const onWait = (reason: string | undefined): void => resolve(reason ?? 'connected');
      const connecting = connectWorker(load(env).temporal, { log: recorded(), signal: controller.signal, onWait });
      const reason = await Promise.race([promise, connecting.then(() => 'connected')]);
      controller.abort(new Error('enough'));
      await expect(connecting).rejects.toThrow('enough');
      return reason;
    };
    const shown = new URL(proxy.url).origin;
    expect(await firstReason({ HTTPS_PROXY: withWrongPassword() })).toBe(
      `waiting for Temporal at ${TEMPORAL} through the proxy ${shown}: CONNECT call failed with status: 407 Proxy Authentication Required`,
    );
    expect(await firstReason({ HEADROOM_CA_FILE: '' })).toMatch(
      /through the proxy .*: .*(?:UnknownIssuer|certificate)/,
    );
  });
});

describe('providers and forges', () => {
  it('are reached through the proxy, and what it refuses is not reached by another way', async () => {
    useNetwork(load().network);
    const asked = proxy.asked.length;
    const answer = await fetch(`https://${PROVIDER}/`, { redirect: 'manual' });
    expect(answer.status).toBeLessThan(400);
    await answer.arrayBuffer();
    await expect(fetch('https://elsewhere.headroom.test/')).rejects.toThrow('fetch failed');
    expect(proxy.asked.slice(asked)).toEqual([
      `CONNECT ${PROVIDER}:443 200`,
      'CONNECT elsewhere.headroom.test:443 403',
    ]);
  });

  it('are reached directly where NO_PROXY has them', async () => {
    const asked = proxy.asked.length;
    useNetwork(load({ NO_PROXY: '.headroom.test' }).network);
    await expect(fetch(`https://${PROVIDER}/`)).rejects.toMatchObject({ cause: { code: 'ENOTFOUND' } });
    // This machine is never behind a proxy.
    useNetwork(load({ HTTP_PROXY: proxy.url }).network);
    expect((await fetch(temporal.uiUrl)).status).toBe(200);
    expect(proxy.asked.slice(asked)).toEqual([]);
  });
});

describe('Kubernetes', () => {
  interface Kubeconfig {
    clusters: { cluster: Record<string, unknown> }[];
  }

  async function kubeconfig(name: string, cluster: Readonly<Record<string, unknown>>): Promise<string> {
    const given = parse(await readFile(plane.adminKubeconfig, 'utf8')) as Kubeconfig;
    // Its certificate has this name of all API servers.
    const server = { server: `https://${KUBERNETES}`, 'tls-server-name': 'kubernetes.default' };
    for (const entry of given.clusters) Object.assign(entry.cluster, server, cluster);
    const path = join(dir, name);
    await writeFile(path, stringify(given));
    return path;
  }

  const open = (path: string, env: Readonly<Record<string, string>> = {}) => {
    const { proxies } = load(env).network;
    return loadKubeConfig({ kubeconfig: path, context: undefined, requestTimeoutMs: 30_000, proxies }, {});
  };

  it('of a kubeconfig is reached through the proxy, as kubectl does, watches too', async () => {
    const asked = proxy.asked.length;
    const kubeConfig = open(await kubeconfig('plain', {}));
    const { metadata } = await kubeConfig.makeApiClient(CoreV1Api).readNamespace({ name: 'kube-system' });
    expect(metadata?.name).toBe('kube-system');
    const seen = await new Promise<unknown>((resolve, reject) => {
      const watching = new Watch(kubeConfig).watch('/api/v1/namespaces', {}, resolve, reject);
      watching.catch(reject);
    });
    expect(seen).toBe('ADDED');
    await kubeConfig.close();
    expect(new Set(proxy.asked.slice(asked))).toEqual(new Set([`CONNECT ${KUBERNETES} 200`]));
  });

  it('is reached directly where NO_PROXY has it, unless the kubeconfig names a proxy itself', async () => {
    const asked = proxy.asked.length;
    const noProxy = { NO_PROXY: '.headroom.test' };
    const direct = open(await kubeconfig('direct', {}), noProxy);
    await expect(direct.makeApiClient(CoreV1Api).readNamespace({ name: 'default' })).rejects.toMatchObject({
      cause: { code: 'ENOTFOUND' },
    });
    expect(proxy.asked.slice(asked)).toEqual([]);
    const own = open(await kubeconfig('own', { 'proxy-url': proxy.url }), noProxy);
    await own.makeApiClient(CoreV1Api).readNamespace({ name: 'default' });
    await own.close();
    expect(proxy.asked.slice(asked)).toEqual([`CONNECT ${KUBERNETES} 200`]);
  });

  it('with a proxy-url that is none is refused, without its password', async () => {
    const path = await kubeconfig('wrong', { 'proxy-url': 'ftp://me:SECRET@proxy.example' });
    expect(() => open(path)).toThrow(KubernetesAccessError);
    expect(() => open(path)).toThrow(/^the proxy-url of the cluster ".+" of .+ is not valid: expected a URL such as/);
    expect(() => open(path)).not.toThrow(/SECRET/);
  });
});

it('no line of the log has the password', () => {
  expect(lines.length).toBeGreaterThan(0);
  const forms = [PROXY_PASSWORD, encodeURIComponent(PROXY_PASSWORD), new URL(proxy.url).password, 'not-the-password'];
  for (const form of forms) expect(lines.join('')).not.toContain(form);
});

// Last: the client that is given up asks the proxy once more, now and then.
describe('what gRPC says', () => {
  it('is in the log: why the proxy refused a connection, once a minute, and nothing past it', async () => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    const before = lines.length;
    const controller = new AbortController();
    try {
      useGrpcLog(recorded());
      const target = load({ HTTPS_PROXY: withWrongPassword() }).temporal;
      const connecting = connectClient(target, { log: recorded(), signal: controller.signal, identity: 'test' });
      const refused = () => lines.slice(before).filter((line) => line.includes('with status 407'));
      await eventually('the refusal is said', () => Promise.resolve(refused().length > 0));
      controller.abort(new Error('enough'));
      await expect(connecting).rejects.toThrow('enough');
      expect(refused()).toEqual([expect.stringMatching(/"level":"warn".*the connection to Temporal: .*through proxy/)]);
      expect(printed).not.toHaveBeenCalled();
    } finally {
      controller.abort(new Error('enough'));
      printed.mockRestore();
      useGrpcLog();
    }
  });
});
