import { describe, expect, it } from 'vitest';
import {
  type ChargingQuota,
  demandOfMessages,
  demandOfMissing,
  type DeniedWorkload,
  type SeenDenial,
} from '../../../../domain/quota-resize/demand/demand.ts';
import {
  missingOfCronJob,
  missingOfDaemonSet,
  missingOfDeployment,
  missingOfJob,
  missingOfReplicated,
  missingOfStatefulSet,
} from '../../../../domain/quota-resize/demand/missing.ts';
import {
  ALWAYS,
  chargedPods,
  leavingPods,
  type TemplateAge,
  templateAge,
} from '../../../../domain/quota-resize/demand/owner.ts';
import { rollingSurge, rolloutOf } from '../../../../domain/quota-resize/demand/rolling-update.ts';
import { parseAdmissionMessage } from '../../../../domain/quota-resize/demand/event-message.ts';

const workload = { kind: 'ReplicaSet', name: 'web-1', uid: 'u-1' };
const spec = { containers: [{ name: 'app', resources: { requests: { cpu: '500m' } } }] };
const template = { spec };
const pods = (names: readonly string[]) => names.map((name) => ({ metadata: { name } }));

function quota(change: Partial<ChargingQuota> = {}): ChargingQuota {
  return {
    name: 'compute',
    hard: { 'requests.cpu': '2', pods: '10' },
    scopes: {},
    limitRanges: [],
    overheads: {},
    claimTemplates: {},
    defaultStorageClass: null,
    defaultPriorityClass: null,
    ...change,
  };
}

function denied(message: string, lastSeen: number): SeenDenial {
  const denial = parseAdmissionMessage(message);
  if (denial.class !== 'exceededQuota') throw new Error(`no refusal: ${message}`);
  return { denial, lastSeen };
}

/** The workload, refused these things; by default something that says nothing about pods. */
function refusedWorkload(denials: readonly SeenDenial[] = [other(5)], template: TemplateAge = ALWAYS): DeniedWorkload {
  return { workload, denials, template };
}

function other(lastSeen: number): SeenDenial {
  return denied(
    'secrets "s" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: secrets=1',
    lastSeen,
  );
}

describe('what a workload misses', () => {
  it('is the replicas of a ReplicaSet without a pod', () => {
    const owner = { spec: { replicas: 6, template } };
    expect(missingOfReplicated(owner, pods(['a', 'b', 'c', 'd']))).toEqual([{ of: 'pod', count: 2, surge: 0, spec }]);
    expect(missingOfReplicated(owner, pods(['a', 'b', 'c', 'd', 'e', 'f', 'g']))).toEqual([]);
    expect(missingOfReplicated({ ...owner, metadata: { deletionTimestamp: '2026-11-20T00:00:00Z' } }, [])).toEqual([]);
  });

  it('is counted in the range of a StatefulSet, with the claims that come before its members', () => {
    const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1Gi' } } } };
    const owner = {
      metadata: { name: 'db' },
      spec: { replicas: 3, template, ordinals: { start: 5 }, volumeClaimTemplates: [claim] },
    };
    const missing = missingOfStatefulSet(
      owner,
      pods(['db-5', 'db-2', 'db-07']),
      ['data-db-5', 'data-db-6', 'data-db-8', 'data-other-7'],
      0,
    );
    expect(missing).toEqual([
      { of: 'pod', count: 2, surge: 0, spec },
      { of: 'claim', count: 1, claim },
    ]);
  });

  it('is no work for a StatefulSet of a thousand million members', () => {
    const owner = { metadata: { name: 'db' }, spec: { replicas: 1_000_000_000, template } };
    expect(missingOfStatefulSet(owner, pods(['db-0']), [], 0)).toEqual([
      { of: 'pod', count: 999_999_999, surge: 0, spec },
    ]);
  });

  it('is a pod on every node that a DaemonSet wants one on', () => {
    const owner = { spec: { template }, status: { desiredNumberScheduled: 3 } };
    expect(missingOfDaemonSet(owner, pods(['a']))).toEqual([{ of: 'pod', count: 2, surge: 0, spec }]);
  });

  it('is also a second pod on nodes that a rolling update with a surge still has to reach', () => {
    const owner = (maxSurge: number | string, updated: number, type = 'RollingUpdate') => ({
      spec: { template, updateStrategy: { type, rollingUpdate: { maxSurge } } },
      status: { desiredNumberScheduled: 10, updatedNumberScheduled: updated },
    });
    const running = pods(Array.from({ length: 10 }, (_, index) => `p-${index}`));
    expect(missingOfDaemonSet(owner('25%', 0), running)).toEqual([{ of: 'pod', count: 3, surge: 3, spec }]);
    expect(missingOfDaemonSet(owner(2, 9), running)).toEqual([{ of: 'pod', count: 1, surge: 1, spec }]);
    expect(missingOfDaemonSet(owner(2, 0), running.slice(1))).toEqual([{ of: 'pod', count: 3, surge: 2, spec }]);
    expect(missingOfDaemonSet(owner(2, 10), running)).toEqual([]);
    expect(missingOfDaemonSet(owner(0, 0), running)).toEqual([]);
    expect(missingOfDaemonSet(owner(2, 0, 'OnDelete'), running)).toEqual([]);
  });

  it('is surge as far as the ReplicaSets of a Deployment want more than it has replicas', () => {
    const deployment = { metadata: { uid: 'd' }, spec: { replicas: 10 } };
    const replicaSet = (replicas: number, uid = 'd') => ({
      metadata: { ownerReferences: [{ uid, kind: 'Deployment', controller: true }] },
      spec: { replicas, template },
    });
    expect(rollingSurge(deployment, [replicaSet(10), replicaSet(3), replicaSet(99, 'another')])).toBe(3);
    expect(rollingSurge(deployment, [replicaSet(0), replicaSet(10)])).toBe(0);
    expect(rollingSurge(deployment, [replicaSet(4)])).toBe(0);
    expect(missingOfReplicated(replicaSet(5), pods(['a']), { surge: 3 })).toEqual([
      { of: 'pod', count: 4, surge: 3, spec },
    ]);
    // No more of them are surge than are missing.
    expect(missingOfReplicated(replicaSet(5), pods(['a', 'b', 'c', 'd']), { surge: 3 })).toMatchObject([
      { count: 1, surge: 1 },
    ]);
  });

  it('is with every pod the claims that go with it', () => {
    const claim = { spec: { resources: { requests: { storage: '1Gi' } } } };
    const withScratch = {
      ...spec,
      volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: claim } }, { name: 'x' }],
    };
    expect(missingOfReplicated({ spec: { replicas: 2, template: { spec: withScratch } } }, [])).toEqual([
      { of: 'pod', count: 2, surge: 0, spec: withScratch },
      { of: 'claim', count: 2, claim },
    ]);
  });

  it('is what a Job may run at once and has not done yet', () => {
    const job = { spec: { parallelism: 5, completions: 8, template } };
    expect(missingOfJob(job, pods(['a', 'b']))).toEqual([{ of: 'pod', count: 3, surge: 0, spec }]);
    expect(missingOfJob({ ...job, status: { succeeded: 6 } }, pods(['a']))).toEqual([
      { of: 'pod', count: 1, surge: 0, spec },
    ]);
    expect(missingOfJob({ spec: { ...job.spec, suspend: true } }, [])).toEqual([]);
    expect(missingOfJob({ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }, [])).toEqual([]);
    const queue = { spec: { parallelism: 4, template } };
    expect(missingOfJob(queue, pods(['a']))).toEqual([{ of: 'pod', count: 3, surge: 0, spec }]);
    expect(missingOfJob({ ...queue, status: { succeeded: 1 } }, [])).toEqual([]);
  });

  it('is a Job and its pods for a CronJob, until a Job was made after the denial', () => {
    const owner = {
      metadata: { uid: 'cron' },
      spec: { jobTemplate: { spec: { parallelism: 2, completions: 2, template } } },
    };
    const deniedAt = Date.UTC(2026, 10, 20, 10, 0, 30);
    const job = (at: string, uid = 'cron') => ({
      metadata: { creationTimestamp: at, ownerReferences: [{ uid, controller: true }] },
    });
    const object = { of: 'object', count: 1, resource: 'jobs', group: 'batch' };
    const all = [object, { of: 'pod', count: 2, surge: 0, spec }];
    expect(missingOfCronJob(owner, [], deniedAt)).toEqual(all);
    expect(missingOfCronJob(owner, [job('2026-11-20T10:00:00Z')], deniedAt)).toEqual(all);
    expect(missingOfCronJob(owner, [job('2026-11-20T10:01:00Z', 'another')], deniedAt)).toEqual(all);
    expect(missingOfCronJob(owner, [job('2026-11-20T10:01:00Z')], deniedAt)).toEqual([]);
    expect(missingOfCronJob({ ...owner, spec: { ...owner.spec, suspend: true } }, [], deniedAt)).toEqual([]);
  });

  it('is the ReplicaSet that a Deployment says it cannot create', () => {
    const owner = (conditions: { type: string; status: string; reason: string }[]) => ({
      metadata: { uid: 'd' },
      status: { conditions },
    });
    const replicaSets = [{ metadata: { ownerReferences: [{ uid: 'd', controller: true }] } }];
    const failed = [{ type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError' }];
    const object = { of: 'object', count: 1, resource: 'replicasets', group: 'apps' };
    expect(missingOfDeployment(owner(failed), replicaSets)).toEqual([object]);
    expect(missingOfDeployment(owner([]), [])).toEqual([object]);
    expect(missingOfDeployment(owner([]), replicaSets)).toEqual([]);
  });

  it('does not count pods of a namesake, ended pods and pods stuck in their deletion as there', () => {
    const now = Date.UTC(2026, 10, 20);
    const pod = (name: string, change: object = {}, uid = 'u-1') => ({
      metadata: { name, ownerReferences: [{ uid, controller: true }], ...change },
      spec,
    });
    const all = [
      pod('running'),
      pod('leaving', { deletionTimestamp: new Date(now - 5000), deletionGracePeriodSeconds: 30 }),
      pod('stuck', { deletionTimestamp: new Date(now - 60_000), deletionGracePeriodSeconds: 30 }),
      { ...pod('done'), status: { phase: 'Succeeded' } },
      pod('foreign', {}, 'u-2'),
    ];
    expect(chargedPods(all, 'u-1', now).map((charged) => charged.metadata.name)).toEqual(['running', 'leaving']);
  });
});

describe('the demand of a workload', () => {
  const two = [{ of: 'pod', count: 2, surge: 0, spec }] as const;

  it('is missing × charge, exactly, and only of what the quota limits', () => {
    expect(demandOfMissing(quota(), refusedWorkload(), two)).toEqual({
      workload,
      basis: 'workload',
      missing: 2,
      surge: 0,
      total: { 'requests.cpu': '1', pods: '2' },
      lastSeen: 5,
    });
  });

  it('counts the defaults of LimitRanges and the overhead of the RuntimeClass', () => {
    const bare = { containers: [{ name: 'app' }], runtimeClassName: 'sandbox' };
    const limitRanges = [{ spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '300m' } }] } }];
    const charging = quota({ limitRanges, overheads: { sandbox: { cpu: '50m' } } });
    const missing = [{ of: 'pod', count: 3, surge: 0, spec: bare }] as const;
    expect(demandOfMissing(charging, refusedWorkload(), missing)?.total).toEqual({
      'requests.cpu': '1050m',
      pods: '3',
    });
  });

  it('counts the claims of devices that are made for each pod, for a quota without scopes', () => {
    const resourceClaims = [
      { resourceClaimTemplateName: 'gpus' },
      { resourceClaimTemplateName: 'not-there' },
      { resourceClaimName: 'shared' },
    ];
    const devices = 'gpu.deviceclass.resource.k8s.io/devices';
    const request = { exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } };
    const charging = quota({
      hard: { 'requests.cpu': '2', [devices]: '4', 'count/resourceclaims.resource.k8s.io': '2' },
      claimTemplates: { gpus: { spec: { devices: { requests: [request] } } } },
    });
    const missing = [{ of: 'pod', count: 3, surge: 0, spec: { ...spec, resourceClaims } }] as const;
    expect(demandOfMissing(charging, refusedWorkload(), missing)).toMatchObject({
      missing: 3,
      total: { 'requests.cpu': '1500m', [devices]: '6', 'count/resourceclaims.resource.k8s.io': '3' },
    });
    const scoped = { ...charging, scopes: { scopes: ['NotBestEffort'] } };
    expect(demandOfMissing(scoped, refusedWorkload(), missing)?.total).toEqual({ 'requests.cpu': '1500m' });
  });

  it('is none of a quota whose scopes leave its pods out', () => {
    expect(demandOfMissing(quota({ scopes: { scopes: ['BestEffort'] } }), refusedWorkload(), two)).toBeNull();
    expect(demandOfMissing(quota({ scopes: { scopes: ['NotBestEffort'] } }), refusedWorkload(), two)).not.toBeNull();
  });

  it('is none of a quota that limits nothing of it', () => {
    expect(demandOfMissing(quota({ hard: { 'requests.storage': '1Gi' } }), refusedWorkload(), two)).toBeNull();
  });

  it('adds the claims of a StatefulSet, in the default class', () => {
    const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '10Gi' } } } };
    const hard = { pods: '1', 'requests.storage': '1Gi', 'fast.storageclass.storage.k8s.io/requests.storage': '1Gi' };
    const missing = [two[0], { of: 'claim', count: 2, claim }] as const;
    expect(demandOfMissing(quota({ hard, defaultStorageClass: 'fast' }), refusedWorkload(), missing)?.total).toEqual({
      'fast.storageclass.storage.k8s.io/requests.storage': '20Gi',
      pods: '2',
      'requests.storage': '20Gi',
    });
  });

  it('counts other objects only for a quota without scopes', () => {
    const missing = [{ of: 'object', count: 1, resource: 'jobs', group: 'batch' }] as const;
    const hard = { 'count/jobs.batch': '1' };
    expect(demandOfMissing(quota({ hard }), refusedWorkload(), missing)).toMatchObject({
      missing: 1,
      total: { 'count/jobs.batch': '1' },
    });
    expect(
      demandOfMissing(quota({ hard, scopes: { scopes: ['Terminating'] } }), refusedWorkload(), missing),
    ).toBeNull();
  });
});

describe('a rolling update', () => {
  const revision = (number: string) => ({ 'deployment.kubernetes.io/revision': number });
  const deployment = (replicas: number, strategy: object = {}) => ({
    metadata: { uid: 'd', annotations: revision('2') },
    spec: { replicas, strategy },
  });
  const replicaSet = (replicas: number, number = '2') => ({
    metadata: { uid: `rs-${number}`, annotations: revision(number) },
    spec: { replicas, template },
  });
  const podOf = (owner: string, cpu: string) => ({
    metadata: { name: 'p', ownerReferences: [{ uid: owner, controller: true }] },
    spec: { containers: [{ name: 'app', resources: { requests: { cpu } } }] },
  });
  const many = (count: number, owner: string, cpu: string) => Array.from({ length: count }, () => podOf(owner, cpu));
  const demandIn = (wanted: number, there: readonly ReturnType<typeof podOf>[], strategy: object = {}) => {
    const owner = replicaSet(wanted);
    const rollout = rolloutOf(deployment(10, strategy), owner, there);
    const own = there.filter((pod) => pod.metadata.ownerReferences[0]?.uid === 'rs-2');
    const missing = missingOfReplicated(owner, own, { surge: 3, rollout });
    return demandOfMissing(quota(), refusedWorkload(), missing);
  };

  it('to larger pods needs room for all of them, and for the old ones that wait beside them', () => {
    // 10 × 500m, and 3 of the old 100m at the end; 10 × 100m are charged now.
    expect(demandIn(3, many(10, 'rs-1', '100m'))).toMatchObject({
      missing: 3,
      surge: 3,
      later: 7,
      total: { 'requests.cpu': '4300m', pods: '3' },
    });
    // One of the new is there already.
    expect(demandIn(3, [...many(10, 'rs-1', '100m'), podOf('rs-2', '500m')])?.total).toEqual({
      'requests.cpu': '3800m',
      pods: '2',
    });
  });

  it('needs no room for more old ones than are left', () => {
    // 8 of the new are there, and one of the old: 9 × 500m for all but it, and no more than itself beside them.
    const there = [...many(1, 'rs-1', '300m'), ...many(8, 'rs-2', '500m')];
    expect(demandIn(10, there)?.total).toEqual({ 'requests.cpu': '1', pods: '2' });
  });

  it('to pods that are as large or smaller needs what is missing now', () => {
    expect(demandIn(3, many(10, 'rs-1', '500m'))?.total).toEqual({ 'requests.cpu': '1500m', pods: '3' });
    expect(demandIn(3, many(10, 'rs-1', '2'))?.total).toEqual({ 'requests.cpu': '1500m', pods: '3' });
  });

  it('has a surge as its Deployment says, and none where all is made anew', () => {
    const there = many(10, 'rs-1', '100m');
    const surgeOf = (strategy: object) => rolloutOf(deployment(10, strategy), replicaSet(3), there)?.maxSurge;
    expect([surgeOf({}), surgeOf({ rollingUpdate: { maxSurge: 1 } }), surgeOf({ type: 'Recreate' })]).toEqual([
      3, 1, 0,
    ]);
  });

  it('is none for an earlier template, or where nothing is left to replace', () => {
    expect(rolloutOf(deployment(10), replicaSet(3, '1'), many(3, 'rs-2', '1'))).toBeUndefined();
    expect(rolloutOf(deployment(10), replicaSet(3), many(3, 'rs-2', '1'))).toBeUndefined();
    expect(rolloutOf({ metadata: {} }, { metadata: { uid: 'x' } }, many(3, 'rs-2', '1'))).toBeUndefined();
  });
});

describe('what admission said of one pod', () => {
  const two = [{ of: 'pod', count: 2, surge: 0, spec }] as const;
  const pod = (requested: string, lastSeen: number, name = 'compute') =>
    denied(
      `Error creating: pods "web-1-" is forbidden: exceeded quota: ${name}, requested: ${requested}, used: ${requested}, limited: ${requested}`,
      lastSeen,
    );
  const totalOf = (workloadRefused: DeniedWorkload, change: Partial<ChargingQuota> = {}) =>
    demandOfMissing(quota(change), workloadRefused, two)?.total;

  it('counts for each missing one in place of the template: a webhook made it larger, or smaller', () => {
    expect(totalOf(refusedWorkload([pod('requests.cpu=700m', 5)]))).toEqual({ 'requests.cpu': '1400m', pods: '2' });
    expect(totalOf(refusedWorkload([pod('requests.cpu=300m', 5)]))).toEqual({ 'requests.cpu': '600m', pods: '2' });
    // A resource that the template does not ask for at all.
    const hard = { 'requests.cpu': '2', 'requests.memory': '1Gi' };
    expect(totalOf(refusedWorkload([pod('requests.memory=64Mi', 5)]), { hard })).toEqual({
      'requests.cpu': '1',
      'requests.memory': '128Mi',
    });
  });

  it('counts by its newest, by what any quota of the namespace said, and under every name of the resource', () => {
    const denials = [pod('requests.cpu=900m', 4), pod('requests.cpu=700m', 5)];
    expect(totalOf(refusedWorkload(denials))?.['requests.cpu']).toBe('1400m');
    expect(totalOf(refusedWorkload([pod('cpu=800m', 5, 'other')]))?.['requests.cpu']).toBe('1600m');
    expect(totalOf(refusedWorkload([pod('requests.cpu=800m', 5, 'other')]), { hard: { cpu: '2' } })).toEqual({
      cpu: '1600m',
    });
  });

  it('is none of a template that was written later', () => {
    const denials = [pod('requests.cpu=500m', 5), pod('requests.cpu=500m', 6)];
    const exact = (since: number) => totalOf(refusedWorkload(denials, { since, isExact: true }));
    expect(exact(7)).toBeUndefined();
    expect(exact(5)).toEqual({ 'requests.cpu': '1', pods: '2' });
    // A template of 8 CPU, after one of 1 CPU was denied.
    const eight = [
      { of: 'pod', count: 5, surge: 0, spec: { containers: [{ resources: { requests: { cpu: '8' } } }] } },
    ] as const;
    const old = refusedWorkload([pod('requests.cpu=1', 5)], { since: 6, isExact: true });
    expect(demandOfMissing(quota(), old, eight)).toBeNull();
  });

  it('counts for what it named alone where the template may have been written later, and for no larger one', () => {
    const within = (requested: string, since: number, isExact = false) =>
      totalOf(refusedWorkload([pod(requested, 5)], { since, isExact }));
    // Something of the object was written later, such as a label or the replicas.
    expect(within('requests.cpu=500m', 6)).toEqual({ 'requests.cpu': '1' });
    expect(within('requests.cpu=700m', Number.POSITIVE_INFINITY)).toEqual({ 'requests.cpu': '1' });
    expect(within('requests.cpu=300m', 6)).toBeUndefined();
    // In the same second.
    expect(within('requests.cpu=500m', 5, true)).toEqual({ 'requests.cpu': '1' });
    // What the template does not ask for is not counted either.
    expect(within('requests.memory=64Mi', 6)).toBeUndefined();
    expect(within('requests.cpu=500m', 4)).toEqual({ 'requests.cpu': '1', pods: '2' });
  });

  it('counts for what it named alone where a partition keeps the template before', () => {
    const large = { containers: [{ name: 'app', resources: { requests: { cpu: '8', memory: '1Ti' } } }] };
    const owner = {
      metadata: { name: 'db', uid: 'u-1', generation: 2 },
      spec: { replicas: 5, template: { spec: large }, updateStrategy: { rollingUpdate: { partition: 4 } } },
      status: { currentRevision: 'db-1', updateRevision: 'db-2' },
    };
    const hard = { 'requests.cpu': '1', 'requests.memory': '1Gi' };
    const totalFor = (names: readonly string[]) =>
      demandOfMissing(
        quota({ hard }),
        refusedWorkload([pod('requests.cpu=1', 9)], { since: 6, isExact: true }),
        missingOfStatefulSet(owner, pods(names), [], 0),
      );
    expect(totalFor(['db-4'])).toMatchObject({ missing: 4, total: { 'requests.cpu': '4' } });
    expect(totalFor(['db-4'])?.total).not.toHaveProperty('requests.memory');
  });

  it('proves that a quota counts it, whatever its scopes make of the template', () => {
    const scopes = { scopes: ['BestEffort'] };
    expect(totalOf(refusedWorkload([pod('pods=1', 5, 'other')]), { scopes })).toBeUndefined();
    expect(totalOf(refusedWorkload([pod('pods=1', 5)]), { scopes })?.['pods']).toBe('2');
  });

  it('says nothing about its claims, which have messages of their own', () => {
    const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1Gi' } } } };
    const seenHere = denied(
      'create Claim data-db-1 for Pod db-1 in StatefulSet db failed error: persistentvolumeclaims "data-db-1" is forbidden: exceeded quota: compute, requested: requests.storage=2Gi, used: requests.storage=0, limited: requests.storage=0',
      5,
    );
    const missing = [
      two[0],
      { of: 'claim', count: 3, claim },
      { of: 'claim', count: 1, claim: { ...claim, metadata: { name: 'log' } } },
    ] as const;
    expect(
      demandOfMissing(quota({ hard: { 'requests.storage': '0', pods: '9' } }), refusedWorkload([seenHere]), missing)
        ?.total,
    ).toEqual({
      pods: '2',
      'requests.storage': '7Gi',
    });
  });

  it('is of the template since the last write of anything but a status', () => {
    const at = (second: number) => new Date(Date.UTC(2026, 10, 20, 10, 0, second));
    const managedFields = [
      { time: at(1) },
      { time: at(9), subresource: 'status' },
      { time: at(3) },
      { time: at(8), subresource: 'scale' },
    ];
    expect(templateAge({ metadata: { managedFields } })).toEqual({ since: at(3).getTime(), isExact: false });
    const ownerReferences = [{ uid: 'd', kind: 'Deployment', controller: true }];
    expect(templateAge({ metadata: { managedFields, ownerReferences } })).toEqual(ALWAYS);
    expect(templateAge({ metadata: { managedFields, generation: 1 } })).toEqual(ALWAYS);
    // Whoever may edit the object may delete what is recorded of its writes.
    expect(templateAge({ metadata: { generation: 2 } })).toEqual({ since: Number.POSITIVE_INFINITY, isExact: false });
    const revision = { metadata: { creationTimestamp: at(2) } };
    expect(templateAge({ metadata: { managedFields, generation: 2 } }, revision)).toEqual({
      since: at(2).getTime(),
      isExact: true,
    });
    // A template that was rolled back to: its revision was written again.
    const rolledBack = { metadata: { creationTimestamp: at(2), managedFields: [{ time: at(7) }] } };
    expect(templateAge({ metadata: { generation: 3 } }, rolledBack).since).toBe(at(7).getTime());
  });
});

describe('the demand of a pod without a priority class', () => {
  it('is that of the default one, for a quota that selects by it', () => {
    const missing = [{ of: 'pod', count: 1, surge: 0, spec }] as const;
    const scopes = {
      scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['normal'] }] },
    };
    expect(demandOfMissing(quota({ scopes }), refusedWorkload(), missing)).toBeNull();
    expect(
      demandOfMissing(quota({ scopes, defaultPriorityClass: 'normal' }), refusedWorkload(), missing),
    ).not.toBeNull();
    const urgent = [{ ...missing[0], spec: { ...spec, priorityClassName: 'urgent' } }];
    expect(demandOfMissing(quota({ scopes, defaultPriorityClass: 'normal' }), refusedWorkload(), urgent)).toBeNull();
  });
});

describe('the demand of a workload that cannot be read', () => {
  const cpu = (amount: string, name = 'compute') =>
    `pods "task-x" is forbidden: exceeded quota: ${name}, requested: requests.cpu=${amount}, used: requests.cpu=2, limited: requests.cpu=2`;

  it('is what its newest denial asked for, whatever the pod was called', () => {
    const denials = [denied(cpu('700m'), 10), denied(cpu('500m'), 20)];
    expect(demandOfMessages(quota(), refusedWorkload(denials))).toEqual({
      workload,
      basis: 'message',
      missing: 1,
      surge: 0,
      total: { 'requests.cpu': '500m' },
      lastSeen: 20,
    });
  });

  it("counts another quota's denial where this quota counts every object", () => {
    const denials = [denied(cpu('500m', 'other'), 10)];
    expect(demandOfMessages(quota(), refusedWorkload(denials))?.total).toEqual({ 'requests.cpu': '500m' });
    expect(demandOfMessages(quota({ scopes: { scopes: ['Terminating'] } }), refusedWorkload(denials))).toBeNull();
    expect(demandOfMessages(quota({ hard: { pods: '1' } }), refusedWorkload(denials))).toBeNull();
  });

  it('adds up denied objects of different kinds', () => {
    const claim =
      'persistentvolumeclaims "task-x" is forbidden: exceeded quota: compute, requested: requests.storage=1Gi, used: requests.storage=0, limited: requests.storage=0';
    const charging = quota({ hard: { 'requests.cpu': '2', 'requests.storage': '0' } });
    expect(demandOfMessages(charging, refusedWorkload([denied(cpu('500m'), 10), denied(claim, 11)]))?.total).toEqual({
      'requests.cpu': '500m',
      'requests.storage': '1Gi',
    });
  });
});

describe('the demand of a successor while an old pod of its Deployment is being deleted', () => {
  const now = Date.UTC(2026, 10, 20);
  const sized = (memory: string) => ({ containers: [{ name: 'app', resources: { requests: { memory } } }] });
  const pod = (name: string, replicaSet: string, endsIn?: number, memory = '75Mi') => ({
    metadata: {
      name,
      ownerReferences: [{ uid: replicaSet, kind: 'ReplicaSet', controller: true }],
      ...(endsIn === undefined
        ? {}
        : { deletionTimestamp: new Date(now + endsIn * 1000), deletionGracePeriodSeconds: 90 }),
    },
    spec: sized(memory),
  });
  const revision = (number: number) => ({ 'deployment.kubernetes.io/revision': `${number}` });
  const denial = denied(
    'pods "web-new-1" is forbidden: exceeded quota: compute, requested: requests.memory=75Mi, used: requests.memory=150Mi, limited: requests.memory=150Mi',
    now,
  );

  /** What the new ReplicaSet of a Deployment of two is short of; memory in Mi. */
  function demandOf(
    pods: readonly ReturnType<typeof pod>[],
    { wants = 1, maxSurge = 0, memory = '75Mi' }: { wants?: number; maxSurge?: number; memory?: string } = {},
  ) {
    const deployment = {
      metadata: { uid: 'd', annotations: revision(2) },
      spec: { replicas: 2, strategy: { rollingUpdate: { maxSurge } } },
    };
    const owner = {
      metadata: { uid: 'new', annotations: revision(2) },
      spec: { replicas: wants, template: { spec: sized(memory) } },
    };
    const charged = ['old', 'older', 'new'].flatMap((uid) => chargedPods(pods, uid, now));
    const ofOthers = charged.filter(({ metadata }) => metadata.ownerReferences[0]?.uid !== 'new');
    const missing = missingOfReplicated(owner, chargedPods(pods, 'new', now), {
      surge: 0,
      rollout: rolloutOf(deployment, owner, charged),
      leaving: leavingPods(ofOthers, now),
    });
    const charging = quota({ hard: { 'requests.memory': '150Mi' } });
    const asked = memory === '75Mi' ? denial : other(now);
    return demandOfMissing(charging, refusedWorkload([asked]), missing)?.total['requests.memory'] ?? null;
  }

  it('is none as long as its grace runs', () => {
    expect(demandOf([pod('a', 'old', 80), pod('b', 'old')])).toBeNull();
    expect(demandOf([pod('a', 'old', 1), pod('b', 'older', 80)], { wants: 2 })).toBeNull();
  });

  it('is all that is missing once the grace is over, or where nothing is deleted', () => {
    expect(demandOf([pod('a', 'old', 0), pod('b', 'old')])).toBe('75Mi');
    expect(demandOf([pod('a', 'old', -20), pod('b', 'old')])).toBe('75Mi');
    expect(demandOf([pod('a', 'old'), pod('b', 'old')])).toBe('75Mi');
  });

  it('is not less for the pods of other workloads', () => {
    expect(demandOf([pod('x', 'another', 80), pod('b', 'old')])).toBe('75Mi');
  });

  it('is what exceeds all that is freed', () => {
    expect(demandOf([pod('a', 'old', 80)], { wants: 2 })).toBe('75Mi');
    expect(demandOf([pod('a', 'old', 80), pod('b', 'old', 80)], { wants: 2, memory: '100Mi' })).toBe('50Mi');
    expect(demandOf([pod('a', 'old', 80, '50Mi'), pod('b', 'old', undefined, '100Mi')])).toBe('25Mi');
  });

  it('is no less than the surge that the update is to have', () => {
    expect(demandOf([pod('a', 'old', 80), pod('b', 'old')], { maxSurge: 1 })).toBe('75Mi');
  });

  it('is none for a member of a StatefulSet while members beyond its replicas leave', () => {
    const owner = { metadata: { name: 'db' }, spec: { replicas: 2, template: { spec: sized('75Mi') } } };
    const missing = (endsIn: number) =>
      missingOfStatefulSet(owner, [pod('db-0', 'db'), pod('db-2', 'db', endsIn)], [], now);
    const charging = quota({ hard: { 'requests.memory': '150Mi' } });
    expect(demandOfMissing(charging, refusedWorkload([denial]), missing(80))).toBeNull();
    expect(demandOfMissing(charging, refusedWorkload([denial]), missing(-1))?.total).toEqual({
      'requests.memory': '75Mi',
    });
  });
});
