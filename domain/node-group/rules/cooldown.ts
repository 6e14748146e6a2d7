import type { EpochMs } from '../../kernel/time.ts';

/**
 * Whether a group rests after it was scaled: `isInCooldown` of the VPSie autoscaler.
 *
 * @param last when it was scaled; null where it never was.
 */
export function isCoolingDown(last: EpochMs | null, cooldownMs: number, at: EpochMs): boolean {
  return last !== null && at - last < cooldownMs;
}
