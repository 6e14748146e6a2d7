/** `karpenter.sh/do-not-disrupt` of pods and nodes: `true`, or for how long after their creation. */
import { parseDuration } from '../../kernel/duration.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Labels } from '../model/pod.ts';

/** The last one that a date of ECMAScript can be. */
const LAST_MOMENT = 8.64e15;

export const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt';

/**
 * Whether the annotation holds, and until when.
 *
 * @returns null where it does not hold; `until` is null where no clock ends it. A text that is no duration but `false` holds nothing,
 *   as in Karpenter.
 */
export function heldByAnnotation(
  annotations: Labels,
  createdAt: EpochMs,
  at: EpochMs,
): { readonly until: EpochMs | null } | null {
  const text = annotations[DO_NOT_DISRUPT];
  if (text === undefined) return null;
  if (text === 'true') return { until: null };
  try {
    const until = createdAt + parseDuration(text);
    // Longer than any date is for ever.
    if (!(until <= LAST_MOMENT)) return { until: null };
    return until > at ? { until } : null;
  } catch {
    return null;
  }
}
