import { CoreV1Api, KubeConfig, type V1ConfigMap } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startInformer } from '../../../starter/kernel/informer.ts';
import { loadKubeConfig } from '../../../worker/kernel/kubernetes-access.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { type CuttableLine, kubeconfigThrough, startLine } from '../../kernel/servers/cuttable-line.ts';
import { eventually } from '../../kernel/stack/eventually.ts';

const WATCHER = 'watcher';

let plane: ControlPlane;
let line: CuttableLine;
let admin: CoreV1Api;
let kubeConfig: KubeConfig;

beforeAll(async () => {
  plane = await startControlPlane({ users: [{ name: WATCHER, groups: ['system:masters'] }] });
  line = await startLine(Number(new URL(plane.url).port));
  const config = new KubeConfig();
  config.loadFromFile(plane.adminKubeconfig);
  admin = config.makeApiClient(CoreV1Api);
  kubeConfig = loadKubeConfig(
    {
      kubeconfig: await kubeconfigThrough(line, plane.kubeconfigFor(WATCHER)),
      context: undefined,
      requestTimeoutMs: 5_000,
    },
    {},
  );
});

afterAll(async () => {
  await line?.stop();
  await plane?.stop();
});

/** An informer of the ConfigMaps of one namespace, and what it said. */
async function watchConfigMaps(namespace: string) {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const stop = new AbortController();
  const told: string[] = [];
  const lines: string[] = [];
  const say = {
    log: pino({}, { write: (text: string) => lines.push(JSON.parse(text).msg) }),
    signal: stop.signal,
  };
  const informer = await startInformer<V1ConfigMap>(
    kubeConfig,
    {
      name: 'configmaps',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      listPage: async (page) => await core.listNamespacedConfigMap({ namespace, ...page }),
      onChange: ({ metadata, data }, previous) =>
        told.push(`${previous === undefined ? 'new' : 'changed'} ${metadata?.name} ${data?.['n'] ?? ''}`.trim()),
      onDelete: ({ metadata }) => told.push(`deleted ${metadata?.name}`),
    },
    say,
  );
  onTestFinished(async () => {
    stop.abort();
    await informer.stop();
  });
  const ofUs = (entry: string) => !entry.includes('kube-root-ca');
  return { informer, told: () => told.filter(ofUs), lines };
}

async function namespaceWith(namespace: string, names: readonly string[]): Promise<void> {
  await admin.createNamespace({ body: { metadata: { name: namespace } } });
  await Promise.all(names.map(async (name) => await put(namespace, name)));
}

async function put(namespace: string, name: string): Promise<void> {
  await admin.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { n: '1' } } });
}

/** The watcher's list requests of a namespace's ConfigMaps so far. */
async function lists(namespace: string): Promise<URL[]> {
  const events = await plane.auditEvents();
  return events
    .filter(
      ({ user, verb, objectRef }) => user.username === WATCHER && verb === 'list' && objectRef?.namespace === namespace,
    )
    .map(({ requestURI }) => new URL(requestURI, plane.url));
}

describe('the informer', () => {
  it('knows every object of a list of several pages, and sees what changes afterwards', async () => {
    const names = Array.from({ length: 620 }, (_, n) => `map-${n}`);
    await namespaceWith('pages', names);
    const { informer, told } = await watchConfigMaps('pages');
    expect(informer.isSynced()).toBe(true);
    expect(informer.list('pages').map(({ metadata }) => metadata?.name)).toEqual(expect.arrayContaining(names));
    const asked = await eventually('the lists are in the audit log', async () => {
      const found = await lists('pages');
      return found.length >= 2 && found;
    });
    expect(asked.map(({ searchParams }) => [searchParams.get('limit'), searchParams.has('continue')])).toEqual([
      ['500', false],
      ['500', true],
    ]);
    const before = told().length;
    await admin.deleteNamespacedConfigMap({ namespace: 'pages', name: 'map-619' });
    await put('pages', 'late');
    await eventually('both changes are seen', () => told().length === before + 2);
    expect(told().slice(before)).toEqual(['deleted map-619', 'new late 1']);
    expect(informer.get('map-619', 'pages')).toBeUndefined();
    expect(informer.get('late', 'pages')?.data).toEqual({ n: '1' });
  });

  it('goes on where it was after the API server was killed, and tells nothing twice', async () => {
    await namespaceWith('killed', ['old']);
    const { informer, told, lines } = await watchConfigMaps('killed');
    await plane.killApiServer();
    // Longer than the pause between two attempts: an attempt that fails is no sign of life.
    await eventually('the watch is known to be broken', () => informer.staleSeconds() > 1.5);
    expect(informer.get('old', 'killed')?.metadata?.name).toBe('old');
    await plane.startApiServer();
    await put('killed', 'young');
    await eventually('the informer watches again', () => informer.get('young', 'killed') !== undefined);
    expect(informer.staleSeconds()).toBe(0);
    expect(told()).toEqual(['new old 1', 'new young 1']);
    expect(lines).toContain('waiting for Kubernetes to watch configmaps');
  });

  it('lists again when its place in the history has expired, and tells what it missed, deletions too', async () => {
    await namespaceWith('expired', ['gone', 'edited', 'same']);
    const { informer, told } = await watchConfigMaps('expired');
    const before = (await lists('expired')).length;
    line.cut();
    await eventually('the watch is known to be broken', () => informer.staleSeconds() > 0);
    await admin.deleteNamespacedConfigMap({ namespace: 'expired', name: 'gone' });
    await admin.replaceNamespacedConfigMap({
      namespace: 'expired',
      name: 'edited',
      body: { metadata: { name: 'edited' }, data: { n: '2' } },
    });
    await put('expired', 'added');
    // A new API server knows no change from before its own start: who asks for older ones is answered 410.
    await plane.restartApiServer();
    line.mend();
    await eventually('the informer has caught up', () => informer.get('added', 'expired') !== undefined);
    expect(told().slice(0, 3).toSorted()).toEqual(['new edited 1', 'new gone 1', 'new same 1']);
    expect(told().slice(3).toSorted()).toEqual(['changed edited 2', 'deleted gone', 'new added 1']);
    await eventually('the second list is in the audit log', async () => (await lists('expired')).length > before);
    expect(informer.staleSeconds()).toBe(0);
  });

  it('starts while the API server is away, and is synced once it is there', async () => {
    await namespaceWith('later', ['one']);
    line.cut();
    const { informer } = await watchConfigMaps('later');
    expect(informer.isSynced()).toBe(false);
    line.mend();
    await eventually('the informer is synced', () => informer.isSynced());
    expect(informer.get('one', 'later')?.data).toEqual({ n: '1' });
  });
});
