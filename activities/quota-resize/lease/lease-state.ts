import type { V1Lease } from '@kubernetes/client-node';
import { hasUnreadDecision, type LeaseMemory, type LockedFile } from '../../../domain/quota-resize/model/lease.ts';
import type { LeaseRecord } from '../../../domain/quota-resize/model/observation.ts';

/** A quota's Lease in the cluster; `lease` is null when there is none yet and `name` is free. */
export interface Found {
  readonly name: string;
  readonly lease: V1Lease | null;
}

export interface LeaseState {
  readonly holder: string | null;
  readonly memory: LeaseMemory;
  /** The files whose locks belong to the decision. */
  readonly files: readonly LockedFile[];
  /** The quota whose decision also holds this quota's Lease. */
  readonly carriedBy: string | null;
}

/** What a quota's Lease says, for those who read it only. */
export type StoredLease = LeaseRecord & Pick<LeaseMemory, 'raises' | 'needed'>;

/** The state of a Lease that nobody holds. */
export const UNLOCKED: Omit<LeaseState, 'memory'> = { holder: null, files: [], carriedBy: null };

export function describeHolder({ holder, memory }: LeaseState): string {
  return hasUnreadDecision(memory) ? 'a decision that this release cannot read' : (holder ?? 'nobody');
}
