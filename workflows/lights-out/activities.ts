import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { LightsOutActivities, LightsOutCacheActivities } from '../../activities/lights-out/interface.ts';
import { activityTaskQueue, cacheTaskQueue } from '../../domain/kernel/target.ts';
import { controllerActivities, type SummarizedActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; after three missing ones another worker takes over the activity. */
const heartbeatTimeout = '10 seconds';

/**
 * Observes from a starter's caches, in milliseconds. Where no starter answers soon, the worker's own `observeSchedule`
 * lists everything: a morning must not wait for a starter.
 */
export function observingCaches(cluster: string): SummarizedActivities<LightsOutCacheActivities>['observeSchedule'] {
  return proxyActivities<LightsOutCacheActivities>({
    taskQueue: activityTaskQueue(cacheTaskQueue(cluster), 'lights-out'),
    scheduleToStartTimeout: '10 seconds',
    startToCloseTimeout: '20 seconds',
    scheduleToCloseTimeout: '30 seconds',
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { initialInterval: '200 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
  }).observeSchedule;
}

/** Lists the objects of the whole cluster, page by page. */
export const { observeSchedule } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '2 minutes',
  // A cluster that cannot be read for longer is reported in the status, and the next pass observes again.
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

export const { ensureScaled } = controllerActivities<LightsOutActivities>('lights-out', {
  // Enough for a hundred workloads behind slow admission webhooks.
  startToCloseTimeout: '10 minutes',
  // After a longer outage of the cluster the plan is out of date, so the next pass observes again.
  scheduleToCloseTimeout: '30 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  // About a minute: what is refused as a whole, such as a missing right, is said then.
  retry: {
    initialInterval: '500 milliseconds',
    backoffCoefficient: 2,
    maximumInterval: '30 seconds',
    maximumAttempts: 8,
  },
});

/** Lists the objects of the cluster once, and writes what is approved. */
export const { ensureApproved } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** One write; before the finalizer is taken off, the objects of the cluster are listed once. What is refused is said after two minutes. */
export const { ensureFinalizer } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '2 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/**
 * Short limits: a status or an Event that cannot be written is left to the next pass, because reporting must not delay
 * scaling.
 */
export const { ensureScheduleStatus, ensureScheduleEvent } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '20 seconds',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/** Polls by retry until the workloads are ready (or down), or until the schedule's readiness timeout has passed. */
export function awaiting(scheduleToCloseTimeout: number) {
  return controllerActivities<LightsOutActivities>('lights-out', {
    startToCloseTimeout: '1 minute',
    scheduleToCloseTimeout,
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    // The activity sets the delay of the next retry itself.
    retry: { initialInterval: '2 seconds', backoffCoefficient: 1.5, maximumInterval: '15 seconds' },
  }).awaitScaled;
}
