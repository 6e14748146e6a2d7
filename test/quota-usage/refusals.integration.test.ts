import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { openWatchProxy } from '../kernel/servers/watch-proxy.ts';
import { type HeadroomPlane, STARTER_USER } from '../kernel/stack/headroom-plane.ts';
import { startUsagePlane, untilEnforced } from './planes.ts';
import { type Api, type ApiAnswer, openApi } from './side-by-side/api.ts';

/** A cluster without Kubernetes' own quota controller, with Headroom in its place. */
interface Cluster {
  readonly headroom: HeadroomPlane;
  readonly api: Api;
  starter: SupervisedProcess;
}

async function startCluster(apiServerFlags: readonly string[] = []): Promise<Cluster> {
  // A new kind is found at once, and not within half a minute.
  const headroom = await startUsagePlane({ apiServerFlags, env: { 'quotaUsage.discovery': '500ms' } });
  const [starter] = await Promise.all([headroom.startStarter(), headroom.startWorker()]);
  return { headroom, starter, api: openApi(headroom.plane.adminKubeconfig) };
}

async function stopCluster(cluster: Cluster | undefined): Promise<void> {
  cluster?.api.close();
  await cluster?.headroom.stop();
}

async function made(answer: Promise<ApiAnswer>): Promise<void> {
  // A refusal's message is what tells why.
  expect(await answer).toMatchObject({ code: 201, message: '' });
}

async function createNamespace(api: Api, name: string): Promise<void> {
  await made(api.ask('POST', '/api/v1/namespaces', { metadata: { name } }));
}

async function createQuota(api: Api, namespace: string, hard: Record<string, string>): Promise<void> {
  await made(
    api.ask('POST', `/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'limits' }, spec: { hard } }),
  );
}

function podOf(name: string, cpu: string): object {
  const container = { name: 'main', image: 'main:1', resources: { requests: { cpu } } };
  return { metadata: { name }, spec: { containers: [container] } };
}

async function createPod(api: Api, namespace: string, name: string): Promise<ApiAnswer> {
  return await api.ask('POST', `/api/v1/namespaces/${namespace}/pods`, podOf(name, '500m'));
}

/**
 * What admission says to an object that is too much, which is only tried. It says so for good when Headroom has counted what
 * came last: one that was charged, but not there yet when Headroom counted, is charged anew a moment later.
 */
async function rejection(api: Api, path: string, object: object): Promise<ApiAnswer> {
  return await eventually(`admission refuses one more at ${path}`, async () => {
    const answer = await api.ask('POST', `${path}?dryRun=All`, object);
    return answer.code === 403 && answer;
  });
}

async function podRefusal(api: Api, namespace: string, name: string): Promise<ApiAnswer> {
  return await rejection(api, `/api/v1/namespaces/${namespace}/pods`, podOf(name, '500m'));
}

/** From here on admission charges every pod; a CPU is the limit. */
async function untilCharging(api: Api, namespace: string): Promise<void> {
  await untilEnforced(api, `/api/v1/namespaces/${namespace}/pods`, podOf('large', '1001m'));
}

async function used(api: Api, namespace: string): Promise<Readonly<Record<string, string>> | undefined> {
  const { object } = await api.ask('GET', `/api/v1/namespaces/${namespace}/resourcequotas/limits`);
  return object.status?.used;
}

async function untilUsed(api: Api, namespace: string, expected: Record<string, string>): Promise<void> {
  await eventually(`${namespace} uses ${JSON.stringify(expected)}`, async () => {
    const now = await used(api, namespace);
    if (JSON.stringify(now) !== JSON.stringify(expected)) throw new Error(`it says ${JSON.stringify(now)}`);
    return true;
  });
}

/** Milliseconds by which the watch of pods is late. */
const LATE_MS = 500;
/** Milliseconds in which a count without the newest pod would have been written. */
const TRYING_MS = 3_000;

describe('a cluster in which Headroom keeps the status of quotas', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(async () => await stopCluster(cluster));

  it('a full quota refuses the next pod with the usual words, and lets it in once a pod was deleted or is over', async () => {
    const { api } = cluster;
    await createNamespace(api, 'full');
    await createQuota(api, 'full', { pods: '2', 'requests.cpu': '1' });
    await untilUsed(api, 'full', { pods: '0', 'requests.cpu': '0' });
    await untilCharging(api, 'full');
    await made(createPod(api, 'full', 'first'));
    await made(createPod(api, 'full', 'second'));
    expect(await podRefusal(api, 'full', 'third')).toMatchObject({
      message:
        'pods "third" is forbidden: exceeded quota: limits, requested: pods=1,requests.cpu=500m, ' +
        'used: pods=2,requests.cpu=1, limited: pods=2,requests.cpu=1',
    });

    await api.ask('DELETE', '/api/v1/namespaces/full/pods/first');
    await eventually('the third pod is let in', async () => (await createPod(api, 'full', 'third')).code === 201);

    expect((await podRefusal(api, 'full', 'fourth')).message).toContain('exceeded quota: limits');
    await api.ask(
      'PATCH',
      '/api/v1/namespaces/full/pods/second/status',
      { status: { phase: 'Succeeded' } },
      'strategic',
    );
    await eventually('the fourth pod is let in', async () => (await createPod(api, 'full', 'fourth')).code === 201);
    await untilUsed(api, 'full', { pods: '2', 'requests.cpu': '1' });
  });

  it('a raised limit lets in what the old one refused', async () => {
    const { api } = cluster;
    await createNamespace(api, 'raised');
    await createQuota(api, 'raised', { pods: '1', 'requests.cpu': '1' });
    await untilUsed(api, 'raised', { pods: '0', 'requests.cpu': '0' });
    await untilCharging(api, 'raised');
    await made(createPod(api, 'raised', 'first'));
    expect((await podRefusal(api, 'raised', 'second')).message).toContain('exceeded quota: limits');
    await api.ask(
      'PATCH',
      '/api/v1/namespaces/raised/resourcequotas/limits',
      { spec: { hard: { pods: '2' } } },
      'merge',
    );
    await eventually('the second pod is let in', async () => (await createPod(api, 'raised', 'second')).code === 201);
  });

  it('a number that is unknown refuses until it was counted, and what came before the quota was counted is counted', async () => {
    const { api, headroom } = cluster;
    await createNamespace(api, 'unknown');
    await createQuota(api, 'unknown', { pods: '3', 'requests.cpu': '1', 'count/widgets.example.com': '1' });
    // Nobody can count widgets before there is such a thing, and the status says nothing of them.
    await untilUsed(api, 'unknown', { pods: '0', 'requests.cpu': '0' });
    await untilCharging(api, 'unknown');
    await cluster.starter.kill();

    await made(
      api.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definitionOf('widget', 'example.com')),
    );
    const widgets = '/apis/example.com/v1/namespaces/unknown/widgets';
    const widgetOf = (name: string) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name } });
    const createWidget = async (name: string) => await api.ask('POST', widgets, widgetOf(name));
    const denied = await eventually('widgets are served', async () => {
      const answer = await createWidget('first');
      // Until its storage is there the server says so (429, 503).
      return answer.code === 404 || answer.code === 429 || answer.code >= 500 ? undefined : answer;
    });
    expect(denied).toMatchObject({
      code: 403,
      message:
        'widgets.example.com "first" is forbidden: status unknown for quota: limits, resources: count/widgets.example.com',
    });
    await createNamespace(api, 'early');
    await createQuota(api, 'early', { pods: '2' });
    await made(createPod(api, 'early', 'first'));

    cluster.starter = await headroom.startStarter();
    await eventually('the widget is let in', async () => (await createWidget('first')).code === 201);
    expect((await rejection(api, widgets, widgetOf('second'))).message).toContain(
      'exceeded quota: limits, requested: count/widgets.example.com=1, used: count/widgets.example.com=1',
    );
    await untilUsed(api, 'early', { pods: '1' });
  });

  it('a number that nobody can count stays as it was while the others are written, and is counted once it can be', async () => {
    const { api, headroom } = cluster;
    const group = 'gadgets.example.com';
    const counted = `count/gadgets.${group}`;
    await made(
      api.ask('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definitionOf('gadget', group)),
    );
    await createNamespace(api, 'partly');
    const gadgets = `/apis/${group}/v1/namespaces/partly/gadgets`;
    const gadget = { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name: 'one' } };
    await eventually('a gadget is there', async () => (await api.ask('POST', gadgets, gadget)).code === 201);
    await made(createPod(api, 'partly', 'first'));
    await createQuota(api, 'partly', { pods: '3', [counted]: '3' });
    await untilUsed(api, 'partly', { [counted]: '1', pods: '1' });

    // Whoever starts now finds an API that does not answer, and what went before that is not in the status.
    await cluster.starter.kill();
    await api.ask('DELETE', `${gadgets}/one`);
    const service = `/apis/apiregistration.k8s.io/v1/apiservices/v1.${group}`;
    const nowhere = { namespace: 'default', name: 'nowhere', port: 443 };
    const away = await api.ask(
      'PATCH',
      service,
      {
        // Without it, the API server takes the APIService for somebody else's and leaves it alone.
        metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': null } },
        spec: { service: nowhere, insecureSkipTLSVerify: true },
      },
      'merge',
    );
    expect(away).toMatchObject({ code: 200, message: '' });
    await eventually('nobody answers', async () => (await api.ask('GET', gadgets)).code === 503);
    cluster.starter = await headroom.startStarter();
    await api.ask('DELETE', '/api/v1/namespaces/partly/pods/first');
    await untilUsed(api, 'partly', { [counted]: '1', pods: '0' });

    // Without it, the API server makes its own again.
    await api.ask('DELETE', service);
    await untilUsed(api, 'partly', { [counted]: '0', pods: '0' });
  });

  it('a quota of one pod lets no second one in while the watch of pods is late, and does when the first is gone', async () => {
    const { api, headroom } = cluster;
    const way = await openWatchProxy(headroom.plane);
    onTestFinished(async () => await way.stop());
    way.disturb('/api/v1/pods', { lateMs: LATE_MS });
    await cluster.starter.kill();
    cluster.starter = await headroom.startStarter({ KUBECONFIG: await way.kubeconfigFor(STARTER_USER) });
    const lives = Array.from({ length: 6 }, async (_, index) => {
      const namespace = `late-${index}`;
      await createNamespace(api, namespace);
      await createQuota(api, namespace, { pods: '1', 'requests.cpu': '1' });
      await untilUsed(api, namespace, { pods: '0', 'requests.cpu': '0' });
      await untilCharging(api, namespace);
      await made(createPod(api, namespace, 'first'));
      const until = Date.now() + TRYING_MS;
      while (Date.now() < until) {
        expect(await createPod(api, namespace, 'second')).toMatchObject({ code: 403 });
        await sleep(50);
      }
      await untilUsed(api, namespace, { pods: '1', 'requests.cpu': '500m' });
      await api.ask('DELETE', `/api/v1/namespaces/${namespace}/pods/first`);
      await eventually(
        'the second pod is let in',
        async () => (await createPod(api, namespace, 'second')).code === 201,
      );
    });
    await Promise.all(lives);
  });
});

describe('a cluster whose API server has no quota admission', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(['--disable-admission-plugins=ServiceAccount,ResourceQuota']);
  });
  afterAll(async () => await stopCluster(cluster));

  it('what comes is counted although nobody charged it, even above the limit', async () => {
    const { api } = cluster;
    await createNamespace(api, 'open');
    await createQuota(api, 'open', { pods: '2', configmaps: '5', 'services.nodeports': '1' });
    // The root certificate that every namespace gets.
    await untilUsed(api, 'open', { configmaps: '1', pods: '0', 'services.nodeports': '0' });
    for (const name of ['first', 'second', 'third']) await made(createPod(api, 'open', name));
    await made(api.ask('POST', '/api/v1/namespaces/open/configmaps', { metadata: { name: 'more' } }));
    const service = {
      type: 'NodePort',
      ports: [
        { name: 'a', port: 80 },
        { name: 'b', port: 81 },
      ],
    };
    await made(api.ask('POST', '/api/v1/namespaces/open/services', { metadata: { name: 'web' }, spec: service }));
    await untilUsed(api, 'open', { configmaps: '2', pods: '3', 'services.nodeports': '2' });
    await api.ask('DELETE', '/api/v1/namespaces/open/pods/second');
    await untilUsed(api, 'open', { configmaps: '2', pods: '2', 'services.nodeports': '2' });
  });
});

/** A custom resource, `widgets` for `widget`. */
function definitionOf(singular: string, group: string): object {
  const kind = `${singular.slice(0, 1).toUpperCase()}${singular.slice(1)}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: `${singular}s`, singular, kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
