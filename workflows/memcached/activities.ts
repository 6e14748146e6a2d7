import { ActivityCancellationType } from '@temporalio/workflow';
import type { MemcachedActivities } from '../../activities/memcached/interface.ts';
import { controllerActivities } from '../kernel/activities.ts';

/** Workers send a heartbeat every 3 s; after three missing ones another worker takes over the activity. */
const heartbeatTimeout = '10 seconds';

/** A handful of reads of single objects. */
export const { observeMemcached } = controllerActivities<MemcachedActivities>('memcached', {
  startToCloseTimeout: '1 minute',
  // A cluster that cannot be read for longer is shown, and the next pass observes again.
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '1 minute' },
});

/** The same reads, and at most ten writes, of which each may pass slow admission webhooks. */
export const { ensureMemcached } = controllerActivities<MemcachedActivities>('memcached', {
  startToCloseTimeout: '5 minutes',
  // It compares again before every attempt, so it may go on for long; but a role that is missing is to be shown.
  scheduleToCloseTimeout: '10 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '30 seconds' },
});
