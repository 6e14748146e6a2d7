/** What is known of a policy of the API server that has to refuse what Headroom must not write. Pure. */
import type { MonotonicMs } from './time.ts';

/** What came of a write that a policy has to refuse, tried without effect. */
export type TrialAnswer =
  /** By the policy itself. */
  | { readonly kind: 'refused' }
  /** It would have been written: nobody holds this account. */
  | { readonly kind: 'accepted'; readonly what: string }
  /** Something else refused it, so that the policy was not asked. */
  | { readonly kind: 'untold'; readonly why: string };

/** What has been tried so far. */
export interface TrialRecord {
  readonly answer: TrialAnswer | null;
  /** When the policy was the last to refuse. */
  readonly provedAt: MonotonicMs | null;
}

export const NOTHING_TRIED: TrialRecord = { answer: null, provedAt: null };

/**
 * Milliseconds for which a proof stands where it cannot be repeated. An API server that has just started refuses everything
 * for a moment, until it has read its roles, and whoever rolls out roles does so within minutes.
 */
const PROOF_STANDS_MS = 5 * 60_000;

export function afterTrial(record: TrialRecord, answer: TrialAnswer, now: MonotonicMs): TrialRecord {
  switch (answer.kind) {
    case 'refused':
      return { answer, provedAt: now };
    case 'accepted':
      return { answer, provedAt: null };
    case 'untold':
      return { ...record, answer };
  }
}

/** Why the policy does not count as in force, a clause for people; null where it does. */
export function whyNotInForce({ answer, provedAt }: TrialRecord, policy: string, now: MonotonicMs): string | null {
  switch (answer?.kind) {
    case undefined:
      return `it has not been tried yet whether the ValidatingAdmissionPolicy ${policy} refuses what it has to`;
    case 'refused':
      return null;
    case 'accepted':
      return (
        `the API server takes ${answer.what}, which the ValidatingAdmissionPolicy ${policy} has to refuse: it is not there, ` +
        'has no binding, is for another account or namespace, or does not deny'
      );
    case 'untold':
      return provedAt !== null && now - provedAt < PROOF_STANDS_MS
        ? null
        : `it cannot be told whether the ValidatingAdmissionPolicy ${policy} is in force: ${answer.why}`;
  }
}
