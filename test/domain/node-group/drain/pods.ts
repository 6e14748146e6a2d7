import type { DrainedPod } from '../../../../domain/node-group/drain/pods-to-evict.ts';

/** An ordinary pod of a ReplicaSet, with what a test says of it. */
export function aPod(name: string, more: Partial<DrainedPod> = {}): DrainedPod {
  return {
    uid: `uid-${name}`,
    namespace: 'shop',
    name,
    annotations: {},
    owner: ownerOf('ReplicaSet'),
    phase: 'Running',
    priority: 0,
    createdAt: 0,
    deletesAt: null,
    gracePeriodSeconds: 30,
    ...more,
  };
}

export function ownerOf(kind: string): DrainedPod['owner'] {
  return { apiVersion: 'apps/v1', kind, name: 'owner', uid: 'uid-owner' };
}
