import { ActivityCancellationType } from '@temporalio/workflow';
import type { OrphanActivities, QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import { WRITE_TIMEOUT_MS } from '../../domain/quota-resize/model/timings.ts';
import { controllerActivities } from '../kernel/activities.ts';

/* Retried without a limit, because servers come back; failures that no retry can help are non-retryable. A pause cancels the retries and waits for a running attempt, so that nothing is written after the pause was confirmed. */
const retry = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;

/**
 * Time without a heartbeat after which an attempt counts as lost. Workers send a heartbeat every 3 s; only after three
 * missing ones does another worker start the same activity again.
 */
const heartbeatTimeout = '10 seconds';

/** An observation makes at most a few dozen GET requests, each with a timeout of 30 s, most of them in parallel. */
export const observing = controllerActivities<QuotaResizeActivities & OrphanActivities>('quota-resize', {
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
});

/** Locks that a write holds do not expire before it does. */
export const ensuring = controllerActivities<QuotaResizeActivities & OrphanActivities>('quota-resize', {
  startToCloseTimeout: WRITE_TIMEOUT_MS,
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
});

/** Watching costs nothing between attempts and writes nothing, so a cancellation does not wait for the activity. */
export const watching = controllerActivities<QuotaResizeActivities>('quota-resize', {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry,
});
