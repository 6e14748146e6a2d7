import type { EpochMs } from '../kernel/time.ts';

/** The phase of a usage episode; the value of the search attribute `HeadroomPhase`. */
export type UsagePhase = 'Counting' | 'Blocked' | 'Late' | 'Wrong' | 'Paused' | 'Ended';

/** The reason of a verdict: one word that is the same in details, Events, logs and tests. */
export type UsageReason =
  | 'UsageTrue'
  | 'QuotaGone'
  | 'Unmeasured'
  | 'StatusLate'
  | 'UsageWrong'
  | 'Paused'
  | 'GloballyPaused'
  | 'WriteFailed';

/** What was reported as wrong on a quota. */
export interface Reported {
  readonly quotaUid: string;
  /** The resources that are wrong, sorted. */
  readonly resources: readonly string[];
  /** The key of the Event. */
  readonly key: string;
}

interface StatusFields {
  readonly phase: UsagePhase;
  readonly reason: UsageReason;
  /** One sentence. */
  readonly detail: string;
}

export type UsageVerdict = StatusFields &
  (
    | {
        readonly kind: 'end';
        /** Set when a reported status is right again; the message of the Event about that. */
        readonly event?: string;
      }
    /** Nothing to do until the observed state changes, a reconcile request arrives, or the moment is reached. */
    | { readonly kind: 'await'; readonly until?: EpochMs }
    /** Report it by an Event on the quota, then wait until it changes. */
    | { readonly kind: 'report'; readonly reported: Reported; readonly message: string }
  );
