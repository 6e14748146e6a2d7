import { ActivityCancellationType } from '@temporalio/workflow';
import type { LightsOutActivities } from '../../activities/lights-out/interface.ts';
import { controllerActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; three may be missing before another takes the activity over. */
const heartbeatTimeout = '10 seconds';

/** Lists of the whole cluster, page by page. */
export const { observeSchedule } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '2 minutes',
  // A cluster that cannot be read for longer is shown in the status, and observed again.
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

export const { ensureScaled } = controllerActivities<LightsOutActivities>('lights-out', {
  // A hundred workloads behind slow admission webhooks.
  startToCloseTimeout: '10 minutes',
  // A cluster that is away for longer is observed again: the plan is old by then.
  scheduleToCloseTimeout: '30 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** One read and one write. */
export const { ensureFinalizer } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});

/** A status or an Event that cannot be written soon is written by the next pass: reports must not delay scaling. */
export const { ensureScheduleStatus, ensureScheduleEvent } = controllerActivities<LightsOutActivities>('lights-out', {
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '20 seconds',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '5 seconds' },
});

/** Polls by retry until the workloads are as far as they are waited for, or the time that people gave them is over. */
export function awaiting(scheduleToCloseTimeout: number) {
  return controllerActivities<LightsOutActivities>('lights-out', {
    startToCloseTimeout: '1 minute',
    scheduleToCloseTimeout,
    heartbeatTimeout,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    // The activity names the pace itself.
    retry: { initialInterval: '2 seconds', backoffCoefficient: 1.5, maximumInterval: '15 seconds' },
  }).awaitScaled;
}
