import { CoreV1Api, KubeConfig, type V1ConfigMap, type V1Secret } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import { PauseView } from '../../../activities/kernel/pause-view.ts';
import { watchPauses } from '../../../activities/kernel/pause-watch.ts';
import { isAtLeast } from '../../../domain/kernel/resource-version.ts';
import { type InformerOptions, startInformer } from '../../../activities/kubernetes/informer.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { type CuttableLine, kubeconfigThrough, startLine } from '../../kernel/servers/cuttable-line.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { accessOf } from '../../kernel/stack/access.ts';

const WATCHER = 'watcher';
const STRANGER = 'stranger';

let plane: ControlPlane;
let line: CuttableLine;
let admin: CoreV1Api;
let kubeConfig: KubeConfig;

beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: WATCHER, groups: ['system:masters'] }, { name: STRANGER }],
    // Seconds. A watch ends after so long or up to twice as long, and two seconds before that the server says how far it has
    // come, which it otherwise does once a minute.
    apiServerFlags: ['--min-request-timeout=5'],
  });
  line = await startLine(Number(new URL(plane.url).port));
  const config = accessOf(plane.adminKubeconfig);
  admin = config.makeApiClient(CoreV1Api);
  kubeConfig = loadKubeConfig(
    {
      kubeconfig: await kubeconfigThrough(line, plane.kubeconfigFor(WATCHER)),
      context: undefined,
      // The first attempt is to succeed, on a machine that starves as well.
      requestTimeoutMs: 30_000,
    },
    {},
  );
});

afterAll(async () => {
  await line?.stop();
  await plane?.stop();
});

/** An informer of the ConfigMaps of one namespace, and what it said. */
async function watchConfigMaps(
  namespace: string,
  more: Partial<InformerOptions<V1ConfigMap>> & { readonly access?: KubeConfig } = {},
) {
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const stop = new AbortController();
  const changes: string[] = [];
  const lines: string[] = [];
  const context = {
    log: pino({}, { write: (text: string) => lines.push(JSON.parse(text).msg) }),
    signal: stop.signal,
  };
  const informer = await startInformer<V1ConfigMap>(
    more.access ?? kubeConfig,
    {
      name: 'configmaps',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      listPage: async (page) => await core.listNamespacedConfigMap({ namespace, ...page }),
      onChange: ({ metadata, data }, previous) =>
        changes.push(`${previous === undefined ? 'new' : 'changed'} ${metadata?.name} ${data?.['n'] ?? ''}`.trim()),
      onDelete: ({ metadata }) => changes.push(`deleted ${metadata?.name}`),
      ...more,
    },
    context,
  );
  onTestFinished(async () => {
    stop.abort();
    await informer.stop();
  });
  const ofUs = (entry: string) => !entry.includes('kube-root-ca');
  return { informer, changes: () => changes.filter(ofUs), lines };
}

/** An informer of the Secrets of the namespace `secret`, by their metadata; what it tells goes to `seen`. */
async function watchSecrets(seen: V1Secret[]) {
  const stop = new AbortController();
  const informer = await startInformer<V1Secret>(
    kubeConfig,
    {
      name: 'secrets',
      path: '/api/v1/namespaces/secret/secrets',
      metadataOnly: true,
      onChange: (secret) => seen.push(secret),
      onDelete: () => {},
    },
    { log: pino({ level: 'silent' }), signal: stop.signal },
  );
  onTestFinished(async () => {
    stop.abort();
    await informer.stop();
  });
  return { informer };
}

/** Each has a connection of its own, and one of hundreds at once may not be open within the ten seconds that it has for that. */
const PUTS_AT_ONCE = 10;

async function namespaceWith(namespace: string, names: readonly string[]): Promise<void> {
  await admin.createNamespace({ body: { metadata: { name: namespace } } });
  await inParallel(PUTS_AT_ONCE, names, async (name) => await put(namespace, name));
}

async function put(namespace: string, name: string): Promise<void> {
  await admin.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data: { n: '1' } } });
}

async function change(namespace: string, name: string, n: string): Promise<void> {
  await admin.replaceNamespacedConfigMap({ namespace, name, body: { metadata: { name }, data: { n } } });
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
    const { informer, changes } = await watchConfigMaps('pages');
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
    const before = changes().length;
    await admin.deleteNamespacedConfigMap({ namespace: 'pages', name: 'map-619' });
    await put('pages', 'late');
    await eventually('both changes are seen', () => changes().length === before + 2);
    expect(changes().slice(before)).toEqual(['deleted map-619', 'new late 1']);
    expect(informer.get('map-619', 'pages')).toBeUndefined();
    expect(informer.get('late', 'pages')?.data).toEqual({ n: '1' });
  });

  it('goes on where it was after the API server was killed, and tells nothing twice', async () => {
    await namespaceWith('killed', ['old']);
    const { informer, changes, lines } = await watchConfigMaps('killed');
    await plane.killApiServer();
    // Longer than the pause between two attempts: an attempt that fails is no sign of life.
    await eventually('the watch is known to be broken', () => informer.staleSeconds() > 1.5);
    expect(informer.get('old', 'killed')?.metadata?.name).toBe('old');
    await plane.startApiServer();
    await put('killed', 'young');
    await eventually('the informer has caught up', () => informer.get('young', 'killed') !== undefined);
    await eventually('the informer watches again', () => informer.staleSeconds() === 0);
    expect(changes()).toEqual(['new old 1', 'new young 1']);
    expect(lines).toContain('waiting for Kubernetes to watch configmaps');
  });

  it('lists again when its place in the history has expired, and tells what it missed, deletions too', async () => {
    await namespaceWith('expired', ['gone', 'edited', 'same']);
    const { informer, changes } = await watchConfigMaps('expired');
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
    expect(changes().slice(0, 3).toSorted()).toEqual(['new edited 1', 'new gone 1', 'new same 1']);
    expect(changes().slice(3).toSorted()).toEqual(['changed edited 2', 'deleted gone', 'new added 1']);
    await eventually('the second list is in the audit log', async () => (await lists('expired')).length > before);
    await eventually('the informer watches again', () => informer.staleSeconds() === 0);
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

  it('keeps of listed and of watched objects only what its shape leaves', async () => {
    await namespaceWith('shaped', ['listed']);
    const { informer, changes } = await watchConfigMaps('shaped', {
      shape: ({ metadata }) => ({
        metadata: {
          name: metadata?.name ?? '',
          namespace: metadata?.namespace ?? '',
          resourceVersion: metadata?.resourceVersion ?? '',
        },
      }),
    });
    await put('shaped', 'watched');
    await eventually('both are known', () => changes().length === 2);
    expect(changes()).toEqual(['new listed', 'new watched']);
    for (const name of ['listed', 'watched']) {
      expect(informer.get(name, 'shaped')).toEqual({
        metadata: { name, namespace: 'shaped', resourceVersion: expect.stringMatching(/^\d+$/) },
      });
    }
  });

  it('asks for metadata only: the data of a Secret does not leave the API server', async () => {
    await admin.createNamespace({ body: { metadata: { name: 'secret' } } });
    const create = async (name: string) =>
      await admin.createNamespacedSecret({
        namespace: 'secret',
        body: { metadata: { name }, stringData: { key: 'x' } },
      });
    await create('listed');
    const seen: V1Secret[] = [];
    const { informer } = await watchSecrets(seen);
    await create('watched');
    await eventually('both are known', () => informer.list('secret').length === 2);
    expect(seen.map(({ metadata }) => metadata?.name)).toEqual(['listed', 'watched']);
    for (const secret of [...seen, ...informer.list('secret')]) {
      expect(secret.metadata?.uid).toMatch(/./);
      expect(Object.keys(secret).filter((key) => !['kind', 'apiVersion', 'metadata'].includes(key))).toEqual([]);
    }
  });

  it('says that it has reached a version when the object of that version is in the cache, and not before', async () => {
    await namespaceWith('observed', ['old']);
    const { informer } = await watchConfigMaps('observed');
    const patience = AbortSignal.timeout(60_000);
    const first = informer.get('old', 'observed')?.metadata?.resourceVersion ?? '';
    expect(await informer.observed(first, patience)).toBe(true);
    for (const name of ['a', 'b', 'c']) {
      const { metadata } = await admin.createNamespacedConfigMap({
        namespace: 'observed',
        body: { metadata: { name } },
      });
      // Asked for before the watch can have told of it, or after: the answer is the same.
      expect(await informer.observed(metadata?.resourceVersion ?? '', patience)).toBe(true);
      expect(informer.get(name, 'observed')?.metadata?.resourceVersion).toBe(metadata?.resourceVersion);
    }
    // Further than that by the namespace's own ConfigMap, or by a bookmark.
    const last = informer.get('c', 'observed')?.metadata?.resourceVersion ?? '';
    expect(last).toMatch(/^\d+$/);
    expect(isAtLeast(informer.resourceVersion(), last)).toBe(true);
    const gone = new AbortController();
    const future = informer.observed('9'.repeat(30), gone.signal);
    gone.abort();
    expect(await future).toBe(false);
  });

  it('has come as far as a change that is none of its own, once a bookmark says so', async () => {
    await namespaceWith('bookmarked', ['one']);
    await namespaceWith('elsewhere', ['other']);
    const { informer } = await watchConfigMaps('bookmarked');
    // What happens to other objects is no event here; the server says how far it has come before it ends the watch.
    const changed = await admin.replaceNamespacedConfigMap({
      namespace: 'elsewhere',
      name: 'other',
      body: { metadata: { name: 'other' }, data: { n: '2' } },
    });
    expect(await informer.observed(changed.metadata?.resourceVersion ?? '', AbortSignal.timeout(60_000))).toBe(true);
    expect(informer.list('bookmarked').map(({ metadata }) => metadata?.name)).toContain('one');
  });

  it('lists anew when it is told to, tells only what is different, and goes on watching', async () => {
    await namespaceWith('relisted', ['one']);
    const { informer, changes } = await watchConfigMaps('relisted');
    const before = (await lists('relisted')).length;
    informer.relist();
    await eventually('the second list is in the audit log', async () => (await lists('relisted')).length > before);
    await put('relisted', 'two');
    await eventually('it watches', () => informer.get('two', 'relisted') !== undefined);
    expect(changes()).toEqual(['new one 1', 'new two 1']);
    expect(informer.trouble()).toBeNull();
  });

  it('told to list anew while the watch is broken, does so when it is back', async () => {
    await namespaceWith('relisted-late', ['one']);
    const told: string[] = [];
    const onChange: InformerOptions<V1ConfigMap>['onChange'] = ({ metadata, data }, _, isListed) => {
      if (metadata?.name === 'one') told.push(`${data?.['n']} ${isListed ? 'listed' : 'watched'}`);
    };
    const { informer } = await watchConfigMaps('relisted-late', { onChange });
    line.cut();
    await eventually('the watch is known to be broken', () => informer.trouble() !== null);
    for (const n of ['2', '3']) await change('relisted-late', 'one', n);
    const before = (await lists('relisted-late')).length;
    informer.relist();
    line.mend();
    await eventually('it is connected again', () => informer.trouble() === null);
    await eventually('the second list is in the audit log', async () => (await lists('relisted-late')).length > before);
    await eventually('the informer watches again', () => informer.staleSeconds() === 0);
    await change('relisted-late', 'one', '4');
    await eventually('it has told of the last one', () => told.length === 3);
    expect(told).toEqual(['1 listed', '3 listed', '4 watched']);
  });

  it('that is forbidden says so in words, and is never synced', async () => {
    await namespaceWith('forbidden', []);
    const access = new KubeConfig();
    access.loadFromFile(plane.kubeconfigFor(STRANGER));
    const { informer } = await watchConfigMaps('forbidden', { access, metadataOnly: true });
    expect(informer.isSynced()).toBe(false);
    expect(informer.trouble()).toMatch(/^403 configmaps is forbidden: User "stranger" cannot list/);
    expect(informer.resourceVersion()).toBe('');
  });

  it('is silent once it is stopped, and whoever waited for it is told', async () => {
    await namespaceWith('stopped', ['one']);
    const { informer, changes } = await watchConfigMaps('stopped');
    const waiting = informer.observed('9'.repeat(30), AbortSignal.timeout(60_000));
    await informer.stop();
    expect(await waiting).toBe(false);
    const { informer: other } = await watchConfigMaps('stopped');
    await put('stopped', 'two');
    await eventually('another informer has seen it', () => other.get('two', 'stopped') !== undefined);
    expect(changes()).toEqual(['new one 1']);
  });
});

it('the watch of the pauses says that it reports nothing while one of its watches is being opened again', async () => {
  const stop = new AbortController();
  const view = new PauseView(async () => await Promise.resolve({ everything: null, pauses: null }));
  const watched = vi.spyOn(view, 'watched');
  const context = { kubeConfig, systemNamespace: 'default', log: pino({ level: 'silent' }), signal: stop.signal };
  const watch = watchPauses(view, context);
  onTestFinished(async () => {
    stop.abort();
    await watch.stop();
  });
  await eventually('both are watched', () => watched.mock.lastCall?.[0] === true, 30_000);
  watched.mockClear();
  // The API server ends each after ten seconds at the latest.
  await eventually('one has ended', () => watched.mock.calls.length > 0, 30_000);
  expect(watched.mock.calls[0]).toEqual([false]);
  await eventually('both are watched again', () => watched.mock.lastCall?.[0] === true, 30_000);
});
