import { CancellationScope, log } from '@temporalio/workflow';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import type { PullRequestObservation } from '../../domain/quota-resize/model/observation.ts';
import { isCancelled } from '../kernel/failure.ts';
import { observing, watching } from './activities.ts';

/** A pull request as it was read. */
interface LastObserved {
  /** The id of its decision. */
  readonly decision: string;
  readonly seen: PullRequestObservation;
  readonly quietSince: EpochMs;
  /** Whether this very pass read it. */
  readonly isFresh: boolean;
}

/** How long a watch that failed rests, so that one that always fails does not turn the wait into a loop. */
const FAILED_REST_MS = 60_000;

/**
 * Reads a decision's pull request, asked again only when something may have changed it, and watches it while the episode
 * waits: the watch outlives the passes over the cluster, which cost the forge nothing then.
 */
export class PullRequestReader {
  readonly #target: QuotaTarget;
  /** Called when the forge says something else than what is known. */
  readonly #onChange: () => void;
  #lastObserved: LastObserved | null = null;
  /** What was read before that, for the distance at which the forge is asked. */
  #before: LastObserved | null = null;
  #watch: CancellationScope | null = null;
  /** How often what is known was given up. */
  #forgotten = 0;
  #failedUntil: EpochMs | null = null;

  constructor(target: QuotaTarget, onChange: () => void) {
    this.#target = target;
    this.#onChange = onChange;
  }

  /** Until when a watch that failed rests; null while none has. */
  get failedUntil(): EpochMs | null {
    return this.#failedUntil;
  }

  /** Whether what is known was read by an earlier pass: nothing is done to a pull request on that. */
  get wasReadBefore(): boolean {
    return this.#lastObserved !== null && !this.#lastObserved.isFresh;
  }

  async read(decision: Decision): Promise<PullRequestObservation> {
    if (this.#lastObserved !== null && this.#lastObserved.decision === decision.id) {
      this.#lastObserved = { ...this.#lastObserved, isFresh: false };
      return this.#lastObserved.seen;
    }
    const before = this.#before;
    const began = this.#forgotten;
    const summary = `pull request #${decision.pullRequest?.number}`;
    const seen = await observing.observePullRequest.executeWithOptions({ summary }, [
      { target: this.#target, decision },
    ]);
    const isSame = before?.decision === decision.id && JSON.stringify(before.seen) === JSON.stringify(seen);
    const quietSince = isSame ? before.quietSince : Date.now();
    this.#before = { decision: decision.id, seen, quietSince, isFresh: true };
    if (began === this.#forgotten) this.#lastObserved = this.#before;
    return seen;
  }

  /** Ends the watch; the next pass asks the forge, and what is being read now does not count as the latest. */
  forget(): void {
    this.#forgotten += 1;
    this.#watch?.cancel();
    this.#watch = null;
    this.#lastObserved = null;
  }

  /** A watch that failed has rested. */
  forgetFailure(): void {
    if (this.#failedUntil !== null) this.forget();
    this.#failedUntil = null;
  }

  /** Starts to read on, unless that is under way. */
  watch(decision: Decision | null, summary: string): void {
    if (this.#watch !== null || this.#lastObserved === null || decision === null) return;
    const { seen: lastSeen, quietSince } = this.#lastObserved;
    const scope = new CancellationScope({ cancellable: true });
    this.#watch = scope;
    const changed = (): void => {
      if (this.#watch !== scope) return;
      this.forget();
      this.#onChange();
    };
    const input = { target: this.#target, decision, lastSeen, quietSince };
    void scope
      .run(async () => await watching.awaitPullRequestChange.executeWithOptions({ summary }, [input]))
      .then(changed, (error: unknown) => {
        if (isCancelled(error) || this.#watch !== scope) return;
        log.warn('the watch of the pull request failed, looking again later', { error });
        this.#watch = null;
        this.#failedUntil = Date.now() + FAILED_REST_MS;
      });
  }
}
