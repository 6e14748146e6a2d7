import type { DisruptionBudget } from '../../../../domain/node-group/model/cluster-state.ts';
import type { DrainedPod } from '../../../../domain/node-group/drain/pods-to-evict.ts';

/** An ordinary pod of a ReplicaSet, with what a test says of it. */
export function aPod(name: string, more: Partial<DrainedPod> = {}): DrainedPod {
  return {
    uid: `uid-${name}`,
    namespace: 'shop',
    name,
    labels: { app: 'web' },
    annotations: {},
    owner: ownerOf('ReplicaSet'),
    phase: 'Running',
    isReady: true,
    priority: 0,
    createdAt: 0,
    deletesAt: null,
    gracePeriodSeconds: 30,
    localVolumes: [],
    ...more,
  };
}

/** A budget of those pods that needs two of them and has two, with what a test says of it. */
export function aBudget(name: string, more: Partial<DisruptionBudget> = {}): DisruptionBudget {
  return {
    namespace: 'shop',
    name,
    selector: { matchLabels: { app: 'web' } },
    disruptionsAllowed: 0,
    currentHealthy: 2,
    desiredHealthy: 2,
    disruptedPods: 0,
    unhealthyPodEvictionPolicy: 'IfHealthyBudget',
    isObserved: true,
    ...more,
  };
}

export function ownerOf(kind: string): DrainedPod['owner'] {
  return { apiVersion: kind === 'Node' ? 'v1' : 'apps/v1', kind, name: 'owner', uid: 'uid-owner' };
}
