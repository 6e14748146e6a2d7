import { describe, expect, it } from 'vitest';
import {
  horizontalScalerOf,
  kedaScalerOf,
  missingTargets,
  withAutoscalers,
} from '../../../activities/lights-out/read-scaler.ts';
import {
  cronJobOf,
  deploymentOf,
  namespaceOf,
  replicatedOf,
  rolloutOf,
  scaledJobOf,
  statefulSetOf,
} from '../../../activities/lights-out/read-workload.ts';

const metadata = {
  name: 'web',
  namespace: 'team-a',
  uid: 'u',
  resourceVersion: '7',
  creationTimestamp: new Date('2026-11-20T10:00:00Z'),
};
const selector = {};
const template = {};

describe('a workload as it is read', () => {
  it('has what the API server has by default where the object does not say it', () => {
    expect(deploymentOf({ metadata, spec: { selector, template } })).toMatchObject({
      replicas: 1,
      ready: 0,
      present: 0,
      isDeleting: false,
      changed: null,
      createdAt: Date.parse('2026-11-20T10:00:00Z'),
    });
    expect(cronJobOf({ metadata, spec: { schedule: '0 0 * * *', jobTemplate: {} } })).toMatchObject({
      replicas: null,
      isSuspended: false,
    });
  });

  it('deletes its volumes only where it has claims of its own, and its policy is to delete them with what it is scaled down by', () => {
    const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }];
    const read = (spec: object) => statefulSetOf({ metadata, spec: { selector, template, ...spec } }).deletesVolumes;
    const policyOf = (whenScaled?: string, whenDeleted?: string) => ({
      persistentVolumeClaimRetentionPolicy: { whenScaled, whenDeleted },
    });
    expect(read({ volumeClaimTemplates, ...policyOf('Delete', 'Retain') })).toBe(true);
    expect(read({ volumeClaimTemplates, ...policyOf('Retain', 'Delete') })).toBeUndefined();
    expect(read({ volumeClaimTemplates })).toBeUndefined();
    expect(read({ volumeClaimTemplates: [], ...policyOf('Delete') })).toBeUndefined();
    expect(read(policyOf('Delete'))).toBeUndefined();
  });

  it('of Argo or KEDA is plain JSON, with its times as text', () => {
    const created = { ...metadata, creationTimestamp: '2026-11-20T10:00:00Z', generation: 3 };
    const limits = { cpu: '1', memory: '64Mi' };
    const rollout = {
      metadata: created,
      spec: { replicas: 4, template: { spec: { containers: [{ resources: { limits } }] } } },
      status: { observedGeneration: '3', replicas: 4, readyReplicas: 2 },
    };
    expect(rolloutOf(rollout)).toMatchObject({
      kind: 'Rollout',
      replicas: 4,
      ready: 2,
      present: 4,
      createdAt: Date.parse('2026-11-20T10:00:00Z'),
      requests: { cpu: 1_000, memory: 64 * 1024 ** 2 },
    });
    expect(replicatedOf(rollout).status).toMatchObject({ observedGeneration: 3, readyReplicas: 2 });
    expect(replicatedOf({ metadata: created }).status).toEqual({ observedGeneration: 0 });
    const jobAs = (paused?: string) =>
      scaledJobOf({
        metadata: { ...created, annotations: paused === undefined ? {} : { 'autoscaling.keda.sh/paused': paused } },
      });
    const isSuspended = (text?: string) => jobAs(text).isSuspended;
    // As KEDA reads it: what is neither true nor false pauses.
    expect([undefined, 'false', 'False', '0', 'f'].map(isSuspended)).toEqual([false, false, false, false, false]);
    expect(['true', '', 'no', '1'].map(isSuspended)).toEqual([true, true, true, true]);
    expect(jobAs()).toMatchObject({ kind: 'ScaledJob', replicas: null, changed: null });
    expect(jobAs('0').annotations).toEqual({ 'autoscaling.keda.sh/paused': '0' });
    expect(rolloutOf(rollout)).not.toHaveProperty('isUnwritten');
    expect(rolloutOf({ metadata: created, spec: {} })).toMatchObject({ replicas: 1, isUnwritten: true });
  });

  it('says how many bytes are left for annotations, where they are few', () => {
    const roomOf = (length: number) => {
      const annotations = { long: 'x'.repeat(length), ü: 'ü' };
      return deploymentOf({ metadata: { ...metadata, annotations } }).annotationRoom;
    };
    const [most, others] = [262_144 - 2200, 8];
    expect(roomOf(0)).toBeUndefined();
    expect(roomOf(most - others - 1024)).toBeUndefined();
    expect(roomOf(most - others - 1023)).toBe(1023);
    expect(roomOf(most - others + 1)).toBe(-1);
    const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
    const full = { ...metadata, annotations: { long: 'x'.repeat(most - 4) } };
    const horizontal = horizontalScalerOf({ metadata: full, spec: { scaleTargetRef, maxReplicas: 5 } });
    const keda = kedaScalerOf({ metadata: full, spec: { scaleTargetRef } });
    expect([horizontal, keda].map((scaler) => scaler?.autoscaler.annotationRoom)).toEqual([0, 0]);
  });

  it('says who set its replicas, by the managed fields, and keeps no annotations but those of schedules', () => {
    const managedFields = [
      {
        manager: 'helm',
        time: new Date('2026-11-20T10:00:00Z'),
        fieldsV1: { 'f:spec': { 'f:replicas': {}, 'f:template': {} } },
      },
      {
        manager: 'kubectl',
        subresource: 'scale',
        time: new Date('2026-11-20T11:00:00Z'),
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
    ];
    const annotations = {
      'lightsout.techsupport.mk/priority': '5',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    const read = deploymentOf({
      metadata: { ...metadata, managedFields, annotations },
      spec: { replicas: 3, selector, template },
    });
    expect(read).toMatchObject({
      annotations: { 'lightsout.techsupport.mk/priority': '5' },
      changed: { manager: 'kubectl', at: Date.parse('2026-11-20T11:00:00Z'), isOnlyIt: true },
      createdBy: 'helm',
    });
    expect(Object.keys(read.annotations)).toHaveLength(1);
    expect(read).not.toHaveProperty('managedFields');
  });

  it('has an autoscaler whose minimum was applied since it is held, also where that changed no field', () => {
    const since = '2026-11-20T18:00:00Z';
    const setter = (text: string, { at = '2026-11-20T19:00:00Z', held = true } = {}) => {
      const key = 'kubectl.kubernetes.io/last-applied-configuration';
      const annotations = { [key]: text, ...(held ? { 'lightsout.techsupport.mk/down-since': since } : {}) };
      const field = (manager: string, time: string, fieldsV1: object) => ({ manager, time: new Date(time), fieldsV1 });
      const managedFields = [
        field('headroom-lights-out', since, { 'f:spec': { 'f:minReplicas': {} } }),
        field('argocd-controller', at, { 'f:metadata': { 'f:annotations': { [`f:${key}`]: {} } } }),
      ];
      const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
      const read = horizontalScalerOf({
        metadata: { ...metadata, annotations, managedFields },
        spec: { scaleTargetRef, minReplicas: 1, maxReplicas: 5 },
      });
      return read?.autoscaler.setBy?.minReplicas?.manager;
    };
    expect(setter('{"spec":{"minReplicas":1}}')).toBe('argocd-controller');
    expect(setter('{"spec":{"minReplicas":0}}')).toBe('headroom-lights-out');
    expect(setter('{"spec":{}}')).toBe('headroom-lights-out');
    expect(setter('no JSON')).toBe('headroom-lights-out');
    expect(setter('{"spec":{"minReplicas":1}}', { at: since })).toBe('headroom-lights-out');
    expect(setter('{"spec":{"minReplicas":1}}', { held: false })).toBe('headroom-lights-out');
  });

  it('comes with the autoscalers that name it, and no others', () => {
    const deployment = deploymentOf({ metadata, spec: { selector, template } });
    const scaled = (name: string, scaleTargetRef: object) =>
      kedaScalerOf({ metadata: { ...metadata, name }, spec: { scaleTargetRef } });
    const horizontal = (name: string, apiVersion: string, more: object = {}) =>
      horizontalScalerOf({
        metadata: { ...metadata, name, ...more },
        spec: { scaleTargetRef: { apiVersion, kind: 'Deployment', name: 'web' }, maxReplicas: 5 },
      });
    const owner = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'a', uid: 'a' };
    const scalers = [
      scaled('keda', { name: 'web' }),
      scaled('of-a-rollout', { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web' }),
      scaled('of-a-stateful-set', { kind: 'StatefulSet', name: 'web' }),
      horizontal('hpa', 'apps/v1'),
      horizontal('of-something-else', 'example.com/v1'),
      horizontal('made-by-keda', 'apps/v1', { ownerReferences: [owner] }),
    ].filter((workload) => workload !== null);
    const [found] = withAutoscalers([deployment], scalers);
    expect(found?.autoscalers.map(({ name }) => name)).toEqual(['keda', 'hpa']);
    expect(found?.autoscalers[1]).toMatchObject({ minReplicas: 1, maxReplicas: 5 });
  });
});

it('an autoscaler says who set what it is held by, and when, as far as that is known', () => {
  const time = new Date('2026-11-20T12:00:00Z');
  const by = (manager: string, fieldsV1: object) => ({ manager, time, fieldsV1 });
  const set = (manager: string) => ({ manager, at: time.getTime() });
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' };
  const horizontal = horizontalScalerOf({
    metadata: {
      ...metadata,
      managedFields: [
        by('helm', { 'f:spec': { 'f:minReplicas': {}, 'f:scaleTargetRef': {} } }),
        by('kubectl-edit', { 'f:spec': { 'f:maxReplicas': {} } }),
      ],
    },
    spec: { scaleTargetRef: target, maxReplicas: 5 },
  });
  expect(horizontal?.autoscaler.setBy).toEqual({ minReplicas: set('helm'), maxReplicas: set('kubectl-edit') });
  const annotations = { 'f:autoscaling.keda.sh/paused-replicas': {} };
  const keda = kedaScalerOf({
    metadata: {
      ...metadata,
      managedFields: [by('kubectl-annotate', { 'f:metadata': { 'f:annotations': annotations } })],
    },
    spec: { scaleTargetRef: { name: 'web' } },
  });
  expect(keda?.autoscaler.setBy).toEqual({ paused: set('kubectl-annotate') });
  expect(kedaScalerOf({ metadata, spec: { scaleTargetRef: target } })?.autoscaler).not.toHaveProperty('setBy');
});

it('autoscalers with the annotations of a schedule are found also where what they scale is gone', () => {
  const marked = { 'lightsout.techsupport.mk/managed-by': 'nights' };
  const scaled = (name: string, kind: string, annotations?: Record<string, string>) =>
    kedaScalerOf({
      metadata: { ...metadata, name: `${kind}-${name}`, ...(annotations === undefined ? {} : { annotations }) },
      spec: { scaleTargetRef: { kind, name } },
    });
  const scalers = [
    scaled('web', 'Deployment', marked),
    scaled('gone', 'Deployment', marked),
    scaled('gone', 'StatefulSet', marked),
    scaled('gone', 'ReplicaSet', marked),
    scaled('free', 'Deployment'),
  ].filter((workload) => workload !== null);
  const deployment = deploymentOf({ metadata, spec: { selector, template } });
  const missing = missingTargets([deployment], scalers);
  expect(missing).toMatchObject([
    { kind: 'Deployment', namespace: 'team-a', name: 'gone', uid: '', replicas: 0 },
    { kind: 'StatefulSet', namespace: 'team-a', name: 'gone', uid: '', replicas: 0 },
  ]);
  expect(missing.map(({ autoscalers }) => autoscalers.map(({ name }) => name))).toEqual([
    ['Deployment-gone'],
    ['StatefulSet-gone'],
  ]);
});

it('what is to sleep by an annotation does so since that was written', () => {
  const managedFields = [
    {
      manager: 'kubectl-annotate',
      time: new Date('2026-11-20T12:00:00Z'),
      fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:lightsout.techsupport.mk/sleep-until': {} } } },
    },
  ];
  const annotations = { 'lightsout.techsupport.mk/sleep-until': '2026-11-21T12:00:00Z' };
  const since = Date.parse('2026-11-20T12:00:00Z');
  expect(namespaceOf({ metadata: { name: 'a', annotations, managedFields } }).sleepingSince).toBe(since);
  const spec = { selector, template };
  expect(deploymentOf({ metadata: { ...metadata, annotations, managedFields }, spec }).sleepingSince).toBe(since);
  expect(deploymentOf({ metadata: { ...metadata, annotations }, spec })).not.toHaveProperty('sleepingSince');
  expect(deploymentOf({ metadata: { ...metadata, managedFields }, spec })).not.toHaveProperty('sleepingSince');
});

it('a namespace is being deleted from the moment at which its deletion is asked for', () => {
  expect(namespaceOf({ metadata: { name: 'a', deletionTimestamp: new Date() } }).isDeleting).toBe(true);
  expect(namespaceOf({ metadata: { name: 'a' }, status: { phase: 'Terminating' } }).isDeleting).toBe(true);
  expect(namespaceOf({ metadata: { name: 'a' }, status: { phase: 'Active' } }).isDeleting).toBe(false);
});
