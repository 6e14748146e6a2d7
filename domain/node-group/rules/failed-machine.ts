import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import type { Machine } from '../model/node-group.ts';

/** The first implementation's: so long people can see what failed. */
const FAILED_TTL_MS = 30 * MINUTE_MS;

/**
 * When the object of a machine that failed is deleted, and with it whatever there may be of it at the provider.
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
