import { describe, expect, it } from 'vitest';
import {
  hasSeenItsSpec,
  isCreating,
  isJobAtRest,
  isReplicatedAtRest,
} from '../../../../domain/quota-resize/demand/at-rest.ts';
import type { ReplicatedOwner } from '../../../../domain/quota-resize/demand/owner.ts';

const failing = [{ type: 'ReplicaFailure', status: 'True' }];
const pod = { metadata: { name: 'web-1' } };
const goingPod = { metadata: { name: 'web-2', deletionTimestamp: '2026-11-20T10:00:00Z' } };

function replicaSet(
  status: ReplicatedOwner['status'],
  spec: ReplicatedOwner['spec'] = { replicas: 3 },
): ReplicatedOwner {
  return { metadata: { generation: 2 }, spec, status };
}

describe('a refused ReplicaSet', () => {
  it('is at rest when it says that pods cannot be created and counts those that there are', () => {
    const done = replicaSet({ observedGeneration: 2, replicas: 1, conditions: failing });
    expect(isReplicatedAtRest(done, [pod])).toBe(true);
    expect(isReplicatedAtRest(done, [pod, goingPod])).toBe(true);
    expect(isCreating(done)).toBe(false);
  });

  it.each([
    ['has not seen its spec', replicaSet({ observedGeneration: 1, replicas: 1, conditions: failing })],
    ['says nothing of a failure', replicaSet({ observedGeneration: 2, replicas: 1 })],
    ['has not counted its pods', replicaSet({ observedGeneration: 2, replicas: 0, conditions: failing })],
    ['has no status yet', replicaSet(undefined)],
  ])('is not while it %s', (_, owner) => {
    expect(isReplicatedAtRest(owner, [pod])).toBe(false);
  });

  it('is not while its Deployment has not seen its own spec, which may say another number', () => {
    const done = replicaSet({ observedGeneration: 2, replicas: 1, conditions: failing });
    expect(isReplicatedAtRest(done, [pod], { metadata: { generation: 4 }, status: { observedGeneration: 3 } })).toBe(
      false,
    );
    expect(isReplicatedAtRest(done, [pod], { metadata: { generation: 4 }, status: { observedGeneration: 4 } })).toBe(
      true,
    );
  });
});

describe('a ReplicaSet that nobody refused', () => {
  it('creates pods until it has all of them', () => {
    expect(isCreating(replicaSet({ observedGeneration: 2, replicas: 2 }))).toBe(true);
    expect(isCreating(replicaSet({ observedGeneration: 1, replicas: 3 }))).toBe(true);
    expect(isCreating(replicaSet({ observedGeneration: 2, replicas: 3 }))).toBe(false);
  });
});

it('a Job is at rest when its status counts its pods', () => {
  expect(isJobAtRest({ status: { active: 1 } }, [pod])).toBe(true);
  expect(isJobAtRest({ status: {} }, [pod])).toBe(false);
  expect(isJobAtRest({}, [])).toBe(true);
});

it('other owners say which write of their spec they have seen', () => {
  expect(hasSeenItsSpec({ metadata: { generation: 2 }, status: { observedGeneration: 2 } })).toBe(true);
  expect(hasSeenItsSpec({ metadata: { generation: 2 } })).toBe(false);
});
