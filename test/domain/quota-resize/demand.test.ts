import { describe, expect, it } from 'vitest';
import {
  type ChargingQuota,
  chargedPods,
  demandOfMessages,
  demandOfMissing,
  missingOfCronJob,
  missingOfDaemonSet,
  missingOfDeployment,
  missingOfJob,
  missingOfReplicated,
  missingOfStatefulSet,
  type SeenRefusal,
} from '../../../domain/quota-resize/demand.ts';
import { parseAdmissionMessage } from '../../../domain/quota-resize/event-message.ts';

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
    defaultStorageClass: null,
    ...change,
  };
}

function refused(message: string, lastSeen: number): SeenRefusal {
  const refusal = parseAdmissionMessage(message);
  if (refusal.class !== 'exceededQuota') throw new Error(`no refusal: ${message}`);
  return { refusal, lastSeen };
}

describe('what a workload misses', () => {
  it('is the replicas of a ReplicaSet without a pod', () => {
    const owner = { spec: { replicas: 6, template } };
    expect(missingOfReplicated(owner, pods(['a', 'b', 'c', 'd']))).toEqual([{ of: 'pod', count: 2, spec }]);
    expect(missingOfReplicated(owner, pods(['a', 'b', 'c', 'd', 'e', 'f', 'g']))).toEqual([]);
    expect(missingOfReplicated({ ...owner, metadata: { deletionTimestamp: '2026-11-20T00:00:00Z' } }, [])).toEqual([]);
  });

  it('is counted in the range of a StatefulSet, with the claims that come before its members', () => {
    const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '1Gi' } } } };
    const owner = {
      metadata: { name: 'db' },
      spec: { replicas: 3, template, ordinals: { start: 5 }, volumeClaimTemplates: [claim] },
    };
    const missing = missingOfStatefulSet(owner, pods(['db-5', 'db-2', 'db-07']), [
      'data-db-5',
      'data-db-6',
      'data-db-8',
      'data-other-7',
    ]);
    expect(missing).toEqual([
      { of: 'pod', count: 2, spec },
      { of: 'claim', count: 1, claim },
    ]);
  });

  it('is no work for a StatefulSet of a thousand million members', () => {
    const owner = { metadata: { name: 'db' }, spec: { replicas: 1_000_000_000, template } };
    expect(missingOfStatefulSet(owner, pods(['db-0']), [])).toEqual([{ of: 'pod', count: 999_999_999, spec }]);
  });

  it('is a pod on every node that a DaemonSet wants one on', () => {
    const owner = { spec: { template }, status: { desiredNumberScheduled: 3 } };
    expect(missingOfDaemonSet(owner, pods(['a']))).toEqual([{ of: 'pod', count: 2, spec }]);
  });

  it('is what a Job may run at once and has not done yet', () => {
    const job = { spec: { parallelism: 5, completions: 8, template } };
    expect(missingOfJob(job, pods(['a', 'b']))).toEqual([{ of: 'pod', count: 3, spec }]);
    expect(missingOfJob({ ...job, status: { succeeded: 6 } }, pods(['a']))).toEqual([{ of: 'pod', count: 1, spec }]);
    expect(missingOfJob({ spec: { ...job.spec, suspend: true } }, [])).toEqual([]);
    expect(missingOfJob({ ...job, status: { conditions: [{ type: 'Complete', status: 'True' }] } }, [])).toEqual([]);
    const queue = { spec: { parallelism: 4, template } };
    expect(missingOfJob(queue, pods(['a']))).toEqual([{ of: 'pod', count: 3, spec }]);
    expect(missingOfJob({ ...queue, status: { succeeded: 1 } }, [])).toEqual([]);
  });

  it('is a Job and its pods for a CronJob, until a Job was made after the refusal', () => {
    const owner = {
      metadata: { uid: 'cron' },
      spec: { jobTemplate: { spec: { parallelism: 2, completions: 2, template } } },
    };
    const refusedAt = Date.UTC(2026, 10, 20, 10, 0, 30);
    const job = (at: string, uid = 'cron') => ({
      metadata: { creationTimestamp: at, ownerReferences: [{ uid, controller: true }] },
    });
    const object = { of: 'object', count: 1, resource: 'jobs', group: 'batch' };
    const all = [object, { of: 'pod', count: 2, spec }];
    expect(missingOfCronJob(owner, [], refusedAt)).toEqual(all);
    expect(missingOfCronJob(owner, [job('2026-11-20T10:00:00Z')], refusedAt)).toEqual(all);
    expect(missingOfCronJob(owner, [job('2026-11-20T10:01:00Z', 'another')], refusedAt)).toEqual(all);
    expect(missingOfCronJob(owner, [job('2026-11-20T10:01:00Z')], refusedAt)).toEqual([]);
    expect(missingOfCronJob({ ...owner, spec: { ...owner.spec, suspend: true } }, [], refusedAt)).toEqual([]);
  });

  it('is the ReplicaSet that a Deployment says it cannot create', () => {
    const owner = (conditions: { type: string; status: string; reason: string }[]) => ({
      metadata: { uid: 'd' },
      status: { conditions },
    });
    const one = [{ metadata: { ownerReferences: [{ uid: 'd', controller: true }] } }];
    const failed = [{ type: 'Progressing', status: 'False', reason: 'ReplicaSetCreateError' }];
    const object = { of: 'object', count: 1, resource: 'replicasets', group: 'apps' };
    expect(missingOfDeployment(owner(failed), one)).toEqual([object]);
    expect(missingOfDeployment(owner([]), [])).toEqual([object]);
    expect(missingOfDeployment(owner([]), one)).toEqual([]);
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
    expect(chargedPods(all, 'u-1', now).map((one) => one.metadata.name)).toEqual(['running', 'leaving']);
  });
});

describe('the demand of a workload', () => {
  const two = [{ of: 'pod', count: 2, spec }] as const;

  it('is missing × charge, exactly, and only of what the quota limits', () => {
    expect(demandOfMissing(quota(), workload, two, 5)).toEqual({
      workload,
      basis: 'workload',
      missing: 2,
      total: { 'requests.cpu': '1', pods: '2' },
      lastSeen: 5,
    });
  });

  it('counts the defaults of LimitRanges and the overhead of the RuntimeClass', () => {
    const bare = { containers: [{ name: 'app' }], runtimeClassName: 'sandbox' };
    const limitRanges = [{ spec: { limits: [{ type: 'Container', defaultRequest: { cpu: '300m' } }] } }];
    const charging = quota({ limitRanges, overheads: { sandbox: { cpu: '50m' } } });
    const missing = [{ of: 'pod', count: 3, spec: bare }] as const;
    expect(demandOfMissing(charging, workload, missing, 5)?.total).toEqual({ 'requests.cpu': '1050m', pods: '3' });
  });

  it('is none of a quota whose scopes leave its pods out', () => {
    expect(demandOfMissing(quota({ scopes: { scopes: ['BestEffort'] } }), workload, two, 5)).toBeNull();
    expect(demandOfMissing(quota({ scopes: { scopes: ['NotBestEffort'] } }), workload, two, 5)).not.toBeNull();
  });

  it('is none of a quota that limits nothing of it', () => {
    expect(demandOfMissing(quota({ hard: { 'requests.storage': '1Gi' } }), workload, two, 5)).toBeNull();
  });

  it('adds the claims of a StatefulSet, in the default class', () => {
    const claim = { metadata: { name: 'data' }, spec: { resources: { requests: { storage: '10Gi' } } } };
    const hard = { pods: '1', 'requests.storage': '1Gi', 'fast.storageclass.storage.k8s.io/requests.storage': '1Gi' };
    const missing = [two[0], { of: 'claim', count: 2, claim }] as const;
    expect(demandOfMissing(quota({ hard, defaultStorageClass: 'fast' }), workload, missing, 5)?.total).toEqual({
      'fast.storageclass.storage.k8s.io/requests.storage': '20Gi',
      pods: '2',
      'requests.storage': '20Gi',
    });
  });

  it('counts other objects only for a quota without scopes', () => {
    const missing = [{ of: 'object', count: 1, resource: 'jobs', group: 'batch' }] as const;
    const hard = { 'count/jobs.batch': '1' };
    expect(demandOfMissing(quota({ hard }), workload, missing, 5)).toMatchObject({
      missing: 1,
      total: { 'count/jobs.batch': '1' },
    });
    expect(demandOfMissing(quota({ hard, scopes: { scopes: ['Terminating'] } }), workload, missing, 5)).toBeNull();
  });
});

describe('the demand of a workload that cannot be read', () => {
  const cpu = (amount: string, name = 'compute') =>
    `pods "task-x" is forbidden: exceeded quota: ${name}, requested: requests.cpu=${amount}, used: requests.cpu=2, limited: requests.cpu=2`;

  it('is what its newest refusal asked for, whatever the pod was called', () => {
    const refusals = [refused(cpu('700m'), 10), refused(cpu('500m'), 20)];
    expect(demandOfMessages(quota(), workload, refusals)).toEqual({
      workload,
      basis: 'message',
      missing: 1,
      total: { 'requests.cpu': '500m' },
      lastSeen: 20,
    });
  });

  it("counts another quota's refusal where this quota counts every object", () => {
    const refusals = [refused(cpu('500m', 'other'), 10)];
    expect(demandOfMessages(quota(), workload, refusals)?.total).toEqual({ 'requests.cpu': '500m' });
    expect(demandOfMessages(quota({ scopes: { scopes: ['Terminating'] } }), workload, refusals)).toBeNull();
    expect(demandOfMessages(quota({ hard: { pods: '1' } }), workload, refusals)).toBeNull();
  });

  it('adds up refused objects of different kinds', () => {
    const claim =
      'persistentvolumeclaims "task-x" is forbidden: exceeded quota: compute, requested: requests.storage=1Gi, used: requests.storage=0, limited: requests.storage=0';
    const charging = quota({ hard: { 'requests.cpu': '2', 'requests.storage': '0' } });
    expect(demandOfMessages(charging, workload, [refused(cpu('500m'), 10), refused(claim, 11)])?.total).toEqual({
      'requests.cpu': '500m',
      'requests.storage': '1Gi',
    });
  });
});
