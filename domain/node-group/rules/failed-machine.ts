import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import type { Machine } from '../model/node-group.ts';

/** So long people can see what failed. */
const FAILED_TTL_MS = 30 * MINUTE_MS;

/**
 * When the VPSie autoscaler deletes the object of a machine that failed. Headroom does so at once, as whatever there is of it at
 * the provider is paid for; what failed is in the status of its group.
 *
 * @param ttlMs 0 keeps it for ever.
 * @returns null for never, and for a machine that did not fail.
 */
export function failedMachineEnd(
  { phase, phaseSince }: Pick<Machine, 'phase' | 'phaseSince'>,
  ttlMs = FAILED_TTL_MS,
): EpochMs | null {
  return phase === 'Failed' && ttlMs > 0 ? phaseSince + ttlMs : null;
}
