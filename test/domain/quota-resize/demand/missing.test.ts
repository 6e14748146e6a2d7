import { describe, expect, it } from 'vitest';
import {
  missingOfDaemonSet,
  missingOfDeployment,
  missingOfJob,
  missingOfStatefulSet,
} from '../../../../domain/quota-resize/demand/missing.ts';
import { rolloutOf } from '../../../../domain/quota-resize/demand/rolling-update.ts';

const spec = { containers: [{ name: 'app' }] };
const template = { spec };
const pods = (count: number, more: object = {}) =>
  Array.from({ length: count }, (_, at) => ({ metadata: { name: `p-${at}`, ...more } }));
const missing = (count: number) => [{ of: 'pod', count, surge: 0, spec }];

describe('what is missing', () => {
  it('of a Job are not the indexes that it has given up', () => {
    const job = { spec: { parallelism: 10, completions: 10, template } };
    expect(missingOfJob({ ...job, status: { succeeded: 3, failedIndexes: '1,4-6,8' } }, pods(1))).toEqual(missing(1));
    expect(missingOfJob({ ...job, status: { succeeded: 3, failedIndexes: '1,3-8' } }, [])).toEqual([]);
  });

  it('of a DaemonSet is not filled by a pod that stays on a node where there should be none', () => {
    const owner = { spec: { template }, status: { desiredNumberScheduled: 10, numberMisscheduled: 2 } };
    expect(missingOfDaemonSet(owner, pods(10))).toEqual(missing(2));
    // These leave, and others get their charge.
    const leaving = { deletionTimestamp: '2026-11-20T10:00:00Z' };
    expect(missingOfDaemonSet(owner, [...pods(8), ...pods(2, leaving)])).toEqual([]);
  });

  it('of a StatefulSet has the template before below the partition, counted from its first ordinal', () => {
    const owner = {
      metadata: { name: 'db' },
      spec: { replicas: 5, template, ordinals: { start: 10 }, updateStrategy: { rollingUpdate: { partition: 3 } } },
      status: { currentRevision: 'db-1', updateRevision: 'db-2' },
    };
    expect(missingOfStatefulSet(owner, [], [], 0)).toEqual([
      ...missing(2),
      { of: 'pod', count: 3, surge: 0, spec, isOfEarlierTemplate: true },
    ]);
  });

  it('of a Deployment that is paused is neither a ReplicaSet nor what its rollout has still to replace', () => {
    const revision = { 'deployment.kubernetes.io/revision': '2' };
    const deployment = { metadata: { uid: 'd', annotations: revision }, spec: { replicas: 3, paused: true } };
    expect(missingOfDeployment(deployment, [])).toEqual([]);
    const replicaSet = { metadata: { uid: 'rs', annotations: revision }, spec: { replicas: 3, template } };
    expect(rolloutOf(deployment, replicaSet, pods(3))).toBeUndefined();
    const running = { ...deployment, spec: { replicas: 3 } };
    expect(missingOfDeployment(running, [])).toHaveLength(1);
    expect(rolloutOf(running, replicaSet, pods(3))).toBeDefined();
  });
});
