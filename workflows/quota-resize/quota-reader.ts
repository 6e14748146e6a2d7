import { patched } from '@temporalio/workflow';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Observed, Observing } from '../../activities/quota-resize/interface.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { withCounts } from '../../domain/quota-resize/demand/counted-usage.ts';
import type { MergedDecision } from '../../domain/quota-resize/model/decision.ts';
import type { QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import type { PauseControl } from '../kernel/pause.ts';
import type { ReconcileRequests } from '../kernel/reconcile-requests.ts';
import { ensuring, observing } from './activities.ts';
import { countNamespace } from './count-namespace.ts';

/**
 * How old an observation may be that is acted on, in milliseconds. Each write compares Git, the pauses and the policy once more, and the
 * pass after it observes again.
 */
export const JUST_SEEN_MS = 5_000;

/**
 * Whether steps of this episode observe, and do more than one thing. Marked in the history before the first of them: a worker of an earlier
 * version must not go on with it.
 */
export function stepsObserve(): boolean {
  return patched('observing-steps');
}

/** Whether what was read is kept, and waited for, where an earlier version read once more. */
export function readsLess(): boolean {
  return stepsObserve() || patched('fewer-reads');
}

/** How the activities of an observation are to wait before. */
export interface ObservationWait {
  readonly afterMs?: number;
}

/** What a step has brought. */
interface Brought {
  readonly observation: QuotaObservation;
  readonly readAfter: EpochMs;
}

/** Reads the quota: by an activity of its own, or as a part of the step that came before. Nothing is written. */
export class QuotaReader {
  readonly #target: QuotaTarget;
  readonly #pauses: PauseControl;
  readonly #requests: ReconcileRequests;
  /** Whether the cluster's usage mode asks for counted numbers; false until the first observation. */
  #isCounting = false;
  #askedAt: EpochMs = 0;
  #brought: Brought | null = null;
  /** The last observation: a moment before it was read, and when it was there. */
  #last: { readonly readAfter: EpochMs; readonly at: EpochMs } = { readAfter: 0, at: 0 };

  constructor(
    target: QuotaTarget,
    { pauses, requests }: { readonly pauses: PauseControl; readonly requests: ReconcileRequests },
  ) {
    this.#target = target;
    this.#pauses = pauses;
    this.#requests = requests;
    // It may be about a change that was not seen.
    requests.onRequest(() => this.forget());
  }

  /** When a step was last asked to observe. */
  get askedAt(): EpochMs {
    return this.#askedAt;
  }

  /** A moment before the last observation was read, by the workflow's time. */
  get readAfter(): EpochMs {
    return this.#last.readAfter;
  }

  /** Whether steps are asked to observe. */
  get isAsking(): boolean {
    return stepsObserve() && !this.#isCounting;
  }

  /**
   * What the last step before a pass is asked for. Usage is counted before the demand is read, which such a step cannot do, so it is
   * asked for nothing where usage is counted.
   */
  asks(): Observing {
    if (!this.isAsking) return {};
    this.#askedAt = Date.now();
    return { observes: true };
  }

  /**
   * Takes over what a step has seen: the next observation, unless `forget` is called before.
   *
   * @param askedAt when the step was asked to, where it does not say itself what it was read after.
   * @param requestedAt when the last request came before it.
   * @returns whether it was taken: it is the newest, and nothing was requested after that moment.
   */
  found(seen: Observed | undefined, askedAt = this.#askedAt, requestedAt = this.#requests.lastAt): boolean {
    const observation = seen?.observation;
    const readAfter = readAfterOf(seen, askedAt);
    const isNewest = this.#last.at <= readAfter && requestedAt <= readAfter;
    this.#brought = observation === undefined || !isNewest ? null : { observation, readAfter };
    return this.#brought !== null;
  }

  /** What was seen may have changed. */
  forget(): void {
    this.#brought = null;
  }

  /** What a step has seen; null where an activity has to be asked. */
  brought(): QuotaObservation | null {
    const brought = this.#brought;
    this.#brought = null;
    const { inForce, isUnkept } = this.#pauses;
    if (brought === null || inForce !== null || isUnkept) return null;
    if (Date.now() - brought.readAfter >= JUST_SEEN_MS) return null;
    const seen = this.#taken(brought.observation, brought.readAfter);
    return this.#isCounting ? null : seen;
  }

  /**
   * Reads the quota of a merged decision, and has a sync recorded.
   *
   * @returns also a moment after it was recorded: whoever was denied before the sync is not counted again. Null where usage is counted, or nothing may be written: then nobody was asked.
   */
  async readMerged(
    decision: MergedDecision,
  ): Promise<{ readonly observation: QuotaObservation | null; readonly recordedAt: EpochMs | null } | null> {
    const { inForce, isUnkept } = this.#pauses;
    if (this.#isCounting || inForce !== null || isUnkept || !stepsObserve()) return null;
    // Those are decided about.
    if ((decision.batchedQuotas ?? []).length > 0) return null;
    const at = Date.now();
    const summary = targetName(this.#target);
    const outcome = await ensuring.ensureSyncRecorded.executeWithOptions({ summary }, [
      { target: this.#target, decision, at },
    ]);
    const seen = outcome.observation === undefined ? null : this.#taken(outcome.observation, readAfterOf(outcome, at));
    const { recordedAt } = outcome;
    // Nobody knows how long the step waited for a worker: then the sync may be as late as its answer.
    const isLate = recordedAt !== null && Date.now() - recordedAt >= JUST_SEEN_MS;
    return { observation: this.#isCounting ? null : seen, recordedAt: isLate ? Date.now() : recordedAt };
  }

  /** Reads the quota. Where the usage mode asks for it, the counts of the starters replace `status.used`. */
  async read(wait: ObservationWait): Promise<QuotaObservation> {
    const target = this.#target;
    // Usage is counted before the demand is read: an object that is created between the two is in neither number, so
    // the resulting requirement may be too small but never too large.
    const counts = this.#isCounting ? await countNamespace(target, wait) : null;
    const askedAt = Date.now();
    const input = { target, ...(counts === null ? wait : {}) };
    const read = await observing.observeQuota.executeWithOptions({ summary: targetName(target) }, [input]);
    const seen = this.#taken(read, askedAt);
    if (!this.#isCounting) return seen;
    return counts === null ? await this.read({}) : withCounts(seen, counts);
  }

  #taken(read: QuotaObservation, readAfter: EpochMs): QuotaObservation {
    this.#last = { readAfter, at: Date.now() };
    this.#pauses.found(read.pause, readAfter);
    this.#isCounting = read.usage === 'audit' || read.usage === 'own';
    // The pause that holds may be newer than what the worker had read of it.
    return { ...read, pause: this.#pauses.inForce };
  }
}

/** Nothing was read later than now. */
function readAfterOf(seen: Observed | undefined, askedAt: EpochMs): EpochMs {
  return Math.max(askedAt, Math.min(seen?.readAfter ?? 0, Date.now()));
}
