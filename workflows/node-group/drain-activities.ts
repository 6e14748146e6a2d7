import { ActivityCancellationType } from '@temporalio/workflow';
import type { PauseActivities } from '../../activities/kernel/interface.ts';
import type { DrainActivities } from '../../activities/node-group/drain/interface.ts';
import type { NodeGroupActivities } from '../../activities/node-group/interface.ts';
import { controllerActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; after three missing ones another worker takes over the activity. */
const heartbeatTimeout = '10 seconds';

/** One read and one write. */
export const { ensureDrainMarked } = controllerActivities<DrainActivities>('node-group', {
  startToCloseTimeout: '1 minute',
  // A node that cannot be marked for longer is not drained now.
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** Polls by retry, and sets the delay of the next one itself. */
export const { awaitReplacement } = controllerActivities<DrainActivities>('node-group', {
  startToCloseTimeout: '1 minute',
  // The VPSie autoscaler's limits for a machine are 10 and 15 minutes; whoever drives it marks it as failed by then.
  scheduleToCloseTimeout: '45 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds' },
});

/**
 * Each attempt is one look at the node, which ends the drain itself when nothing leaves any more: budgets that let go of one pod
 * after the other take as long as it takes.
 */
export const { ensureEvicted } = controllerActivities<DrainActivities>('node-group', {
  // A full node of 110 pods behind slow admission webhooks, of which each may take 10 s; ten are asked at once.
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  // What is taken back afterwards must not be put on again by an attempt that still runs.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** One read and one write, tried until it is done: a node is not left cordoned. */
export const { ensureDrainUnmarked } = controllerActivities<DrainActivities>('node-group', {
  startToCloseTimeout: '1 minute',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** Tried until it is done: once it was asked for, there is no way back. */
export const { ensureMachineDeleted } = controllerActivities<NodeGroupActivities>('node-group', {
  // A provider's API may take its time, or ask for patience by its rate limit.
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** Polls by retry until the group is not paused. */
export const { awaitResume } = controllerActivities<PauseActivities>('node-group', {
  startToCloseTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});
