/** Memories of earlier releases, read as the one of this release. */
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Decision, Refusal } from './decision.ts';
import {
  type Approval,
  type Attempt,
  type BlockedReason,
  emptyMemory,
  IDLE,
  NO_ATTEMPT,
  type OperatorWord,
  type ResizeMemory,
  type ResizeState,
  stateOf,
  type SteadyDemand,
  type Unmerged,
} from './memory.ts';
import type { Reason } from './verdict.ts';

/** Version 1: one record of fields, most of them null. Each may be missing in a run that was started before it was added. */
interface MemoryV1 {
  readonly version: 1;
  readonly quotaUid?: string | null;
  readonly decision?: Decision | null;
  readonly finished?: string | null;
  readonly approval?: Approval | null;
  readonly rejection?: OperatorWord | null;
  readonly need?: SteadyDemand | null;
  readonly needGoneSince?: EpochMs | null;
  readonly updates?: number;
  readonly closing?: { readonly reason: Reason; readonly detail: string } | null;
  readonly mode?: 'observe' | 'propose' | null;
  readonly tried?: { readonly key: string; readonly count: number; readonly at: EpochMs } | null;
  readonly blocked?: {
    readonly reason: BlockedReason;
    readonly message: string;
    readonly at: EpochMs;
    readonly key: string;
  } | null;
  readonly lastRecommendation?: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  readonly refusals?: readonly Refusal[];
  readonly lastChange?: EpochMs | null;
  readonly cooldownSkippedAt?: EpochMs | null;
  readonly syncWarnedAt?: EpochMs | null;
  readonly syncCheckedAt?: EpochMs | null;
  readonly awaiting?: Unmerged['awaiting'];
  readonly told?: readonly string[];
  readonly yieldedSince?: EpochMs | null;
}

/**
 * Reads the memory of any earlier version, as a continued run receives it.
 *
 * @throws Error when it is of a version that this code does not know, which is a deployment going backwards.
 */
export function upgradeMemory(carried: { readonly version: number } | undefined): ResizeMemory {
  if (carried === undefined) return emptyMemory();
  if (carried.version === 2) return { ...emptyMemory(), ...(carried as ResizeMemory) };
  if (carried.version === 1) return ofVersion1(carried as MemoryV1);
  throw new Error(
    `the carried memory has version ${carried.version}, this worker knows up to 2: run a worker of the newer release`,
  );
}

function ofVersion1(memory: MemoryV1): ResizeMemory {
  const { quotaUid = null, finished = null, mode = null, lastRecommendation = null } = memory;
  const { lastChange = null, cooldownSkippedAt = null, refusals = [], told = [] } = memory;
  return {
    ...emptyMemory(),
    state: stateOfVersion1(memory),
    attempt: attemptOfVersion1(memory),
    quotaUid,
    mode,
    finished,
    lastRecommendation,
    rejections: refusals,
    lastChange,
    cooldownSkippedAt,
    emitted: told,
  };
}

function stateOfVersion1(memory: MemoryV1): ResizeState {
  const { decision = null, need = null, yieldedSince = null } = memory;
  if (decision === null) return { ...IDLE, demand: need, yieldedSince };
  const { approval = null, rejection = null, awaiting = null, needGoneSince = null, closing = null } = memory;
  const { updates = 0, syncWarnedAt = null, syncCheckedAt = null } = memory;
  const state = stateOf(decision);
  switch (state.kind) {
    case 'Merged':
      return {
        ...state,
        overdue: syncWarnedAt === null ? null : { warnedAt: syncWarnedAt, checkedAt: syncCheckedAt },
      };
    case 'Locked':
      return { ...state, approval, rejection, awaiting, demandGoneSince: needGoneSince, closing };
    case 'Open':
      return { ...state, approval, rejection, awaiting, demandGoneSince: needGoneSince, closing, updates };
  }
}

function attemptOfVersion1({ tried = null, blocked = null }: MemoryV1): Attempt {
  if (blocked !== null) return { kind: 'blocked', ...blocked };
  return tried === null ? NO_ATTEMPT : { kind: 'tried', ...tried };
}
