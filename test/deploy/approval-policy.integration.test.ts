/** What the API server admits as an approval in the Lease of a quota, by the product's own policy and example of rights. */
import { readFile } from 'node:fs/promises';
import type { KubernetesObject, V1Lease } from '@kubernetes/client-node';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { areApprovalsVerified } from '../../activities/quota-resize/lease/approval-policy.ts';
import { noPullRequestEnds } from '../../activities/quota-resize/lease/ends.ts';
import { LeaseStore } from '../../activities/quota-resize/lease/lease.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { LockedDecision } from '../../domain/quota-resize/model/decision.ts';
import { leaseNames } from '../../domain/quota-resize/model/lease.ts';
import {
  approvalAnnotations,
  approvalRemoval,
  type LeaseApproval,
} from '../../domain/quota-resize/model/lease-approval.ts';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { templateObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyObjects, readManifests } from '../kernel/stack/manifests.ts';
import { holderOf, patchLease, replaceLease } from '../../activities/kubernetes/lease-object.ts';

const EXAMPLE = new URL('../../deploy/examples/approvers.yaml', import.meta.url);
const NAMESPACE = 'namespace-resizer-system';
const WORKER = `system:serviceaccount:${NAMESPACE}:headroom-worker`;
const STARTER = `system:serviceaccount:${NAMESPACE}:headroom-starter`;

const decision: LockedDecision = {
  id: '0a1b2c3d',
  quotaUid: 'uid-1',
  decidedAt: 0,
  changes: [{ resource: 'requests.cpu', from: '1', to: '4', used: '1', demand: '3', reason: 'full' }],
  evidence: [],
  demandByMessage: false,
  approvalRequirement: { reason: 'MaxStepExceeded', message: 'more than twice' },
  pullRequest: null,
  merge: null,
};

let plane: ControlPlane;
const warnings: string[] = [];

beforeAll(async () => {
  plane = await borrowControlPlane([WORKER, STARTER, 'alice', 'bob', 'keeper'].map((name) => ({ name })));
  const admin = plane.adminKubeconfig;
  await applyObjects(admin, await templateObjects('namespace', 'rbac', 'quota-resize/rbac'));
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } };
  // Alice may approve every quota of team-a, and Bob one. The keeper may write Leases and approve nothing.
  const ofAlice = readManifests(await readFile(EXAMPLE, 'utf8')).map((object) => withSubjects(object, ['alice']));
  await applyObjects(admin, [namespace, ...ofAlice, ...rightsOfBob, ...rightsOfKeeper]);
  const mayPatch = { verb: 'patch', group: 'coordination.k8s.io', resource: 'leases', namespace: NAMESPACE };
  await untilAllowed(admin, WORKER, [{ ...mayPatch, verb: 'create' }]);
  expect(await areApprovalsVerified(leasesOf(WORKER)), 'before the policy is there').toBe(false);
  // Without the policy the worker itself can write what looks like an approval, and does not believe it.
  const target = { cluster: 'test', namespace: 'team-a', quota: 'forged' };
  await holding(target);
  await patch(WORKER, leaseNames(target)[0] ?? '', approvalAnnotations(approvalOf('alice')));
  expect((await leaseStore().read(target)).approval).toBeUndefined();
  expect(warnings.at(-1)).toContain('is not believed');
  await applyObjects(admin, await templateObjects('approval-policy'));
  await eventually('the policy is in force', async () => await areApprovalsVerified(leasesOf(WORKER)));
  const approve = { verb: 'approve', group: 'quota-resize.headroom.io', resource: 'approvals', namespace: 'team-a' };
  await untilAllowed(admin, 'alice', [approve, mayPatch]);
  await untilAllowed(admin, 'bob', [{ ...approve, name: 'compute' }, mayPatch]);
  await untilAllowed(admin, 'keeper', [mayPatch]);
});
afterAll(async () => {
  await plane?.stop();
});

describe('an approval in the Lease of a quota', () => {
  it('is admitted from the user that it names, with the right to approve that quota', async () => {
    const name = await leaseOf('compute');
    await write('alice', name, approvalOf('alice'));
    await write('bob', name, approvalOf('bob'));
    expect((await read(name)).metadata?.annotations).toMatchObject(approvalAnnotations(approvalOf('bob')));
  });

  it('is refused where it names somebody else', async () => {
    const name = await leaseOf('compute');
    await expect(write('alice', name, approvalOf('bob'))).rejects.toThrow(/approved-by must be alice, who writes it/);
    await expect(write('alice', name, approvalOf(''))).rejects.toThrow(/approved-by must be alice/);
    await expect(patch('alice', name, { 'resizer.io/approved-by': 'alice' })).rejects.toThrow(/must be alice/);
    await expect(patch('alice', name, { 'resizer.io/approval': '{}' })).rejects.toThrow(/must be alice/);
  });

  it('is refused without the right to approve that quota', async () => {
    const compute = await leaseOf('compute');
    const storage = await leaseOf('storage');
    await expect(write('keeper', compute, approvalOf('keeper'))).rejects.toThrow(
      /keeper has no right to approve .* the quota compute in the namespace team-a/,
    );
    await expect(write('bob', storage, approvalOf('bob'))).rejects.toThrow(/bob has no right to approve .* storage/);
    await expect(write('alice', await leaseOf('compute', 'team-b'), approvalOf('alice'))).rejects.toThrow(/team-b/);
  });

  it('for several quotas of a namespace needs the right for all of them', async () => {
    const name = await leaseOf('compute');
    const several = { 'requests.cpu': '4', 'quota storage: requests.storage': '20Gi' };
    await expect(write('bob', name, { ...approvalOf('bob'), limits: several })).rejects.toThrow(/for several quotas/);
    await write('alice', name, { ...approvalOf('alice'), limits: several });
  });

  it('cannot be written by the worker, in its own name or in that of somebody who may', async () => {
    const name = await leaseOf('compute');
    await expect(write(WORKER, name, approvalOf(WORKER))).rejects.toThrow(/headroom-worker has no right to approve/);
    await expect(write(WORKER, name, approvalOf('alice'))).rejects.toThrow(/approved-by must be .*headroom-worker/);
    await write('alice', name, approvalOf('alice'));
    await expect(patch(WORKER, name, { 'resizer.io/approval': '{"limits":{"pods":"9000"}}' })).rejects.toThrow(
      /approved-by must be/,
    );
    await expect(
      leasesOf(WORKER).kubernetes.coordination.createNamespacedLease({
        namespace: NAMESPACE,
        body: leaseObject('forged', 'compute', 'team-a', approvalAnnotations(approvalOf('alice'))),
      }),
    ).rejects.toThrow(/approved-by must be/);
  });

  it('cannot be moved to another quota, also not together with a new approval', async () => {
    const name = await leaseOf('compute');
    await write('alice', name, approvalOf('alice'));
    for (const user of [WORKER, 'admin'] as const) {
      await expect(patch(user, name, { 'resizer.io/target-quota': 'storage' })).rejects.toThrow(/cannot be changed/);
    }
    await expect(
      patch('admin', name, { 'resizer.io/target-quota': 'storage', 'resizer.io/approval': '{"another":1}' }),
    ).rejects.toThrow(/approved-by must be/);
    await expect(patch('admin', name, { 'resizer.io/target-namespace': null })).rejects.toThrow(/cannot be changed/);
  });

  it('is kept by the other writes of the worker, which may remove it, as an approver may', async () => {
    const name = await leaseOf('compute');
    await write('alice', name, approvalOf('alice'));
    await patch(WORKER, name, { 'resizer.io/last-modified': '2026-11-20T10:15:00Z' });
    expect((await read(name)).metadata?.annotations).toMatchObject(approvalAnnotations(approvalOf('alice')));
    await patch(WORKER, name, approvalRemoval);
    await write('alice', name, approvalOf('alice'));
    await expect(patch('carol', name, approvalRemoval)).rejects.toThrow(/no right to take back/);
    await patch('bob', name, approvalRemoval);
    expect(Object.keys((await read(name)).metadata?.annotations ?? {})).not.toContain('resizer.io/approval');
  });

  it('is all that an approver may change in a Lease', async () => {
    const name = await leaseOf('compute');
    await expect(patch('alice', name, { 'resizer.io/decision': '{}' })).rejects.toThrow(
      /alice may change nothing in this Lease but an approval/,
    );
    await expect(
      patch('alice', name, { ...approvalAnnotations(approvalOf('alice')), 'resizer.io/last-modified': null }),
    ).rejects.toThrow(/nothing in this Lease but an approval/);
    await expect(patchBody('alice', name, { spec: { holderIdentity: 'alice' } })).rejects.toThrow(/nothing in this/);
    await expect(patchBody('alice', name, { metadata: { labels: { a: 'b' } } })).rejects.toThrow(/nothing in this/);
  });

  it('is what the worker reads, for the decision that the Lease has', async () => {
    const target = { cluster: 'test', namespace: 'team-a', quota: 'read' };
    const [name = ''] = leaseNames(target);
    await holding(target);
    await write('alice', name, { ...approvalOf('alice'), decision: 'ffffffff' });
    expect((await leaseStore().read(target)).approval).toBeUndefined();
    await write('alice', name, approvalOf('alice'));
    expect((await leaseStore().read(target)).approval).toEqual(approvalOf('alice'));
    await leaseStore().release(target, decision, { rejection: null });
    expect(Object.keys((await read(name)).metadata?.annotations ?? {})).not.toContain('resizer.io/approved-by');
  });

  it('is of no concern in other namespaces', async () => {
    const body = leaseObject('elsewhere', 'compute', 'team-a', approvalAnnotations(approvalOf('anybody')));
    await leasesOf('admin').kubernetes.coordination.createNamespacedLease({ namespace: 'default', body });
  });
});

function approvalOf(by: string): LeaseApproval {
  const at = Date.parse('2026-11-20T10:15:00Z');
  return { by, at, reason: 'planned', decision: '0a1b2c3d', limits: { 'requests.cpu': '4' }, headSha: '', places: {} };
}

function leaseStore(): LeaseStore {
  const log = pino({}, { write: (line: string) => void warnings.push(line) });
  return new LeaseStore({ ...leasesOf(WORKER), abandonedHolder: null, ends: noPullRequestEnds, log });
}

async function holding(target: QuotaTarget): Promise<void> {
  const outcome = await leaseStore().acquire(target, decision);
  expect(outcome.kind).toBe('acquired');
}

let leases = 0;

/** A Lease as the worker writes it. */
async function leaseOf(quota: string, namespace = 'team-a'): Promise<string> {
  leases += 1;
  const name = `lease-${leases}`;
  const body = leaseObject(name, quota, namespace, { 'resizer.io/last-modified': '2026-11-19T10:15:00Z' });
  await leasesOf(WORKER).kubernetes.coordination.createNamespacedLease({ namespace: NAMESPACE, body });
  return name;
}

function leaseObject(name: string, quota: string, namespace: string, more: Record<string, string>): V1Lease {
  const annotations = {
    'resizer.io/target-cluster': 'test',
    'resizer.io/target-namespace': namespace,
    'resizer.io/target-quota': quota,
    ...more,
  };
  return { metadata: { name, annotations }, spec: { holderIdentity: 'headroom/0a1b2c3d' } };
}

function leasesOf(user: string): { kubernetes: Kubernetes; systemNamespace: string } {
  const kubeconfig = user === 'admin' ? plane.adminKubeconfig : plane.kubeconfigFor(user);
  return { kubernetes: connectKubernetes(accessOf(kubeconfig)), systemNamespace: NAMESPACE };
}

async function read(name: string): Promise<V1Lease> {
  return await leasesOf('admin').kubernetes.coordination.readNamespacedLease({ name, namespace: NAMESPACE });
}

async function write(user: string, name: string, approval: LeaseApproval): Promise<void> {
  await patch(user, name, approvalAnnotations(approval));
}

async function patch(user: string, name: string, annotations: Readonly<Record<string, string | null>>): Promise<void> {
  await patchBody(user, name, { metadata: { annotations } });
}

/** Carol is one who may patch Leases and nothing else; the worker replaces Leases, which is an update as well. */
async function patchBody(user: string, name: string, body: object): Promise<void> {
  if (user === WORKER) {
    const lease = await read(name);
    const { annotations } = (body as { metadata: { annotations: Record<string, string | null> } }).metadata;
    const changed = Object.entries({ ...lease.metadata?.annotations, ...annotations });
    const kept = Object.fromEntries(changed.filter((entry): entry is [string, string] => entry[1] !== null));
    await replaceLease(leasesOf(WORKER), lease, holderOf(lease), kept);
    return;
  }
  await patchLease(leasesOf(user === 'carol' ? STARTER : user), name, body);
}

function withSubjects(object: KubernetesObject, names: readonly string[]): KubernetesObject {
  if (!('subjects' in object)) return object;
  return {
    ...object,
    subjects: names.map((name) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' })),
  } as KubernetesObject;
}

function bound(role: KubernetesObject & { rules: unknown }, user: string): readonly KubernetesObject[] {
  const binding = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: role.metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role.metadata?.name },
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
  };
  return [role, binding as KubernetesObject];
}

function roleOf(namespace: string, name: string, rules: readonly object[]): KubernetesObject & { rules: unknown } {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name, namespace }, rules };
}

const patchLeases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'patch'] };
const rightsOfBob = [
  ...bound(roleOf(NAMESPACE, 'bob', [patchLeases]), 'bob'),
  ...bound(
    roleOf('team-a', 'bob', [
      {
        apiGroups: ['quota-resize.headroom.io'],
        resources: ['approvals'],
        resourceNames: ['compute'],
        verbs: ['approve'],
      },
    ]),
    'bob',
  ),
];
const rightsOfKeeper = [
  ...bound(roleOf(NAMESPACE, 'keeper', [{ ...patchLeases, verbs: ['get', 'patch', 'create', 'update'] }]), 'keeper'),
  ...bound(roleOf(NAMESPACE, 'carol', [patchLeases]), STARTER),
];
