import type { EpochMs } from '../../kernel/time.ts';
import type { NodeGroup } from '../model/node-group.ts';

type Backoff = NonNullable<NodeGroup['backoff']>;

// The times of cluster-autoscaler, in milliseconds.
const FIRST_REST_MS = 300_000;
const LONGEST_REST_MS = 1_800_000;
const FORGOTTEN_AFTER_MS = 10_800_000;

/**
 * The backoff of a group after one of its machines has failed: 5 minutes, then twice as long each time, at most 30.
 * A failure during a backoff neither lengthens nor prolongs it, because machines that were asked for together fail
 * together; three hours after the end of the last one the count begins anew.
 *
 * @param previous - what the group's status has
 * @param reason - one sentence
 */
export function backoffAfterFailure(previous: Backoff | null, reason: string, now: EpochMs): Backoff {
  if (previous !== null && now < previous.until) return { ...previous, reason };
  const isRemembered = previous !== null && now - previous.until < FORGOTTEN_AFTER_MS;
  const failures = isRemembered ? previous.failures + 1 : 1;
  const rest = Math.min(FIRST_REST_MS * 2 ** (failures - 1), LONGEST_REST_MS);
  return { until: now + rest, failures, reason };
}
