import { ActivityCancellationType } from '@temporalio/workflow';
import type { QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import { controllerActivities } from '../kernel/activities.ts';

/*
 * Retries are without a limit, because servers come back; what no retry can help fails as non-retryable. A pause cancels
 * what is being retried and waits for an attempt that is under way, so that nothing is written after it was answered.
 */
const retry = { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' } as const;

/**
 * After how long without a word from its worker an attempt counts as lost. The workers send a heartbeat every 3 s; three
 * may be missing before another worker does the same again at the same time.
 */
const heartbeatTimeout = '10 seconds';

/** A look is at most a few dozen GETs, each with its own timeout of 30 s; most of them run side by side. */
export const observing = controllerActivities<QuotaResizeActivities>('quota-resize', {
  startToCloseTimeout: '3 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
});

/** A write is at most a dozen requests of 30 s, with a whole tree of a large repository in between. */
export const ensuring = controllerActivities<QuotaResizeActivities>('quota-resize', {
  startToCloseTimeout: '5 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry,
});

/** A watcher makes a few requests an attempt; between attempts it costs nothing, so it is cancelled without a word. */
export const watching = controllerActivities<QuotaResizeActivities>('quota-resize', {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry,
});
