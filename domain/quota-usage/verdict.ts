import type { EpochMs } from '../kernel/time.ts';
import type { DesiredStatus } from './status.ts';

/** Where a usage episode stands; the value of the search attribute `HeadroomPhase`. */
export type UsagePhase = 'Counting' | 'Blocked' | 'Late' | 'Wrong' | 'Paused' | 'Ended';

/** Why a verdict is what it is: one word that is the same in details, Events, logs and tests. */
export type UsageReason =
  | 'UsageTrue'
  | 'UsageChanged'
  | 'SpecChanged'
  | 'QuotaGone'
  | 'Unmeasured'
  | 'StatusLate'
  | 'UsageWrong'
  | 'Paused'
  | 'GloballyPaused'
  | 'WriteFailed';

/** Audit: what was told on a quota as wrong. */
export interface Reported {
  readonly quotaUid: string;
  /** The resources that are wrong, sorted. */
  readonly resources: readonly string[];
  /** Of the Event. */
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
        /** Audit: what was reported as wrong is true again, which is told on the quota. */
        readonly event?: string;
      }
    | { readonly kind: 'write'; readonly status: DesiredStatus }
    /** Nothing to do until what was seen changes, or a reconcile request, or the moment. */
    | { readonly kind: 'await'; readonly until?: EpochMs }
    /** Audit: tell it on the quota, then wait until it changes. */
    | { readonly kind: 'report'; readonly reported: Reported; readonly message: string }
  );
