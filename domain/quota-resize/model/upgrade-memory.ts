/** Converts memories of earlier releases to the memory of this release. */
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Approval, OperatorWord, Rejection } from './decision.ts';
import {
  type Attempt,
  type BlockedReason,
  emptyMemory,
  type Idle,
  IDLE,
  NO_ATTEMPT,
  type Locked,
  type Merged,
  type Open,
  type ResizeMemory,
  type ResizeState,
  stateOf,
  type SteadyDemand,
  type Unmerged,
} from './memory.ts';
import { type DecisionV1, upgradeDecision } from './upgrade-decision.ts';
import type { Reason } from './verdict.ts';

/** Reasons that have another name in version 3. */
type ClosingV1 = { readonly reason: Reason | 'NeedGone'; readonly detail: string };

/** Version 2: the states of version 3 with decisions of version 1. */
type MemoryV2 = Partial<Omit<ResizeMemory, 'version' | 'state'>> & {
  readonly version: 2;
  readonly state: Idle | ReviewV2<Locked> | ReviewV2<Open> | WithDecisionV1<Merged>;
};

type WithDecisionV1<State> = Omit<State, 'decision'> & { readonly decision: DecisionV1 };

type ReviewV2<State> = Omit<WithDecisionV1<State>, 'closing'> & { readonly closing: ClosingV1 | null };

/**
 * Version 1: a single record, most of whose fields are null. Each may be missing in a run that was started before the
 * field was added.
 */
interface MemoryV1 {
  readonly version: 1;
  readonly quotaUid?: string | null;
  readonly decision?: DecisionV1 | null;
  readonly finished?: string | null;
  readonly approval?: Approval | null;
  readonly rejection?: OperatorWord | null;
  readonly need?: SteadyDemand | null;
  readonly needGoneSince?: EpochMs | null;
  readonly closing?: ClosingV1 | null;
  readonly mode?: 'observe' | 'propose' | null;
  readonly tried?: { readonly key: string; readonly count: number; readonly at: EpochMs } | null;
  readonly blocked?: {
    readonly reason: BlockedReason;
    readonly message: string;
    readonly at: EpochMs;
    readonly key: string;
  } | null;
  readonly lastRecommendation?: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  readonly refusals?: readonly Rejection[];
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
 * @throws Error for a version that this code does not know, which happens when a deployment is rolled back.
 */
export function upgradeMemory(carried: { readonly version: number } | undefined): ResizeMemory {
  if (carried === undefined) return emptyMemory();
  if (carried.version === 3) return { ...emptyMemory(), ...(carried as ResizeMemory) };
  if (carried.version === 2) return ofVersion2(carried as MemoryV2);
  if (carried.version === 1) return ofVersion1(carried as MemoryV1);
  throw new Error(
    `the carried memory has version ${carried.version}, this worker knows up to 3: run a worker of the newer release`,
  );
}

function ofVersion2({ state, ...rest }: MemoryV2): ResizeMemory {
  const memory = { ...emptyMemory(), ...rest, version: 3 } as const;
  if (state.kind === 'Idle') return { ...memory, state };
  const { decision: written, ...others } = state;
  const decision = upgradeDecision(written);
  const closing = 'closing' in others ? { closing: upgradeClosing(others.closing) } : {};
  return { ...memory, state: { ...others, decision, ...closing } as ResizeState };
}

function upgradeClosing(closing: ClosingV1 | null | undefined): Unmerged['closing'] {
  if (closing === undefined || closing === null) return null;
  const { reason, detail } = closing;
  return { reason: reason === 'NeedGone' ? 'DemandGone' : reason, detail };
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
  const { approval = null, rejection = null, awaiting = null, needGoneSince = null } = memory;
  const closing = upgradeClosing(memory.closing);
  const { syncWarnedAt = null, syncCheckedAt = null } = memory;
  const state = stateOf(upgradeDecision(decision));
  switch (state.kind) {
    case 'Merged':
      return {
        ...state,
        overdue: syncWarnedAt === null ? null : { warnedAt: syncWarnedAt, checkedAt: syncCheckedAt },
      };
    case 'Locked':
      return { ...state, approval, rejection, awaiting, demandGoneSince: needGoneSince, closing };
    case 'Open':
      return { ...state, approval, rejection, awaiting, demandGoneSince: needGoneSince, closing };
  }
}

function attemptOfVersion1({ tried = null, blocked = null }: MemoryV1): Attempt {
  if (blocked !== null) return { kind: 'blocked', ...blocked };
  return tried === null ? NO_ATTEMPT : { kind: 'tried', ...tried };
}
