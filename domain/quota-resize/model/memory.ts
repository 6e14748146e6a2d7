import { requireVersion } from '../../kernel/carried-version.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  type Approval,
  approvedAs,
  type Decision,
  type LockedDecision,
  type MergedDecision,
  type OpenDecision,
  type OperatorWord,
  type Rejection,
} from './decision.ts';
import type { Reason } from './verdict.ts';

/** The last computed demand, and since when it has been the same. */
export interface SteadyDemand {
  readonly digest: string;
  readonly since: EpochMs;
  readonly firstSeen: EpochMs;
  /** Who was refused, and how much of each is missing; absent in memories of earlier versions. */
  readonly missing?: readonly string[];
  /** The longest time after which a further workload was refused, in milliseconds; absent while none was. */
  readonly gap?: number;
}

/** The episode has no decision: it waits for demand, or the cooldown runs. */
export interface Idle {
  readonly kind: 'Idle';
  readonly demand: SteadyDemand | null;
  /** Since when the quota has waited for the batch owner. */
  readonly yieldedSince: EpochMs | null;
}

interface AwaitedApproval {
  readonly key: string;
  /** Since when people know that it is waited for: they have the whole timeout from then on. */
  readonly since: EpochMs;
  /** When people were last reminded. */
  readonly remindedAt: EpochMs;
  /** Whether people were told; absent in memories of earlier versions, where only the written Events say it. */
  readonly isTold?: boolean;
}

/** State that belongs to a decision until it is merged or given up. */
interface Review {
  readonly approval: Approval | null;
  readonly rejection: OperatorWord | null;
  /** The approval that is waited for. */
  readonly awaiting: AwaitedApproval | null;
  /** Since when nothing has needed the decision. */
  readonly demandGoneSince: EpochMs | null;
  /**
   * Why Headroom began to close the pull request; a closed pull request is then no rejection by a person. Also set when
   * no pull request is known, because the response to an attempt to open one may have been lost.
   */
  readonly closing: {
    readonly reason: Reason;
    readonly detail: string;
    /** Absent where closing it is no rejection, and in memories of earlier versions. */
    readonly rejection?: Rejection;
  } | null;
}

/** The decision holds the Lease and has no known pull request. */
export interface Locked extends Review {
  readonly kind: 'Locked';
  readonly decision: LockedDecision;
}

/** The decision has a pull request. */
export interface Open extends Review {
  readonly kind: 'Open';
  readonly decision: OpenDecision;
  /** When the gate last let the pull request be in the merge queue; absent when it never did. */
  readonly queuedAt?: EpochMs;
}

/** The values are in Git, but the cluster does not show them yet. */
export interface Merged {
  readonly kind: 'Merged';
  readonly decision: MergedDecision;
  /**
   * Set once the sync is overdue. `warnedAt`: when people were warned, null when that was put off; `checkedAt`: when Git was last read again, null to read it at
   * once.
   */
  readonly overdue: { readonly warnedAt: EpochMs | null; readonly checkedAt: EpochMs | null } | null;
}

/** A decision that may still be changed, approved or given up. */
export type Unmerged = Locked | Open;

/** The state of an episode, with the data of that state alone. */
export type ResizeState = Idle | Unmerged | Merged;

/** The record of the last act that had no visible effect on the state. */
export type Attempt =
  | { readonly kind: 'none' }
  /** The act was interrupted, or the forge had changed: it is repeated with backoff. */
  | {
      readonly kind: 'tried';
      readonly key: string;
      readonly count: number;
      readonly at: EpochMs;
      /** Why it had no effect, a clause, where that is known. */
      readonly why?: string;
    }
  /** The act is blocked until its retry is due; an act with another key (other path or values) is not. */
  | {
      readonly kind: 'blocked';
      readonly key: string;
      readonly reason: BlockedReason;
      readonly message: string;
      readonly at: EpochMs;
    };

/** What an episode remembers between passes and carries through continue-as-new. JSON only. */
export interface ResizeMemory<State extends ResizeState = ResizeState> {
  readonly version: 3;
  readonly state: State;
  readonly attempt: Attempt;
  readonly quotaUid: string | null;
  /**
   * The mode when the namespace and the quota last existed: once they are deleted, their annotations cannot be read.
   */
  readonly mode: 'observe' | 'propose' | null;
  /**
   * The decision that this run finished last, so that a Lease that could not be cleaned up does not bring the decision
   * back.
   */
  readonly finished: string | null;
  readonly lastRecommendation: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  /** Values that people rejected. */
  readonly rejections: readonly Rejection[];
  /** Headroom's last change: a merge, or the sync after it. */
  readonly lastChange: EpochMs | null;
  /** When a decision was last given up without a rejection, such as because its demand went away. */
  readonly lastWithdrawal: EpochMs | null;
  /** A cooldown that began before this moment counts as over, by an operator's command. */
  readonly cooldownSkippedAt: EpochMs | null;
  /** Keys of the Events and comments that were already written. */
  readonly emitted: readonly string[];
  /** When people were last told something, the oldest first: they are not told more than so much an hour. */
  readonly notified: readonly EpochMs[];
}

export const blockedReasons = [
  'LeaseHeld',
  'FileBusy',
  'FileNotFound',
  'FoundTwice',
  'NotYaml',
  'ContentTooCostly',
  'OutsideGuardrail',
  'Unplaceable',
  'RepositoryNotConfigured',
  'RepositoryNotFound',
  'ForgeRejected',
  'ForeignCommit',
  'MergeQueue',
  'NotMergeable',
] as const satisfies readonly Reason[];

export type BlockedReason = (typeof blockedReasons)[number];

export const NO_ATTEMPT: Attempt = { kind: 'none' };

export const IDLE: Idle = { kind: 'Idle', demand: null, yieldedSince: null };

export function emptyMemory(): ResizeMemory<Idle> {
  return {
    version: 3,
    state: IDLE,
    attempt: NO_ATTEMPT,
    quotaUid: null,
    mode: null,
    finished: null,
    lastRecommendation: null,
    rejections: [],
    lastChange: null,
    lastWithdrawal: null,
    cooldownSkippedAt: null,
    emitted: [],
    notified: [],
  };
}

/**
 * The memory that the run before carried; an empty one without it. Fields are added over time: a missing one gets its
 * initial value.
 *
 * @throws Error for a version that this code does not know, which happens when a deployment is rolled back.
 */
export function upgradeMemory(carried: ResizeMemory | undefined): ResizeMemory {
  if (carried === undefined) return emptyMemory();
  requireVersion('the carried memory', carried, 3);
  return { ...emptyMemory(), ...carried };
}

/** The initial state of a decision that was just locked or found in the Lease. */
export function stateOf(decision: LockedDecision): Locked;
export function stateOf(decision: Decision): Unmerged | Merged;
export function stateOf(decision: Decision): Unmerged | Merged {
  if (decision.merge !== null) return { kind: 'Merged', decision, overdue: null };
  const review: Review = { approval: null, rejection: null, awaiting: null, demandGoneSince: null, closing: null };
  return decision.pullRequest === null
    ? { kind: 'Locked', decision, ...review }
    : { kind: 'Open', decision, ...review };
}

/** The current decision, or null. */
export function decisionOf({ state }: Pick<ResizeMemory, 'state'>): Decision | null {
  return state.kind === 'Idle' ? null : state.decision;
}

/** The approval of the current decision; it ends with the merge. */
export function approvalOf({ state }: Pick<ResizeMemory, 'state'>): Approval | null {
  return isUnmerged(state) ? state.approval : null;
}

export function isUnmerged(state: ResizeState): state is Unmerged {
  return state.kind === 'Locked' || state.kind === 'Open';
}

/** The memory with another state; everything else stays the same. */
export function inState<State extends ResizeState>(memory: ResizeMemory, state: State): ResizeMemory<State> {
  return { ...memory, state };
}

/** The state with a changed decision: other values or another approval requirement. */
export function withDecision<State extends Unmerged>(state: State, decision: State['decision']): State {
  return { ...state, decision };
}

/** The state with another approval, or with none; its decision says the same. */
export function withApproval<State extends Unmerged>(state: State, approval: Approval | null): State {
  return { ...state, approval, decision: { ...state.decision, ...approvedAs(approval) } };
}

/**
 * The memory, checked to be in one of these states. Neither a command nor an observation changes the state during an
 * act, so the outcome of an act finds the state in which it was decided.
 *
 * @throws Error when the memory is in another state, which is a bug.
 */
export function requireState<Kind extends ResizeState['kind']>(
  memory: ResizeMemory,
  ...kinds: readonly Kind[]
): ResizeMemory<Extract<ResizeState, { kind: Kind }>> {
  const { state } = memory;
  const isOneOf = (state: ResizeState): state is Extract<ResizeState, { kind: Kind }> =>
    kinds.some((kind) => kind === state.kind);
  if (isOneOf(state)) return inState(memory, state);
  throw new Error(`the episode is ${state.kind}, and this is an outcome for ${kinds.join(' or ')}`);
}
