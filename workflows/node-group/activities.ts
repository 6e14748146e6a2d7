import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { NodeGroupActivities, NodeGroupCacheActivities } from '../../activities/node-group/interface.ts';
import { activityTaskQueue, cacheTaskQueue } from '../../domain/kernel/target.ts';
import { controllerActivities, type SummarizedActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; after three missing ones another worker takes over the activity. */
const heartbeatTimeout = '10 seconds';

/** A read of the starters' caches. It waits for a plan that is as fresh as the API server, and may move to another starter. */
export function observing(cluster: string): SummarizedActivities<NodeGroupCacheActivities> {
  return proxyActivities<NodeGroupCacheActivities>({
    taskQueue: activityTaskQueue(cacheTaskQueue(cluster), 'node-group'),
    startToCloseTimeout: '1 minute',
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    // There is no overall limit: a starter comes back.
    retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
  });
}

/** Polls by retry. A request ends it, and it is called again: each attempt looks at everything anew. */
export const { ensureScaledUp, ensureMachinesSettled } = controllerActivities<NodeGroupActivities>('node-group', {
  // A thousand VPSieNodes at most, behind slow admission webhooks; a provider that asks for patience by its rate limit.
  startToCloseTimeout: '10 minutes',
  // A machine may wait an hour for its turn, and has 15 minutes then; a provider that cannot be reached for longer is shown.
  scheduleToCloseTimeout: '80 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** One question to the provider or none, and one write. */
export const { ensureInstanceTypes, ensureGroupStatus, ensureGroupReleased, ensureRemovalsClaimed, ensureWishesKept } =
  controllerActivities<NodeGroupActivities>('node-group', {
    startToCloseTimeout: '2 minutes',
    // A provider or a cluster that cannot be reached for longer is shown, and the next pass tries again.
    scheduleToCloseTimeout: '5 minutes',
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
    retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
  });
