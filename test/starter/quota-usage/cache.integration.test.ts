import {
  PatchStrategy,
  setHeaderOptions,
  ApiextensionsV1Api,
  ApiregistrationV1Api,
  CoreV1Api,
  CustomObjectsApi,
  RbacAuthorizationV1Api,
  ResourceV1Api,
  type V1ResourceQuotaSpec,
} from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { createUsageCache, type UsageCacheSetup } from '../../../starter/quota-usage/cache.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { templateObjects } from '../../kernel/stack/chart.ts';
import { applyManifests, applyObjects } from '../../kernel/stack/manifests.ts';
import { accessOf } from '../../kernel/stack/access.ts';

/** Runs under the roles for counting. */
const STARTER = 'starter';
/** May watch quotas and pods only. */
const NARROW = 'narrow';

let plane: ControlPlane;
let core: CoreV1Api;
let custom: CustomObjectsApi;
let extensions: ApiextensionsV1Api;
let registrations: ApiregistrationV1Api;
let rbac: RbacAuthorizationV1Api;
let devices: ResourceV1Api;

beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: STARTER }, { name: NARROW }],
    // Nobody else has a part in what is counted here, and admission waits for nobody's count.
    apiServerFlags: ['--disable-admission-plugins=ResourceQuota'],
    controllerManagerFlags: ['--controllers=*,-resourcequota-controller'],
  });
  const admin = accessOf(plane.adminKubeconfig);
  core = admin.makeApiClient(CoreV1Api);
  custom = admin.makeApiClient(CustomObjectsApi);
  extensions = admin.makeApiClient(ApiextensionsV1Api);
  registrations = admin.makeApiClient(ApiregistrationV1Api);
  rbac = admin.makeApiClient(RbacAuthorizationV1Api);
  devices = admin.makeApiClient(ResourceV1Api);
  const roles = (await templateObjects('quota-usage/reading-rbac', 'quota-usage/secrets-rbac')).filter(
    ({ kind }) => kind === 'ClusterRole',
  );
  await applyObjects(plane.adminKubeconfig, roles);
  await applyManifests(plane.adminKubeconfig, [new URL('../../quota-usage/custom-resources.yaml', import.meta.url)]);
  for (const role of ['quota-usage-reading', 'quota-usage-secrets', 'custom-resources']) {
    await bind(STARTER, `headroom-starter-${role}`);
  }
  await allow('narrow-quotas', ['resourcequotas', 'pods']);
  await bind(NARROW, 'narrow-quotas');
});

afterAll(async () => {
  await plane?.stop();
});

/** Lets a role list and watch resources of the core group. */
async function allow(name: string, resources: readonly string[]): Promise<void> {
  const rules = [{ apiGroups: [''], resources: [...resources], verbs: ['list', 'watch'] }];
  await rbac.createClusterRole({ body: { metadata: { name }, rules } });
}

async function bind(user: string, role: string): Promise<void> {
  await rbac.createClusterRoleBinding({
    body: {
      metadata: { name: `${role}-${user}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
    },
  });
}

/** Caches of the whole cluster that are ready, what their listener was told, and what they logged. */
async function startCache({ user = STARTER, ...more }: { user?: string } & Partial<UsageCacheSetup> = {}) {
  const stop = new AbortController();
  const calls: string[] = [];
  const objects = new Map<string, object>();
  const lines: string[] = [];
  const nameOf = ({
    metadata,
  }: {
    metadata?: { namespace?: string | undefined; name?: string | undefined } | undefined;
  }) => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;
  const cache = createUsageCache({
    kubeConfig: loadKubeConfig(
      // A first attempt that is given up leaves uncounted what is only late, on a machine that starves.
      { kubeconfig: plane.kubeconfigFor(user), context: undefined, requestTimeoutMs: 30_000 },
      {},
    ),
    discoveryMs: 500,
    replenishmentResyncMs: 3_600_000,
    listener: {
      isOwnWrite: () => false,
      onObject: (resource, object, previous) => {
        objects.set(`${groupResourceName(resource)} ${nameOf(object)}`, object);
        calls.push(`${previous === undefined ? 'new' : 'changed'} ${groupResourceName(resource)} ${nameOf(object)}`);
      },
      onObjectGone: (resource, object) => calls.push(`gone ${groupResourceName(resource)} ${nameOf(object)}`),
      onQuota: (quota, previous) => calls.push(`${previous === undefined ? 'new' : 'changed'} quota ${keyOf(quota)}`),
      onQuotaGone: (quota) => calls.push(`gone quota ${keyOf(quota)}`),
      onFilled: (resource) => calls.push(`filled ${groupResourceName(resource)}`),
      onChecked: (namespace) => calls.push(`checked ${namespace}`),
    },
    staleValues: () => [],
    time: Date,
    log: pino({}, { write: (text: string) => lines.push(JSON.parse(text).msg) }),
    signal: stop.signal,
    ...more,
  });
  onTestFinished(async () => {
    stop.abort();
    await cache.stop();
  });
  // As long as whatever else is waited for here.
  expect(await cache.ready(AbortSignal.timeout(60_000))).toBe(true);
  const countOf = async (namespace: string, name = 'quota') => {
    const quota = cache.quota(namespace, name);
    return quota === null ? null : await cache.count(quota, AbortSignal.timeout(20_000));
  };
  /** Waits until the quota's namespace is counted like this. */
  const counts = async (namespace: string, used: Readonly<Record<string, string>>): Promise<void> => {
    let last: unknown;
    await eventually(`${namespace} uses ${JSON.stringify(used)}`, async () => {
      last = await countOf(namespace);
      return JSON.stringify(last) === JSON.stringify({ used: sorted(used), unmeasured: [] });
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}; it is ${JSON.stringify(last)}`);
    });
  };
  return { cache, countOf, counts, calls, objects, lines };
}

function keyOf({ namespace, name }: CachedQuota): string {
  return `${namespace}/${name}`;
}

function sorted(list: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(list).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function namespaceWith(namespace: string, hard: Readonly<Record<string, string>>): Promise<void> {
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  await putQuota(namespace, { hard });
}

async function putQuota(namespace: string, spec: V1ResourceQuotaSpec, name = 'quota'): Promise<void> {
  await core.createNamespacedResourceQuota({ namespace, body: { metadata: { name }, spec } });
}

async function putPod(namespace: string, name: string, cpu = '100m'): Promise<string> {
  const requests = { cpu };
  const spec = { containers: [{ name: 'main', image: 'main', resources: { requests } }] };
  const { metadata } = await core.createNamespacedPod({ namespace, body: { metadata: { name }, spec } });
  return metadata?.resourceVersion ?? '';
}

const group = (plural: string) => `${plural}.example.com`;

/** A custom resource in an API group of its own. */
async function putDefinition(plural: string): Promise<void> {
  const kind = `Kind${plural}`;
  await extensions.createCustomResourceDefinition({
    body: {
      metadata: { name: `${plural}.${group(plural)}` },
      spec: {
        group: group(plural),
        scope: 'Namespaced',
        names: { plural, kind },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as object },
          },
        ],
      },
    },
  });
}

async function putCustom(plural: string, namespace: string, name: string): Promise<void> {
  // A new definition is served a moment later.
  await eventually(`${plural} can be created`, async () => {
    await custom.createNamespacedCustomObject({
      group: group(plural),
      version: 'v1',
      plural,
      namespace,
      body: { apiVersion: `${group(plural)}/v1`, kind: `Kind${plural}`, metadata: { name } },
    });
    return true;
  });
}

const countKey = (plural: string) => `count/${plural}.${group(plural)}`;

describe('the caches of a starter', () => {
  it('count what a namespace uses, and see what changes', async () => {
    await namespaceWith('basic', { pods: '10', 'requests.cpu': '10', services: '5', 'count/secrets': '5' });
    await putPod('basic', 'early');
    const { cache, counts, calls, objects } = await startCache();
    await counts('basic', { pods: '1', 'requests.cpu': '100m', services: '0', 'count/secrets': '0' });
    await putPod('basic', 'late', '250m');
    await core.createNamespacedService({
      namespace: 'basic',
      body: { metadata: { name: 'web' }, spec: { ports: [{ port: 80 }] } },
    });
    await core.createNamespacedSecret({
      namespace: 'basic',
      body: { metadata: { name: 'password' }, stringData: { password: 'hunter2' } },
    });
    await counts('basic', { pods: '2', 'requests.cpu': '350m', services: '1', 'count/secrets': '1' });
    await core.deleteNamespacedPod({ namespace: 'basic', name: 'early', gracePeriodSeconds: 0 });
    await counts('basic', { pods: '1', 'requests.cpu': '250m', services: '1', 'count/secrets': '1' });
    // A pod whose grace is over is not counted any more, and is there until its deletion is told.
    await eventually('its end is told', () => calls.includes('gone pods basic/early'));
    expect(calls.filter((line) => /^(?:new|gone) pods basic\//.test(line))).toEqual([
      'new pods basic/early',
      'new pods basic/late',
      'gone pods basic/early',
    ]);
    // Each resource has a watch of its own, and one may be ahead of the other.
    expect(calls.filter((line) => /^(?:new|gone) (?!quota|pods).* basic\/[^k]/.test(line)).toSorted()).toEqual([
      'new secrets basic/password',
      'new services basic/web',
    ]);
    expect(cache.watched().map(groupResourceName).toSorted()).toEqual(['pods', 'secrets', 'services']);
    // Of a Secret, the metadata that tells it from others, and nothing else.
    expect(Object.keys(objects.get('secrets basic/password') ?? {})).toEqual(['metadata']);
    expect(JSON.stringify(objects.get('pods basic/late'))).not.toContain('image');
  });

  it('take an object that grows for what its charge was for, and what was freed shows at once', async () => {
    await namespaceWith('grown', { services: '5', 'services.nodeports': '5' });
    const { cache, counts } = await startCache();
    const name = 'web';
    const ports = [{ port: 80 }];
    await core.createNamespacedService({ namespace: 'grown', body: { metadata: { name }, spec: { ports } } });
    await counts('grown', { services: '1', 'services.nodeports': '0' });
    const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
    const used = { services: '1', 'services.nodeports': '0' };
    const say = async (nodePorts: string): Promise<void> => {
      const body = { status: { used: { ...used, 'services.nodeports': nodePorts } } };
      await core.patchNamespacedResourceQuotaStatus({ namespace: 'grown', name: 'quota', body }, merge);
      await eventually(
        'it is cached',
        () => cache.quota('grown', 'quota')?.status.used?.['services.nodeports'] === nodePorts,
      );
    };
    await say('0');
    await say('1');
    await core.patchNamespacedService({ namespace: 'grown', name, body: { spec: { type: 'NodePort' } } }, merge);
    await counts('grown', { services: '1', 'services.nodeports': '1' });
    const quota = cache.quota('grown', 'quota');
    if (quota === null) throw new Error('the quota is not cached');
    expect(cache.unsettledCharges(quota)['services.nodeports']).toBeUndefined();
  });

  it('know no quota that is being deleted', async () => {
    await core.createNamespace({ body: { metadata: { name: 'dying' } } });
    const metadata = { name: 'quota', finalizers: ['example.com/slow'] };
    await core.createNamespacedResourceQuota({ namespace: 'dying', body: { metadata, spec: { hard: { pods: '1' } } } });
    const { cache, calls } = await startCache();
    expect(cache.quotas('dying').map(keyOf)).toEqual(['dying/quota']);
    await core.deleteNamespacedResourceQuota({ namespace: 'dying', name: 'quota' });
    await eventually('the quota is taken for gone', () => cache.quota('dying', 'quota') === null);
    expect(cache.quotas('dying')).toEqual([]);
    const body = { metadata: { name: 'quota', finalizers: [] }, spec: { hard: { pods: '1' } } };
    await core.replaceNamespacedResourceQuota({ namespace: 'dying', name: 'quota', body });
    await putQuota('dying', { hard: { pods: '2' } }, 'next');
    await eventually('the next quota is cached', () => cache.quota('dying', 'next') !== null);
    expect(
      calls.filter((line) => line.includes('quota dying/quota')).filter((line) => !line.startsWith('changed')),
    ).toEqual(['new quota dying/quota', 'gone quota dying/quota']);
  });

  it('begin to watch what a new quota counts before it is counted, and stop when no quota does', async () => {
    await core.createNamespace({ body: { metadata: { name: 'needs' } } });
    await core.createNamespacedConfigMap({ namespace: 'needs', body: { metadata: { name: 'one' } } });
    const { cache, countOf, calls } = await startCache({ lingerMs: 0 });
    const counted = async () => (await countOf('needs'))?.unmeasured;
    await core.createNamespacedResourceQuota({
      namespace: 'needs',
      body: { metadata: { name: 'quota' }, spec: { hard: { 'count/podtemplates': '9' } } },
    });
    await eventually('the quota is cached', () => cache.quota('needs', 'quota') !== null);
    // It waits for the cache that is being filled, and finds all of it.
    expect(await counted()).toEqual([]);
    await eventually('whoever counts is told', () => calls.includes('filled podtemplates'));
    await core.deleteNamespacedResourceQuota({ namespace: 'needs', name: 'quota' });
    await eventually('it is not watched any more', () => !cache.informers().has('podtemplates'));
  });

  it('count claims for devices by their class', async () => {
    await namespaceWith('devices', {
      'gpu.deviceclass.resource.k8s.io/devices': '8',
      'count/resourceclaims.resource.k8s.io': '8',
    });
    const { counts } = await startCache();
    await devices.createNamespacedResourceClaim({
      namespace: 'devices',
      body: {
        metadata: { name: 'two' },
        spec: { devices: { requests: [{ name: 'r', exactly: { deviceClassName: 'gpu', count: 2 } }] } },
      },
    });
    await counts('devices', {
      'gpu.deviceclass.resource.k8s.io/devices': '2',
      'count/resourceclaims.resource.k8s.io': '1',
    });
  });

  it('list everything anew from time to time, and tell nothing twice', async () => {
    await namespaceWith('resync', { 'count/replicationcontrollers': '5' });
    const lists = async () =>
      (await plane.auditEvents()).filter(
        ({ user, verb, objectRef }) =>
          user.username === STARTER && verb === 'list' && objectRef?.resource === 'replicationcontrollers',
      ).length;
    const metadata = { name: 'one' };
    await core.createNamespacedReplicationController({
      namespace: 'resync',
      body: {
        metadata,
        spec: {
          replicas: 0,
          selector: { a: 'b' },
          template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'c' }] } },
        },
      },
    });
    const before = await lists();
    const { counts, calls } = await startCache({ replenishmentResyncMs: 200 });
    await counts('resync', { 'count/replicationcontrollers': '1' });
    await eventually('it was listed several times', async () => (await lists()) >= before + 4);
    await counts('resync', { 'count/replicationcontrollers': '1' });
    expect(calls.filter((line) => line.startsWith('new replicationcontrollers'))).toHaveLength(1);
  });

  it('leave uncounted only what they may not see, and count it as soon as they may', async () => {
    await namespaceWith('narrow', { pods: '10', 'count/secrets': '5', 'count/configmaps': '5' });
    await putPod('narrow', 'one');
    const { cache, countOf, counts, calls } = await startCache({ user: NARROW });
    const uncounted = await eventually('what is forbidden is known', async () => {
      const count = await countOf('narrow');
      // A first attempt may have failed for another reason, such as a server that is slow to answer, and that of the pods too.
      return count?.unmeasured.length === 2 && count.unmeasured.every(({ reason }) => reason.includes('403')) && count;
    });
    expect(uncounted).toEqual({
      used: { pods: '1' },
      unmeasured: expect.arrayContaining([
        {
          keys: ['count/secrets'],
          reason: expect.stringMatching(
            /^secrets may not be listed, which rights\.countSecrets of the chart allows: 403 secrets is forbidden: User "narrow"/,
          ),
        },
        {
          keys: ['count/configmaps'],
          reason: expect.stringMatching(
            /^configmaps may not be listed, which quotaUsage\.mode of the chart allows: 403/,
          ),
        },
      ]),
    });
    expect(cache.informers().get('pods')?.trouble()).toBeNull();
    await allow('narrow-more', ['secrets', 'configmaps']);
    await bind(NARROW, 'narrow-more');
    // Every namespace has the certificate of the cluster as a ConfigMap.
    await counts('narrow', { pods: '1', 'count/secrets': '0', 'count/configmaps': '1' });
    await eventually('whoever counts is told', () =>
      ['filled secrets', 'filled configmaps'].every((line) => calls.includes(line)),
    );
  });
});

describe('custom resources', () => {
  it('are counted as soon as they are defined, and are none once they are not, which disturbs nothing else', async () => {
    await namespaceWith('custom', { pods: '10', [countKey('widgets')]: '5' });
    const { cache, counts, calls } = await startCache();
    // Nobody knows how to count what is not there.
    await counts('custom', { pods: '0' });
    const pods = cache.informers().get('pods');
    await putDefinition('widgets');
    await putCustom('widgets', 'custom', 'one');
    await counts('custom', { pods: '0', [countKey('widgets')]: '1' });
    await putCustom('widgets', 'custom', 'two');
    await counts('custom', { pods: '0', [countKey('widgets')]: '2' });
    await extensions.deleteCustomResourceDefinition({ name: `widgets.${group('widgets')}` });
    await eventually('they are not watched any more', () => !cache.informers().has(`widgets.${group('widgets')}`));
    // They went with their definition, so that there are none is known.
    await counts('custom', { pods: '0', [countKey('widgets')]: '0' });
    // The watch may have ended before it told of each; whoever counts is told of all of them in any case.
    expect(calls.findLast((line) => line.includes('widgets'))).toBe(`filled widgets.${group('widgets')}`);
    expect(cache.informers().get('pods')).toBe(pods);
    expect(pods?.trouble()).toBeNull();
  });

  it('of a group whose server does not answer stay known, and the others come and go as ever', async () => {
    await putDefinition('gadgets');
    await namespaceWith('partial', { [countKey('gadgets')]: '5', [countKey('gizmos')]: '5', pods: '5' });
    await putCustom('gadgets', 'partial', 'one');
    const { cache, counts, lines } = await startCache();
    await counts('partial', { [countKey('gadgets')]: '1', pods: '0' });
    // What comes after the list is told by the watch: one that is only being opened would be sent to nowhere as well.
    await putCustom('gadgets', 'partial', 'two');
    await counts('partial', { [countKey('gadgets')]: '2', pods: '0' });
    const gadgets = cache.informers().get(`gadgets.${group('gadgets')}`);
    const name = `v1.${group('gadgets')}`;
    await sendToNowhere(name);
    await eventually('discovery says so', () => lines.some((line) => line.includes(`${group('gadgets')}/v1`)));
    // A whole round later: the new group is there, and the one that does not answer has not been taken for gone.
    await putDefinition('gizmos');
    await putCustom('gizmos', 'partial', 'one');
    await counts('partial', { [countKey('gadgets')]: '2', [countKey('gizmos')]: '1', pods: '0' });
    expect(cache.informers().get(`gadgets.${group('gadgets')}`)).toBe(gadgets);
    // Without it, the API server makes its own again.
    await registrations.deleteAPIService({ name });
    await putCustom('gadgets', 'partial', 'three');
    await counts('partial', { [countKey('gadgets')]: '3', [countKey('gizmos')]: '1', pods: '0' });
    await eventually('discovery is whole again', () => lines.includes('all resources of the cluster are discovered'));
  });
});

/** Sends a group's requests to a service that there is not. */
async function sendToNowhere(name: string): Promise<void> {
  await eventually(`the APIService ${name} is replaced`, async () => {
    const { metadata, spec } = await registrations.readAPIService({ name });
    if (spec === undefined) throw new Error(`${name} has no spec`);
    const service = { namespace: 'default', name: 'nowhere', port: 443 };
    await registrations.replaceAPIService({
      name,
      body: {
        // Without its label, the API server takes it for somebody else's and leaves it alone.
        metadata: { name, resourceVersion: metadata?.resourceVersion ?? '', labels: {} },
        spec: {
          group: group('gadgets'),
          version: 'v1',
          groupPriorityMinimum: spec.groupPriorityMinimum,
          versionPriority: spec.versionPriority,
          service,
          insecureSkipTLSVerify: true,
        },
      },
    });
    return true;
  });
}

describe('an API server that is killed and started again', () => {
  it('leaves the caches as they were, and they catch up', async () => {
    await namespaceWith('killed', { pods: '10', 'count/secrets': '5' });
    await putPod('killed', 'old');
    // What is cached is true for as long as this test takes to look, on a machine that starves as well.
    const { cache, counts, calls } = await startCache({ staleAfterSeconds: 60 });
    await counts('killed', { pods: '1', 'count/secrets': '0' });
    await plane.killApiServer();
    await eventually('the watches are known to be broken', () =>
      [...cache.informers().values()].every((informer) => informer.trouble() !== null),
    );
    await counts('killed', { pods: '1', 'count/secrets': '0' });
    await plane.startApiServer();
    await putPod('killed', 'young');
    await counts('killed', { pods: '2', 'count/secrets': '0' });
    expect(calls.filter((line) => line.startsWith('new pods killed/'))).toEqual([
      'new pods killed/old',
      'new pods killed/young',
    ]);
    await eventually('all watches are back', () =>
      [...cache.informers().values()].every((informer) => informer.trouble() === null),
    );
  });

  it('makes what was cached too old to be counted if it stays away, and everything is counted when it is back', async () => {
    await namespaceWith('away', { pods: '10' });
    const { cache, counts, countOf, calls } = await startCache({ staleAfterSeconds: 1 });
    await counts('away', { pods: '0' });
    await eventually('the cache was filled', () => calls.includes('filled pods'));
    calls.length = 0;
    await plane.killApiServer();
    const uncounted = await eventually('it is not counted any more', async () => {
      const count = await countOf('away');
      return count?.unmeasured[0]?.reason.includes(': ') && count;
    });
    expect(uncounted).toEqual({
      used: {},
      unmeasured: [
        { keys: ['pods'], reason: expect.stringMatching(/^the watch of pods has been broken for \d+ s: ./) },
      ],
    });
    expect(cache.quota('away', 'quota')).not.toBeNull();
    await plane.startApiServer();
    await counts('away', { pods: '0' });
    await eventually('whoever counts is told', () => calls.includes('filled pods'));
  });
});
