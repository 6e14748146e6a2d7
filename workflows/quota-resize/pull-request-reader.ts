import { ActivityFailure, RetryState } from '@temporalio/common';
import { CancellationScope, log } from '@temporalio/workflow';
import type { Observed, Observing, PullRequestChange } from '../../activities/quota-resize/interface.ts';
import { type EpochMs, MINUTE_MS } from '../../domain/kernel/time.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import type { PullRequestObservation } from '../../domain/quota-resize/model/observation.ts';
import { isCancelled } from '../kernel/failure.ts';
import { observing, watching } from './activities.ts';

/** The last read of a pull request. */
interface LastObserved {
  /** The id of the decision that the pull request belongs to. */
  readonly decision: string;
  readonly seen: PullRequestObservation;
  readonly quietSince: EpochMs;
  readonly at: EpochMs;
  /** Whether reviews were read as well, because the decision needed an approval. */
  readonly hasReviews: boolean;
  /** Whether the current pass made this read. */
  readonly isFresh: boolean;
}

/** A watch for so many milliseconds, or longer, ends by itself. A shorter one would read the forge once more where a timer does not. */
const LONG_WATCH_MS = 5 * MINUTE_MS;

/** So much later than it should, in milliseconds, a watch ends that cannot ask the forge: it reads once more at its end. */
const LATE_MS = MINUTE_MS;

/** Backoff in milliseconds after a failed watch, so that a watch that always fails does not become a busy loop. */
const FAILED_REST_MS = 60_000;

/**
 * Reads a decision's pull request, only when something may have changed it, and watches it while the episode waits. The
 * watch continues across passes that were caused by the cluster, so those passes make no requests to the forge.
 */
export class PullRequestReader {
  readonly #target: QuotaTarget;
  /** Is told what the watch saw of it; called when the watch finds a change. */
  readonly #onChange: (seen: Observed) => void;
  readonly #asks: () => Observing;
  #lastObserved: LastObserved | null = null;
  /** The read before the last: tells since when the pull request is unchanged, which sets the polling interval. */
  #before: LastObserved | null = null;
  #watch: CancellationScope | null = null;
  /** When the watch ends by itself; null where it does not. */
  #watchEndsAt: EpochMs | null = null;
  /** What was seen besides, such as by the watch that ended with a change: the next read, unless something happens before. */
  #found: Pick<LastObserved, 'decision' | 'seen' | 'hasReviews'> | null = null;
  /** How often `forget` was called; detects a call during a read. */
  #forgotten = 0;
  #failedUntil: EpochMs | null = null;
  /** Whether the last watch could not ask the forge in its time, so that nothing is known of the pull request. */
  #isUnanswered = false;

  /** @param asks what the watch is asked for besides. */
  constructor(target: QuotaTarget, asks: () => Observing, onChange: (seen: Observed) => void) {
    this.#target = target;
    this.#asks = asks;
    this.#onChange = onChange;
  }

  /** End of the backoff after a failed watch; null when no watch failed. */
  get failedUntil(): EpochMs | null {
    return this.#failedUntil;
  }

  /** Changes with each `forget`. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Whether the last read is from an earlier pass; an act on the pull request needs a fresh read. */
  get wasReadBefore(): boolean {
    return this.#lastObserved !== null && !this.#lastObserved.isFresh;
  }

  async read(decision: Decision): Promise<PullRequestObservation> {
    const hasReviews = decision.approvalRequirement !== null;
    // An approval may be needed only since then, by a changed policy: the reviews are then read, and watched.
    if (hasReviews && this.#lastObserved?.hasReviews === false) this.forget();
    if (this.#lastObserved !== null && this.#lastObserved.decision === decision.id) {
      this.#lastObserved = { ...this.#lastObserved, isFresh: false };
      return this.#lastObserved.seen;
    }
    const before = this.#before;
    const began = this.#forgotten;
    const found = this.#found;
    this.#found = null;
    const isFound = found?.decision === decision.id && found.hasReviews === hasReviews;
    const seen = isFound ? found.seen : await this.#observe(decision);
    const isSame = before?.decision === decision.id && JSON.stringify(before.seen) === JSON.stringify(seen);
    const quietSince = isSame ? before.quietSince : Date.now();
    this.#before = { decision: decision.id, seen, quietSince, at: Date.now(), hasReviews, isFresh: true };
    if (began === this.#forgotten) this.#lastObserved = this.#before;
    return seen;
  }

  /** Takes over what somebody else has read: the next read, unless something happens before. */
  found({ id, approvalRequirement }: Decision, seen: PullRequestObservation): void {
    this.#found = { decision: id, seen, hasReviews: approvalRequirement !== null };
  }

  async #observe(decision: Decision): Promise<PullRequestObservation> {
    const summary = `pull request #${decision.pullRequest?.number}`;
    return await observing.observePullRequest.executeWithOptions({ summary }, [{ target: this.#target, decision }]);
  }

  /**
   * Ends the watch and discards the last read, including one that is in progress: the next pass reads the pull request
   * again.
   */
  forget(): void {
    this.#forgotten += 1;
    this.#watch?.cancel();
    this.#watch = null;
    this.#found = null;
    this.#lastObserved = null;
  }

  /** The backoff after a failed watch is over; the pull request is read again. */
  forgetFailure(): void {
    // A forge that does not answer is no reason to wait for it: what is known of the cluster is decided about.
    if (this.#failedUntil !== null && !this.#isUnanswered) this.forget();
    this.#failedUntil = null;
  }

  /** Whether a watch runs that ends by itself at this moment, or before. */
  endsBy(until: EpochMs | undefined): boolean {
    return this.#watch !== null && this.#watchEndsAt !== null && until !== undefined && this.#watchEndsAt <= until;
  }

  /**
   * Starts the watch, unless one is running.
   *
   * @param until when it is to end although nothing has changed.
   */
  watch(decision: Decision | null, summary: string, until?: EpochMs): void {
    if (this.#watch !== null || this.#lastObserved === null || decision === null) return;
    const { seen: lastSeen, quietSince, at: seenAt, hasReviews } = this.#lastObserved;
    const scope = new CancellationScope({ cancellable: true });
    this.#watch = scope;
    const asks = this.#asks();
    const forMs = (until ?? 0) - Date.now();
    const isLimited = asks.observes === true && forMs >= LONG_WATCH_MS;
    this.#watchEndsAt = isLimited ? Date.now() + forMs : null;
    const changed = (outcome: PullRequestObservation | PullRequestChange | null): void => {
      if (this.#watch !== scope) return;
      // Earlier releases returned nothing, or the pull request alone.
      const {
        pullRequest: seen,
        isSame,
        ...observed
      }: Partial<PullRequestChange> = outcome && 'pullRequest' in outcome ? outcome : { pullRequest: outcome };
      if (isSame === true) {
        this.#watch = null;
        if (this.#lastObserved !== null) this.#lastObserved = { ...this.#lastObserved, at: Date.now() };
      } else this.forget();
      if (seen) this.#found = { decision: decision.id, seen, hasReviews };
      this.#onChange(observed);
    };
    const limit = isLimited ? { forMs } : {};
    const options = { summary, ...(isLimited ? { scheduleToCloseTimeout: forMs + LATE_MS } : {}) };
    const input = { target: this.#target, decision, lastSeen, quietSince, seenAt, ...limit, ...asks };
    void scope
      .run(async () => await watching.awaitPullRequestChange.executeWithOptions(options, [input]))
      .then(changed, (error: unknown) => {
        if (!isCancelled(error) && this.#watch === scope) this.#failed(error);
      });
  }

  #failed(error: unknown): void {
    log.warn('the watch of the pull request failed and is repeated later', { error });
    this.#watch = null;
    const endsAt = this.#watchEndsAt;
    this.#isUnanswered = endsAt !== null && error instanceof ActivityFailure && error.retryState === RetryState.TIMEOUT;
    // Temporal's server gives up at once where the next attempt would be too late.
    this.#failedUntil = this.#isUnanswered ? Math.max(Date.now(), endsAt ?? 0) : Date.now() + FAILED_REST_MS;
  }
}
