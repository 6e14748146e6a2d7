import type { EpochMs } from '../../kernel/time.ts';

/** Values of the search attribute `HeadroomPhase`. */
export type MemcachedPhase = 'Starting' | 'Reconciling' | 'RollingOut' | 'Blocked' | 'Paused' | 'Ended';

export type MemcachedReason =
  | 'FirstObservation'
  | 'NotAsSpecified'
  | 'RolloutInProgress'
  | 'SteppingDown'
  | 'AwaitingDeletion'
  | 'Invalid'
  | 'Conflict'
  | 'SecretNotFound'
  | 'SecretIncomplete'
  | 'SetBack'
  | 'ReadFailed'
  | 'WriteFailed'
  | 'Paused'
  | 'GloballyPaused'
  | 'AsSpecified'
  | 'MemcachedGone';

interface Shown {
  readonly phase: MemcachedPhase;
  readonly reason: MemcachedReason;
  /** One sentence. */
  readonly detail: string;
  /** Further sentences. */
  readonly facts: readonly string[];
}

/** What to do next. */
export type MemcachedVerdict = Shown &
  (
    | { readonly kind: 'end' }
    /** Write what is not as specified. */
    | { readonly kind: 'ensure' }
    /** Wait for a reconcile request; null: for nothing else. */
    | { readonly kind: 'wait'; readonly until: EpochMs | null }
  );
