import { describe, expect, it } from 'vitest';
import { pendingPods, type WaitingPod } from '../../../../starter/cli/quota-usage/pending-pods.ts';

function pending(status: NonNullable<WaitingPod['status']>): WaitingPod {
  return { status: { phase: 'Pending', ...status } };
}

const unscheduled = (reason: string, message: string): WaitingPod =>
  pending({ conditions: [{ type: 'PodScheduled', status: 'False', reason, message }] });
const scheduled = { type: 'PodScheduled', status: 'True' };

describe('pods that do not run yet', () => {
  it('are counted by the reason that they give, the most frequent first', () => {
    const pods = [
      unscheduled('SchedulingGated', 'a gate'),
      unscheduled('Unschedulable', '0/3 nodes are available'),
      unscheduled('Unschedulable', '0/4 nodes are available'),
      { status: { phase: 'Running' } },
      { metadata: { deletionTimestamp: '2026-11-20T10:00:00Z' }, status: { phase: 'Pending' } },
    ];
    expect(pendingPods(pods)).toEqual({
      count: 3,
      reasons: [
        { reason: 'Unschedulable', pods: 2, message: '0/3 nodes are available' },
        { reason: 'SchedulingGated', pods: 1, message: 'a gate' },
      ],
    });
  });

  it.each<[string, WaitingPod]>([
    ['NotScheduled', pending({})],
    ['Starting', pending({ conditions: [scheduled] })],
    [
      'ContainersNotReady',
      pending({ conditions: [scheduled, { type: 'Ready', status: 'False', reason: 'ContainersNotReady' }] }),
    ],
    [
      'ImagePullBackOff',
      pending({
        conditions: [scheduled, { type: 'Ready', status: 'False', reason: 'ContainersNotReady' }],
        initContainerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
        containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }],
      }),
    ],
  ])('wait for %s', (reason, pod) => {
    expect(pendingPods([pod]).reasons.map((pending) => pending.reason)).toEqual([reason]);
  });
});
