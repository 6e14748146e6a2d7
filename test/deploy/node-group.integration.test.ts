/** What is deployed for node groups, on a real API server: definitions, the webhook's manifests, and what the worker may write by the policy. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { machineBody } from '../../domain/node-group/api/machine.ts';
import { markPatch } from '../../domain/node-group/drain/marks.ts';
import { groupOf } from '../domain/node-group/builders.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { applyWritePolicy, WEBHOOK_KINDS, templateObjects, webhookObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests, applyObjects } from '../kernel/stack/manifests.ts';
import { type Api, openApi } from '../quota-usage/side-by-side/api.ts';

const WORKER = 'system:serviceaccount:namespace-resizer-system:headroom-worker';
const GROUPS = '/apis/autoscaler.vpsie.com/v1alpha1/namespaces/kube-system/nodegroups';
const MACHINES = '/apis/autoscaler.vpsie.com/v1alpha1/namespaces/kube-system/vpsienodes';
const NODE = '/api/v1/nodes/n1';

/** As the VPSie autoscaler's examples have it. */
const VPSIE = {
  minNodes: 1,
  maxNodes: 10,
  datacenterID: 'dc-1',
  resourceIdentifier: 'cluster-1',
  project: 'project-1',
  offeringIDs: ['small', 'large'],
  kubernetesVersion: 'v1.28.0',
  kubeSizeID: 5,
};

let plane: ControlPlane;
let admin: Api;
let worker: Api;

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: WORKER }]);
  await applyManifests(plane.adminKubeconfig, [
    new URL('../../deploy/chart-crds/definitions/node-group.yaml', import.meta.url),
  ]);
  // No starter answers the webhook.
  const webhook = await webhookObjects('node-group', 'Service', 'Secret', ...WEBHOOK_KINDS);
  await applyObjects(plane.adminKubeconfig, [...(await templateObjects('namespace')), ...webhook, everythingAllowed]);
  admin = openApi(plane.adminKubeconfig);
  worker = openApi(plane.kubeconfigFor(WORKER));
  for (const path of [GROUPS, MACHINES]) {
    await eventually(`${path} is served`, async () => (await admin.ask('GET', path)).code === 200);
  }
  await made('/api/v1/nodes', { metadata: { name: 'n1', annotations: { theirs: '1' } } });
  await made('/api/v1/namespaces', { metadata: { name: 'node-group-writes' } });
  await made(GROUPS, groupBody(VPSIE));
  await eventually('the worker has every right', async () => (await worker.ask('GET', NODE)).code === 200);
  await applyWritePolicy(plane.adminKubeconfig);
  const namespace = { metadata: { name: 'not-listed' } };
  await eventually('the policy is in force', async () =>
    (await worker.ask('POST', '/api/v1/namespaces?dryRun=All', namespace)).message.includes('headroom-worker may not'),
  );
});
afterAll(async () => {
  for (const api of [admin, worker]) api?.close();
  await plane?.stop();
});

describe('the definition of NodeGroups', () => {
  it('takes a group of the VPSie autoscaler, and fills in the defaults', async () => {
    expect((await admin.ask('GET', `${GROUPS}/web`)).object).toMatchObject({
      spec: { provider: 'vpsie', expander: 'least-waste', maxNodeProvisionTime: '15m' },
    });
  });

  it.each([
    ['more at least than at most', { ...VPSIE, minNodes: 11 }, 'minNodes must not exceed maxNodes'],
    ['no size, which VPSie needs', { ...VPSIE, kubeSizeID: undefined }, 'VPSie makes no machine without kubeSizeID'],
    ['more than 1000 nodes', { ...VPSIE, maxNodes: 1001 }, 'spec.maxNodes'],
    ['no time for a machine to come', { ...VPSIE, maxNodeProvisionTime: '0s' }, 'a machine has 1m at least'],
    ['a reserved label', { ...VPSIE, labels: { 'kubernetes.io/os': 'linux' } }, 'are reserved'],
  ])('refuses %s', async (_, spec, reason) => {
    const { code, message } = await admin.ask('POST', `${GROUPS}?dryRun=All`, groupBody(spec));
    expect({ code, message }).toEqual({ code: 422, message: expect.stringContaining(reason) });
  });

  it('asks only VPSie for what VPSie needs', async () => {
    const body = groupBody({ provider: 'kwok', minNodes: 0, maxNodes: 3, offeringIDs: ['small'] });
    expect(await admin.ask('POST', `${GROUPS}?dryRun=All`, { ...body, metadata: { name: 'kwok' } })).toMatchObject({
      code: 201,
      message: '',
    });
  });
});

describe('the worker', () => {
  it('marks, cordons, labels and taints a node, and takes it all back', async () => {
    const mark = markPatch({ annotations: {}, isCordoned: false }, 'node-drain/test/n1', 0);
    expect(await patched(NODE, mark)).toMatchObject({ code: 200, message: '' });
    const given = {
      metadata: { labels: { team: 'web' } },
      spec: { unschedulable: null, taints: [{ key: 'a', effect: 'NoSchedule' }] },
    };
    expect(await patched(NODE, given)).toMatchObject({ code: 200, message: '' });
  });

  it.each([
    ['an annotation of somebody else', NODE, { metadata: { annotations: { theirs: '2' } } }],
    ['where a node comes from', NODE, { spec: { providerID: 'other' } }],
    ['what a person wrote into a NodeGroup', `${GROUPS}/web`, { spec: { maxNodes: 900 } }],
  ])('cannot change %s', async (_, path, body) => {
    expect(await patched(path, body)).toMatchObject({
      code: 422,
      message: expect.stringContaining('headroom-worker may not change'),
    });
  });

  it('keeps machines with their status, and the finalizer and status of a group', async () => {
    const machine = {
      name: 'web-1',
      instanceType: 'small',
      decision: 'd1',
      cameFor: ['k'],
      replaces: null,
      reason: 'PendingPods',
    } as const;
    const body = machineBody(groupOf('web', { providerSpec: { datacenterID: 'dc-1' } }), machine);
    expect(await worker.ask('POST', MACHINES, body)).toMatchObject({ code: 201, message: '' });
    for (const [path, patch] of [
      [`${MACHINES}/web-1`, { spec: { vpsieInstanceID: 7 } }],
      [`${MACHINES}/web-1/status`, { status: { phase: 'Provisioning' } }],
      [`${GROUPS}/web/status`, { status: { desiredNodes: 3 } }],
      [`${GROUPS}/web`, { metadata: { finalizers: ['nodegroup.autoscaler.vpsie.com/finalizer'] } }],
      [`${GROUPS}/web`, { metadata: { finalizers: null } }],
    ] as const) {
      expect(await patched(path, patch)).toMatchObject({ code: 200, message: '' });
    }
    expect(await worker.ask('DELETE', `${MACHINES}/web-1`)).toMatchObject({ code: 200 });
    // It goes with its finalizers.
    const free = { metadata: { finalizers: null } };
    expect(await patched(`${MACHINES}/web-1`, free)).toMatchObject({ code: 200, message: '' });
  });

  it('evicts a pod, which it cannot delete', async () => {
    const pods = '/api/v1/namespaces/node-group-writes/pods';
    await made('/api/v1/namespaces/node-group-writes/serviceaccounts', { metadata: { name: 'pods' } });
    await made(pods, {
      metadata: { name: 'web' },
      spec: { serviceAccountName: 'pods', containers: [{ name: 'main', image: 'web:1' }] },
    });
    expect((await worker.ask('DELETE', `${pods}/web`)).message).toContain('headroom-worker may not delete pods ');
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'web' } };
    expect(await worker.ask('POST', `${pods}/web/eviction`, eviction)).toMatchObject({ code: 201 });
  });

  it('deletes a Node', async () => {
    expect(await worker.ask('DELETE', NODE)).toMatchObject({ code: 200 });
  });
});

const everythingAllowed = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'node-group-everything' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
  subjects: [{ kind: 'User', name: WORKER, apiGroup: 'rbac.authorization.k8s.io' }],
} as KubernetesObject;

function groupBody(spec: object) {
  return { apiVersion: 'autoscaler.vpsie.com/v1alpha1', kind: 'NodeGroup', metadata: { name: 'web' }, spec };
}

async function patched(path: string, body: object) {
  return await worker.ask('PATCH', path, body, 'merge');
}

async function made(path: string, body: object): Promise<void> {
  expect(await admin.ask('POST', path, body)).toMatchObject({ code: 201, message: '' });
}
