import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Decision, LockedDecision, MergedDecision, OpenDecision, Rejection } from './decision.ts';
import type { Reason } from './verdict.ts';

/** An operator's word, and who gave it. */
export interface OperatorWord {
  readonly by: string;
  readonly at: EpochMs;
  readonly reason: string;
}

/** An approval holds for exactly the limits and the head that it was given for. */
export interface Approval extends OperatorWord {
  readonly limits: ResourceList;
  /** "" when it was given before there was a pull request. */
  readonly headSha: string;
}

/** A demand as it was last computed, and since when it has been the same. */
export interface SteadyDemand {
  readonly digest: string;
  readonly since: EpochMs;
  readonly firstSeen: EpochMs;
}

/** No decision in hand: demand is looked for, or the cooldown runs. */
export interface Idle {
  readonly kind: 'Idle';
  readonly demand: SteadyDemand | null;
  /** Since when another quota of the namespace has the first word. */
  readonly yieldedSince: EpochMs | null;
}

/** What is remembered of a decision until it is merged or given up. */
interface Review {
  readonly approval: Approval | null;
  readonly rejection: OperatorWord | null;
  /** The approval that is waited for, since when, and when people were last reminded of it. */
  readonly awaiting: { readonly key: string; readonly since: EpochMs; readonly remindedAt: EpochMs } | null;
  /** Since when nothing has needed the decision. */
  readonly demandGoneSince: EpochMs | null;
  /**
   * Why Headroom set out to close the pull request: found closed afterwards, it was not a person's rejection. Also
   * where none is known of, because an attempt whose answer was lost may have opened it.
   */
  readonly closing: { readonly reason: Reason; readonly detail: string } | null;
}

/** The lock is held, and nothing is known to be on the forge. */
export interface Locked extends Review {
  readonly kind: 'Locked';
  readonly decision: LockedDecision;
}

/** The decision has a pull request. */
export interface Open extends Review {
  readonly kind: 'Open';
  readonly decision: OpenDecision;
  /** How often the pull request was updated because the demand grew. */
  readonly updates: number;
}

/** The values are in Git, and the cluster has not followed yet. */
export interface Merged {
  readonly kind: 'Merged';
  readonly decision: MergedDecision;
  /**
   * Once people were warned that the sync is overdue; `checkedAt`: when Git was last read again, null for "at once".
   */
  readonly overdue: { readonly warnedAt: EpochMs; readonly checkedAt: EpochMs | null } | null;
}

/** A decision that may still be changed, approved or given up. */
export type Unmerged = Locked | Open;

/** Where an episode stands, with what belongs to that state alone. */
export type ResizeState = Idle | Unmerged | Merged;

/** What became of the last act that left no trace in the state. */
export type Attempt =
  | { readonly kind: 'none' }
  /** It was interrupted, or the forge had moved: it is repeated with growing distance. */
  | { readonly kind: 'tried'; readonly key: string; readonly count: number; readonly at: EpochMs }
  /** It cannot be done until it is tried again, or is about another path or other values, which its key says. */
  | {
      readonly kind: 'blocked';
      readonly key: string;
      readonly reason: BlockedReason;
      readonly message: string;
      readonly at: EpochMs;
    };

/** What an episode remembers between two passes, and carries through continue-as-new. JSON only. */
export interface ResizeMemory<State extends ResizeState = ResizeState> {
  readonly version: 3;
  readonly state: State;
  readonly attempt: Attempt;
  readonly quotaUid: string | null;
  /** The mode in force when the namespace and the quota were last there: their annotations go with them. */
  readonly mode: 'observe' | 'propose' | null;
  /** The decision that this run finished last, so that a Lease that could not be cleaned does not bring it back. */
  readonly finished: string | null;
  readonly lastRecommendation: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  /** What people said no to. */
  readonly rejections: readonly Rejection[];
  /** The last change of ours: a merge, or the cluster having followed it. */
  readonly lastChange: EpochMs | null;
  /** A cooldown that began before this moment is over. */
  readonly cooldownSkippedAt: EpochMs | null;
  /** The Events and comments that were written already, by what they were about. */
  readonly emitted: readonly string[];
}

export const blockedReasons = [
  'LeaseHeld',
  'FileBusy',
  'FileNotFound',
  'FoundTwice',
  'NotYaml',
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
    cooldownSkippedAt: null,
    emitted: [],
  };
}

/** The state of a decision that nothing else is remembered of: just locked, or found in the Lease. */
export function stateOf(decision: LockedDecision): Locked;
export function stateOf(decision: Decision): Unmerged | Merged;
export function stateOf(decision: Decision): Unmerged | Merged {
  if (decision.merge !== null) return { kind: 'Merged', decision, overdue: null };
  const review: Review = { approval: null, rejection: null, awaiting: null, demandGoneSince: null, closing: null };
  return decision.pullRequest === null
    ? { kind: 'Locked', decision, ...review }
    : { kind: 'Open', decision, ...review, updates: 0 };
}

/** The decision in hand, if there is one. */
export function decisionOf({ state }: Pick<ResizeMemory, 'state'>): Decision | null {
  return state.kind === 'Idle' ? null : state.decision;
}

/** The approval of the decision in hand; it is spent with the merge. */
export function approvalOf({ state }: Pick<ResizeMemory, 'state'>): Approval | null {
  return isUnmerged(state) ? state.approval : null;
}

export function isUnmerged(state: ResizeState): state is Unmerged {
  return state.kind === 'Locked' || state.kind === 'Open';
}

/** The memory in another state; what the episode knows stays as it is. */
export function inState<State extends ResizeState>(memory: ResizeMemory, state: State): ResizeMemory<State> {
  return { ...memory, state };
}

/** The state with another text of its decision: other values, another approval requirement. */
export function withDecision<State extends Unmerged>(state: State, decision: State['decision']): State {
  return { ...state, decision };
}

/**
 * The memory, known to be in one of these states. No command and no observation changes the state while an act is under
 * way, so its outcome finds the state that it was decided in.
 *
 * @throws Error when it is in another one, which is a mistake in the code.
 */
export function requireState<Kind extends ResizeState['kind']>(
  memory: ResizeMemory,
  ...kinds: readonly Kind[]
): ResizeMemory<Extract<ResizeState, { kind: Kind }>> {
  const { state } = memory;
  const isOneOf = (one: ResizeState): one is Extract<ResizeState, { kind: Kind }> =>
    kinds.some((kind) => kind === one.kind);
  if (isOneOf(state)) return inState(memory, state);
  throw new Error(`the episode is ${state.kind}, and this is an outcome for ${kinds.join(' or ')}`);
}
