import { type EpochMs, MINUTE_MS } from '../../kernel/time.ts';
import type { Machine } from '../model/node-group.ts';

/** The time limits of the VPSie autoscaler, in minutes from the beginning of the phase. */
export const PHASE_MINUTES: Partial<Record<Machine['phase'], number>> = { Provisioning: 10, Joining: 15 };

const COMING: ReadonlySet<Machine['phase']> = new Set(['Pending', 'Provisioning', 'Provisioned', 'Joining']);

/**
 * Why a machine that has not become a ready node is given up, as one sentence; null while there is time.
 *
 * @param maxNodeProvisionMs - the group's own limit, from the creation of the machine's object
 */
export function overdueReason(
  { phase, phaseSince, createdAt }: Pick<Machine, 'phase' | 'phaseSince' | 'createdAt'>,
  maxNodeProvisionMs: number,
  now: EpochMs,
): string | null {
  if (!COMING.has(phase)) return null;
  const limit = PHASE_MINUTES[phase];
  if (limit !== undefined && now - phaseSince >= limit * MINUTE_MS) {
    return `it was ${phase} for longer than the timeout of ${limit} minutes`;
  }
  if (now - createdAt < maxNodeProvisionMs) return null;
  return `it was not a ready node within its timeout of ${Math.round(maxNodeProvisionMs / MINUTE_MS)} minutes`;
}
