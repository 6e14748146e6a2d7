import {
  AuthorizationV1Api,
  CoreV1Api,
  type KubeConfig,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { QuotaRequest } from '../../../starter/quota-resize/reconcile-request.ts';
import { watchQuotas } from '../../../starter/quota-resize/watch.ts';
import { loadConfig } from '../../../starter/config.ts';
import { policyDefaults } from '../../../domain/quota-resize/settings.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import { untilAllowed } from '../../activities/until-allowed.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyObjects } from '../../kernel/stack/manifests.ts';

const WATCHER = 'watcher';
const RBAC = { apiVersion: 'rbac.authorization.k8s.io/v1' } as const;

let plane: ControlPlane;
let admin: KubeConfig;
let core: CoreV1Api;

beforeAll(async () => {
  // Nobody else may write what a quota uses.
  plane = await startControlPlane({
    users: [{ name: WATCHER }],
    controllerManagerFlags: ['--controllers=*,-resourcequota-controller'],
  });
  admin = accessOf(plane.adminKubeconfig);
  core = admin.makeApiClient(CoreV1Api);
  await allow('quotas', ['resourcequotas', 'events'], ['list', 'watch']);
});

afterAll(async () => {
  await plane?.stop();
});

/** Binds the watcher to a role of this name, and waits until the API server goes by that. */
async function allow(name: string, resources: readonly string[], verbs: readonly string[]): Promise<void> {
  await applyObjects(plane.adminKubeconfig, [
    { ...RBAC, kind: 'ClusterRole', metadata: { name }, rules: [{ apiGroups: [''], resources, verbs }] } as object,
    {
      ...RBAC,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: WATCHER }],
    } as object,
  ]);
  const deeds = resources.flatMap((resource) => verbs.map((verb) => ({ verb, resource })));
  await untilAllowed(plane.adminKubeconfig, WATCHER, deeds);
}

async function may(verb: string, resource: string): Promise<boolean> {
  const body = { spec: { user: WATCHER, resourceAttributes: { verb, resource } } };
  return (await admin.makeApiClient(AuthorizationV1Api).createSubjectAccessReview({ body })).status?.allowed === true;
}

async function quota(namespace: string, annotations: Readonly<Record<string, string>>, used: string): Promise<void> {
  const hard = { pods: '10' };
  const metadata = { namespace, name: 'compute' };
  await applyObjects(plane.adminKubeconfig, [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, annotations } },
    { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard } } as object,
  ]);
  await core.patchNamespacedResourceQuotaStatus(
    { ...metadata, body: { status: { hard, used: { pods: used } } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

/** A watch of quotas until the test is over, and what it asks for. */
async function watching(hasDecision: () => boolean = () => false) {
  const config = loadConfig({ argv: [], env: { CLUSTER_NAME: 'test' } });
  const requests: QuotaRequest[] = [];
  const stop = new AbortController();
  const watch = await watchQuotas({
    kubeConfig: loadKubeConfig(
      { kubeconfig: plane.kubeconfigFor(WATCHER), context: undefined, requestTimeoutMs: 30_000 },
      {},
    ),
    cluster: 'test',
    policyDefaults: policyDefaults(config),
    hasDecision,
    resyncMs: 3_600_000,
    request: (request) => requests.push(request),
    log: pino({ level: 'silent' }),
    signal: stop.signal,
  });
  onTestFinished(async () => {
    stop.abort();
    await watch.stop();
  });
  return requests;
}

describe('a namespace that is seen after its quotas', () => {
  it('has them evaluated again by what the annotation says', async () => {
    await allow('namespaces', ['namespaces'], ['list']);
    const requests = await watching();
    // It has listed them once. From here on it hears nothing of namespaces until it may again.
    await admin.makeApiClient(RbacAuthorizationV1Api).deleteClusterRoleBinding({ name: 'namespaces' });
    await eventually('the watcher may not list namespaces', async () => !(await may('list', 'namespaces')));

    await quota('half', { 'resizer.io/threshold': '50' }, '6');
    await quota('full', {}, '10');
    const started = () =>
      requests.flatMap((request) =>
        request.starts && request.about !== 'orphans' ? [[request.target.namespace, request.cause]] : [],
      );
    await eventually('the quota that was made later is seen', () => started().length > 0);
    expect(started()).toEqual([['full', 'a threshold is reached']]);

    await allow('namespaces', ['namespaces'], ['list', 'watch']);
    // It asks ever less often while it may not: once a minute at last.
    await eventually(
      'the other one gets a reconcile request',
      () => started().some(([namespace]) => namespace === 'half'),
      150_000,
    );
    expect(started()).toContainEqual(['half', 'the namespace changed']);
  }, 240_000);
});

describe('a denial', () => {
  it('is requested at once, and its repetition later: the rarer where the quota has a decision by then', async () => {
    await allow('all-namespaces', ['namespaces'], ['list', 'watch']);
    await quota('denied', {}, '1');
    let isDecided = false;
    const requests = await watching(() => isDecided);
    const ofDenials = () => requests.filter(({ cause }) => cause === 'admission denied a workload');
    const deny = async (pod: string) =>
      await core.createNamespacedEvent({
        namespace: 'denied',
        body: {
          metadata: { name: pod },
          involvedObject: { kind: 'ReplicaSet', namespace: 'denied', name: 'web', uid: 'web' },
          type: 'Warning',
          reason: 'FailedCreate',
          message: `Error creating: pods "${pod}" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=10, limited: pods=10`,
        },
      });
    await deny('web-1');
    await eventually('the denial is seen', () => ofDenials().length === 1);
    await deny('web-2');
    await eventually('its repetition is seen', () => ofDenials().length === 2);
    const [first, again] = ofDenials();
    expect(first).toMatchObject({ starts: true, skipsGap: true });
    expect(first).not.toHaveProperty('afterMs');
    expect(again?.afterMs ?? 0).toBeLessThanOrEqual(10_000);
    expect(again?.isStillNeeded?.()).toBe(true);
    isDecided = true;
    expect(again?.isStillNeeded?.()).toBe(false);
    // Ten seconds later it is asked whether there still is a decision.
    const [, , later] = ofDenials();
    expect(later?.afterMs).toBe(10_000);
    expect(later?.isStillNeeded?.()).toBe(false);
  });
});
