/** What a quota's Lease remembers of a decision. */
import type { EpochMs } from '../../../domain/kernel/time.ts';
import {
  type Decision,
  type Raised,
  type Rejection,
  unattendedRaise,
} from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import { withRaise } from '../../../domain/quota-resize/policy/unattended-limit.ts';

/** Why a decision ended without a merge, as far as its Lease remembers it. */
export interface Ending {
  readonly rejection: Rejection | null;
  /** When it was given up without a rejection. */
  readonly withdrawnAt?: EpochMs | undefined;
}

/** What a quota's Lease stores after a decision has ended: the time of a merge or a withdrawal, or the rejection. */
export function memoryAfter(memory: LeaseMemory, decision: Raised, { rejection, withdrawnAt }: Ending): LeaseMemory {
  const { merge } = decision;
  const raise = unattendedRaise(decision);
  return {
    ...memory,
    ...(raise === null ? {} : { raises: withRaise(memory.raises, raise, Date.now()) }),
    ...(withdrawnAt === undefined ? {} : { lastWithdrawal: Math.max(memory.lastWithdrawal ?? 0, withdrawnAt) }),
    lastModified: merge === null ? memory.lastModified : Math.max(memory.lastModified ?? 0, merge.at),
    rejections: rejection === null ? memory.rejections : [...memory.rejections, rejection],
  };
}

/** A run that was reset sends the original decision again; the progress that was stored since is kept. */
export function withProgress(decision: Decision, recorded: Decision | null): Decision {
  if (recorded?.id !== decision.id) return decision;
  return {
    ...decision,
    pullRequest: decision.pullRequest ?? recorded.pullRequest,
    merge: decision.merge ?? recorded.merge,
  };
}
