import { describe, expect, it } from 'vitest';
import { type Between, type Owned, workloadOf } from '../../../../starter/cli/quota-usage/workload.ts';

/** An object whose controller is the one named, as `Kind/name`; its UID is its own name. */
function owned(name: string, owner?: string): Owned {
  const [kind = '', ownerName = ''] = owner?.split('/') ?? [];
  const ownerReferences = owner === undefined ? [] : [{ kind, name: ownerName, uid: ownerName, controller: true }];
  return { metadata: { name, uid: name, ownerReferences } };
}

const between: Between = {
  objects: new Map(
    [
      owned('web-7d', 'Deployment/web'),
      owned('canary-5f', 'Rollout/canary'),
      owned('nightly-28', 'CronJob/nightly'),
      owned('once'),
      owned('web-7d-abc', 'ReplicaSet/web-7d'),
    ].map((owner) => [owner.metadata?.uid ?? '', owner]),
  ),
  statefulSets: [
    { metadata: { name: 'db' }, spec: { volumeClaimTemplates: [{ metadata: { name: 'data' } }] } },
    { metadata: { name: 'db-0' }, spec: { volumeClaimTemplates: [{ metadata: { name: 'data' } }] } },
  ],
};

describe('the workload of an object', () => {
  it.each<[kind: string, object: Owned, workload: string]>([
    ['Pod', owned('web-7d-xyz', 'ReplicaSet/web-7d'), 'Deployment/web'],
    ['Pod', owned('canary-5f-xyz', 'ReplicaSet/canary-5f'), 'Rollout/canary'],
    ['Pod', owned('old-1-xyz', 'ReplicaSet/old-1'), 'ReplicaSet/old-1'],
    ['Pod', owned('nightly-28-xyz', 'Job/nightly-28'), 'CronJob/nightly'],
    ['Pod', owned('once-xyz', 'Job/once'), 'Job/once'],
    ['Pod', owned('db-1', 'StatefulSet/db'), 'StatefulSet/db'],
    ['Pod', owned('agent-xyz', 'DaemonSet/agent'), 'DaemonSet/agent'],
    ['Pod', owned('debug'), 'Pod/debug'],
    ['PersistentVolumeClaim', owned('data-db-12'), 'StatefulSet/db'],
    ['PersistentVolumeClaim', owned('data-db-0-3'), 'StatefulSet/db-0'],
    ['PersistentVolumeClaim', owned('data-db-x'), 'PersistentVolumeClaim/data-db-x'],
    ['PersistentVolumeClaim', owned('scratch', 'Pod/web-7d-abc'), 'Deployment/web'],
    ['Service', owned('web'), 'Service/web'],
  ])('of kind %s, %j, is %s', (kind, object, expected) => {
    const { kind: found, name } = workloadOf(object, kind, between);
    expect(`${found}/${name}`).toBe(expected);
  });

  it('is found although owners go round in a circle', () => {
    const circle = new Map([
      ['a', owned('a', 'Thing/b')],
      ['b', owned('b', 'Thing/a')],
    ]);
    expect(workloadOf(owned('c', 'Thing/a'), 'Pod', { objects: circle, statefulSets: [] }).kind).toBe('Thing');
  });
});
