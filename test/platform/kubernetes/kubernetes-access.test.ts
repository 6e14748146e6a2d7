import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, Watch } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { issueAuthority, issueServer } from '../../../starter/admission/issue.ts';
import { KubernetesAccessError, loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'headroom-kubeconfig-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function kubeconfig(name: string, current: string | undefined, ...contexts: string[]): string {
  const path = join(folder, name);
  writeFileSync(
    path,
    JSON.stringify({
      clusters: contexts.map((context) => ({ name: context, cluster: { server: `https://${context}.example:6443` } })),
      users: contexts.map((context) => ({ name: context, user: { token: 'x' } })),
      contexts: contexts.map((context) => ({ name: context, context: { cluster: context, user: context } })),
      ...(current === undefined ? {} : { 'current-context': current }),
    }),
  );
  return path;
}

function load(path: string | undefined, context?: string, env: Record<string, string> = {}) {
  // Longer than a machine may take that does something else for some seconds: both ends of the requests are this process.
  return loadKubeConfig({ kubeconfig: path, context, requestTimeoutMs: 30_000 }, env);
}

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof KubernetesAccessError) return error.message;
    throw error;
  }
  throw new Error('it was accepted');
}

describe('the access to the cluster', () => {
  it('is the current context of the kubeconfig, or the one that is asked for', () => {
    const path = kubeconfig('config', 'dev', 'dev', 'prod');
    expect(load(path).getCurrentCluster()?.server).toBe('https://dev.example:6443');
    expect(load(path, 'prod').getCurrentCluster()?.server).toBe('https://prod.example:6443');
  });

  it('joins several files, and the first one decides the current context', () => {
    const both = `${kubeconfig('a', 'dev', 'dev')}:${kubeconfig('b', 'prod', 'prod')}`;
    expect(load(both).getCurrentContext()).toBe('dev');
    expect(load(both, 'prod').getCurrentCluster()?.server).toBe('https://prod.example:6443');
    const second = `${kubeconfig('c', undefined, 'dev')}:${kubeconfig('d', 'prod', 'prod')}`;
    expect(load(second).getCurrentContext()).toBe('prod');
  });

  it('is never a guess: without a kubeconfig and outside a pod it says what was tried', () => {
    const message = refusal(() => load(undefined));
    expect(message).toContain('neither KUBECONFIG nor --kubeconfig is set');
    expect(message).toContain('KUBERNETES_SERVICE_HOST is not set, so this is no pod');
    expect(message).not.toContain('localhost');
  });

  it("points to the user's own kubeconfig without taking it", () => {
    mkdirSync(join(folder, '.kube'));
    writeFileSync(join(folder, '.kube', 'config'), '{}');
    expect(refusal(() => load(undefined, undefined, { HOME: folder }))).toContain(`KUBECONFIG=${folder}/.kube/config`);
  });

  it('in a pod without a service account token says where it looked', () => {
    expect(refusal(() => load(undefined, undefined, { KUBERNETES_SERVICE_HOST: '10.0.0.1' }))).toContain(
      'no service account token at /var/run/secrets/kubernetes.io/serviceaccount/token',
    );
  });

  it('rejects a file that cannot be read, and a context that is not there', () => {
    const path = kubeconfig('config', 'dev', 'dev', 'prod');
    expect(refusal(() => load(join(folder, 'none')))).toContain(`cannot use the kubeconfig "${folder}/none": ENOENT`);
    expect(refusal(() => load(path, 'test'))).toContain('has no context "test": it has dev, prod');
    expect(refusal(() => load(kubeconfig('bare', undefined, 'dev')))).toContain('has no current context');
  });

  it('rejects a context whose cluster or user is missing', () => {
    const path = join(folder, 'broken');
    const context = { name: 'dev', context: { cluster: 'gone', user: 'gone' } };
    writeFileSync(path, JSON.stringify({ contexts: [context], 'current-context': 'dev' }));
    expect(refusal(() => load(path))).toContain('names no cluster with a server');
    const cluster = { name: 'gone', cluster: { server: 'https://x' } };
    writeFileSync(path, JSON.stringify({ clusters: [cluster], contexts: [context], 'current-context': 'dev' }));
    expect(refusal(() => load(path))).toContain('names a user that it does not have');
  });
});

describe('the connections to the API server', () => {
  it('are of HTTP/1.1, also to a server that offers HTTP/2', async () => {
    const now = Date.now();
    const authority = await issueAuthority(now);
    const { certificate: cert, key } = await issueServer('127.0.0.1', authority, now);
    const versions: string[] = [];
    const server = createSecureServer({ cert, key, allowHTTP1: true }, (request, response) => {
      versions.push(request.httpVersion);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'kube-system' } }));
    });
    try {
      await once(server.listen(0, '127.0.0.1'), 'listening');
      const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const path = join(folder, 'config');
      const text = {
        clusters: [
          { name: 'here', cluster: { server: url, 'certificate-authority-data': btoa(authority.certificate) } },
        ],
        users: [{ name: 'here', user: { token: 'x' } }],
        contexts: [{ name: 'here', context: { cluster: 'here', user: 'here' } }],
        'current-context': 'here',
      };
      writeFileSync(path, JSON.stringify(text));
      const access = load(path);
      await access.makeApiClient(CoreV1Api).readNamespace({ name: 'kube-system' });
      await new Promise((done) => void new Watch(access).watch('/api/v1/namespaces', {}, () => {}, done));
      expect(versions).toEqual(['1.1', '1.1']);
    } finally {
      server.close();
    }
  });
});
