import type { LeaseRecord } from '../model/observation.ts';

/** Whether the Lease is locked by anybody, who may be at work. The lock of an earlier tool ends with its pull request. */
export function isLeaseHeld({ holder, holderIsAbandoned, hasUnreadDecision = false }: LeaseRecord): boolean {
  return hasUnreadDecision || (holder !== null && !holderIsAbandoned);
}
