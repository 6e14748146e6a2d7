import { CancellationScope, log, patched } from '@temporalio/workflow';
import type { ResizeEvent } from '../../activities/quota-resize/interface.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { usageFacts, withCounts } from '../../domain/quota-resize/demand/counted-usage.ts';
import { eventTypes } from '../../domain/quota-resize/model/event-reasons.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { awaitedLimits } from '../../domain/quota-resize/model/decision.ts';
import { decisionOf, type ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { RunWarnings } from '../../domain/quota-resize/model/run-warnings.ts';
import { policyInForce } from '../../domain/quota-resize/policy/in-force.ts';
import type { Act, Verdict, Wait } from '../../domain/quota-resize/model/verdict.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { failedActivity, isCancelled } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { act, isForbiddenNow, rejectedMessage } from './act.ts';
import { ensuring, observing, watching } from './activities.ts';
import { countNamespace } from './count-namespace.ts';
import type { ResizeStatus } from './messages.ts';
import { sourceInput } from './propose.ts';
import { PullRequestReader } from './pull-request-reader.ts';
import { nextShown, type Shown } from './shown.ts';
import { SourceReader } from './source-reader.ts';

/** State that one run passes to the next through continue-as-new. */
export interface EpisodeMemory {
  readonly resize: ResizeMemory;
  readonly shown: Shown;
}

export type ResizeRunStatus = Pick<ResizeStatus, 'phase' | 'reason' | 'detail'> & {
  /** The latest moment of the next reconcile pass. */
  readonly until?: EpochMs | undefined;
  /**
   * Sentences about differences between the quota's status and the counted usage, and about Events that are not
   * believed.
   */
  readonly usage: readonly string[];
};
/** How the activities of an observation are to wait before. */
interface ObservationWait {
  readonly afterMs?: number;
}
export type ResizeRun = ControllerRun<ResizeRunStatus, EpisodeMemory>;

/** Backoff in milliseconds after a failed read, so that a read that always fails does not become a busy loop. */
const FAILED_REST_MS = 60_000;

/**
 * How old an observation may be by which a lock was decided, in milliseconds, so that the pull request is opened by it too. The
 * write compares Git, the pauses and the policy once more, and the pass after it observes again.
 */
const JUST_SEEN_MS = 5_000;

/**
 * A shorter wait, in milliseconds, is a part of the observation that comes after it: a timer of Temporal's server is up to a
 * second late.
 */
const SHORT_WAIT_MS = 1_000;

/** What one run of an episode knows, and the steps that its workflow takes. */
export class ResizeEpisode {
  readonly #target: QuotaTarget;
  readonly #run: ResizeRun;
  readonly pullRequest: PullRequestReader;
  readonly #sources = new SourceReader();
  /** By what the Lease was acquired in the pass before; null where anything may have changed since. */
  #lockedBy: Seen | null = null;
  #seenAt: EpochMs = 0;
  /** Not before this moment it observes again. */
  #observesAt: EpochMs = 0;
  /** Whether the cluster's usage mode asks for counted numbers; false until the first observation. */
  #isCounting = false;
  #policy: ResizeStatus['policy'] = null;
  readonly #policyWarnings = new RunWarnings();
  readonly #doubts = new RunWarnings();

  constructor(target: QuotaTarget, run: ResizeRun) {
    this.#target = target;
    this.#run = run;
    this.pullRequest = new PullRequestReader(target, () => run.requests.add('immediate'));
  }

  /** What the policy allowed at the last observation; null before the first. */
  get policy(): ResizeStatus['policy'] {
    return this.#policy;
  }

  get #memory(): ResizeMemory {
    return this.#run.memory.resize;
  }

  remember(resize: ResizeMemory): void {
    this.#run.remember({ resize, shown: nextShown(this.#run.memory.shown, resize) });
  }

  publish(verdict: Verdict, seen: Seen): void {
    const { phase, reason, detail } = verdict;
    const until = verdict.kind === 'hold' ? verdict.wait.until : undefined;
    this.#policy = policyInForce(seen.observation.policy);
    const { observation } = seen;
    const doubted = (observation.doubted ?? []).map(({ message }) => message);
    const usage = [...usageFacts(observation, this.#memory.lastChange), ...doubted];
    this.#run.publish({ phase, reason, detail, until, usage });
  }

  /**
   * Null when there is nothing to decide on, because the observation was interrupted or failed; the backoff is over by
   * then.
   */
  async observe(): Promise<Seen | null> {
    const lockedBy = this.#lockedBy;
    this.#lockedBy = null;
    const isNew = Date.now() - this.#seenAt < JUST_SEEN_MS;
    const { pauses } = this.#run;
    if (lockedBy !== null && isNew && pauses.inForce === null && !pauses.isUnkept) return lockedBy;
    try {
      await this.#lookedUp();
      this.#seenAt = Date.now();
      const afterMs = this.#observesAt - this.#seenAt;
      const wait = afterMs > 0 ? { afterMs } : {};
      const seen = await this.#interruptible(async () => await this.#observe(wait));
      // An observation during which a pause or resume arrived is discarded: after a resume, people expect a decision on
      // the current state.
      return this.#run.pauses.isUnkept ? null : seen;
    } catch (error) {
      const message = rejectedMessage(error);
      if (message === null) throw error;
      log.warn('an observation was rejected, observing again later', { message });
      await this.#restAfter({ phase: 'Blocked', reason: 'ForgeRejected', detail: message });
      return null;
    }
  }

  async act(verdict: Act, seen: Seen): Promise<void> {
    this.pullRequest.forget();
    const { forgotten } = this.pullRequest;
    const applyOutcome = await this.#interruptible(
      async () => await act(this.#target, verdict, seen, { sources: this.#sources, pullRequest: this.pullRequest }),
    );
    if (applyOutcome === null) return;
    this.remember(applyOutcome(this.#memory));
    if (verdict.kind === 'notify') this.#keepRead(seen, forgotten);
    const isLocked = verdict.kind === 'propose' && this.#memory.state.kind === 'Locked';
    // Before a pull request that nobody approved, the totals of the platform are looked at with what others have locked since.
    const isFree = seen.observation.policy.approval !== 'before-pull-request';
    if (isLocked && isFree && !this.#run.requests.isPending) this.#lockedBy = seen;
  }

  /** That people were told changes nothing of a pull request: the read before is as good, unless something happened meanwhile. */
  #keepRead({ pullRequest }: Seen, forgotten: number): void {
    const decision = decisionOf(this.#memory);
    const isKept = pullRequest !== null && decision?.pullRequest?.number === pullRequest.number;
    if (!isKept || forgotten !== this.pullRequest.forgotten || !patched('fewer-reads')) return;
    this.pullRequest.found(decision, pullRequest);
  }

  /** Ends what was begun ahead. */
  close(): void {
    this.pullRequest.forget();
    this.#sources.forget();
  }

  /** Waits for what the verdict names, or for a command, a change, or new pressure that may end the wait. */
  async rest({ placing, ...wait }: Wait, seen: Seen | null): Promise<void> {
    const isShort = this.#isShort(wait);
    if (placing === undefined || seen === null) this.#sources.forget();
    else this.#sources.lookUp(sourceInput(this.#target, placing, seen), targetName(this.#target), isShort);
    if (isShort) return;
    const summary = `${this.#run.status.phase} (${this.#run.status.reason})`;
    if (wait.watch === 'pullRequest') this.pullRequest.watch(decisionOf(this.#memory), summary);
    const watch = this.#watch(wait, summary);
    const failedUntil = (): EpochMs | null => watch.failedUntil() ?? this.pullRequest.failedUntil;
    try {
      for (;;) {
        const failed = failedUntil();
        const until = Math.min(wait.until ?? Number.POSITIVE_INFINITY, failed ?? Number.POSITIVE_INFINITY);
        await this.#run.wait({
          until: Number.isFinite(until) ? until : null,
          ...(wait.quietUntil === undefined ? {} : { deferUntil: wait.quietUntil }),
          summary,
          isOver: () => watch.isOver() || failedUntil() !== failed,
        });
        const isOver = watch.isOver() || this.#run.requests.isImmediate || this.#run.isHistoryLong;
        if (isOver || failedUntil() === failed) return;
      }
    } finally {
      await watch.stop();
      this.pullRequest.forgetFailure();
    }
  }

  /** Whether the next observation waits instead. */
  #isShort({ until, watch }: Wait): boolean {
    if (until === undefined || watch !== undefined || until - Date.now() >= SHORT_WAIT_MS) return false;
    if (!this.#run.requests.isImmediate) this.#observesAt = until;
    return true;
  }

  /** A place that is looked up during a short wait is waited for as well: what is observed then can be acted on at once. */
  async #lookedUp(): Promise<void> {
    if (this.#observesAt <= Date.now() || !this.#sources.isLooking || !patched('fewer-reads')) return;
    await this.#run.waitFor(async () => await this.#sources.looked(), 'immediate');
  }

  async #restAfter(status: Pick<ResizeRunStatus, 'phase' | 'reason' | 'detail'>): Promise<void> {
    const until = Date.now() + FAILED_REST_MS;
    this.#run.publish({ ...status, until, usage: [] });
    await this.rest({ until, quietUntil: until }, null);
  }

  async #observe(wait: ObservationWait): Promise<Seen> {
    const observation = await this.#observeQuota(wait);
    // The Lease may hold a decision that this run does not know; its pull request is read too.
    const decision = decisionOf(this.#memory) ?? observation.lease.decision;
    const hasOpenPullRequest = decision !== null && decision.pullRequest !== null && decision.merge === null;
    if (!hasOpenPullRequest) this.pullRequest.forget();
    const pullRequest = hasOpenPullRequest ? await this.pullRequest.read(decision) : null;
    const { quota, pause } = observation;
    if (quota !== null && pause === null) {
      await this.#warnOfPolicy(observation, quota.uid);
      await this.#warnOfDoubtedDenial(observation, quota.uid);
    }
    return { observation, pullRequest };
  }

  async #warnOfPolicy({ warnings }: QuotaObservation, quotaUid: string): Promise<void> {
    for (const { layer, key, value, message } of warnings) {
      const eventKey = `${layer}/${key}=${value}`;
      const now = Date.now();
      if (!this.#policyWarnings.isDue(eventKey, now)) continue;
      // The rest is said when there is room again, if it is still wrong.
      if (this.#policyWarnings.isSpent(now) && patched('ten-warnings-an-hour')) return;
      const event = { target: this.#target, quotaUid, type: 'Warning', reason: 'PolicyInvalid', message } as const;
      await this.#warn(this.#policyWarnings, { ...event, key: eventKey }, now);
    }
  }

  async #warn(warnings: RunWarnings, event: ResizeEvent, now: EpochMs): Promise<void> {
    const summary = brief(event.message);
    warnings.add(event.key, await ensuring.ensureQuotaEvent.executeWithOptions({ summary }, [event]), now);
  }

  /** One Event of an impossible date is enough: the details of the episode name more. */
  async #warnOfDoubtedDenial({ doubted = [] }: QuotaObservation, quotaUid: string): Promise<void> {
    const first = doubted.find(({ reason }) => reason === 'InFuture');
    const key = 'denial doubted';
    const now = Date.now();
    if (first === undefined || !this.#doubts.isDue(key, now)) return;
    const { message } = first;
    const event = { target: this.#target, quotaUid, type: eventTypes.DenialDoubted, reason: 'DenialDoubted' } as const;
    await this.#warn(this.#doubts, { ...event, message, key }, now);
  }

  /** Reads the quota. Where the usage mode asks for it, the counts of the starters replace `status.used`. */
  async #observeQuota(wait: ObservationWait): Promise<QuotaObservation> {
    const target = this.#target;
    // Usage is counted before the demand is read: an object that is created between the two is in neither number, so
    // the resulting requirement may be too small but never too large.
    const counts = this.#isCounting ? await countNamespace(target, wait) : null;
    const askedAt = Date.now();
    const input = { target, ...(counts === null ? wait : {}) };
    const read = await observing.observeQuota.executeWithOptions({ summary: targetName(target) }, [input]);
    this.#run.pauses.found(read.pause, askedAt);
    // The pause that holds may be newer than what the worker had read of it.
    const seen = { ...read, pause: this.#run.pauses.inForce };
    this.#isCounting = seen.usage === 'audit' || seen.usage === 'own';
    if (!this.#isCounting) return seen;
    return counts === null ? await this.#observeQuota({}) : withCounts(seen, counts);
  }

  /**
   * Runs an observation or an act that a command can interrupt. Null when it was interrupted, or stopped by a pause or
   * a changed policy: the next pass observes what holds now.
   */
  async #interruptible<T>(run: () => Promise<T>): Promise<T | null> {
    try {
      return await this.#run.interruptible(run);
    } catch (error) {
      if (!isForbiddenNow(error)) throw error;
      const failed = failedActivity(error);
      if (failed !== null) this.#run.pauses.foundIn(failed);
      return null;
    }
  }

  /** Starts the activity that completes when the awaited change has happened. */
  #watch({ watch: what, syncOf }: Wait, summary: string) {
    let isOver = false;
    let failedUntil: EpochMs | null = null;
    const scope = new CancellationScope();
    const watched =
      what === undefined || what === 'pullRequest'
        ? null
        : scope
            .run(async () => await this.#awaitChange(what, summary, syncOf))
            .then(
              () => {
                isOver = true;
              },
              (error: unknown) => {
                if (isCancelled(error)) return;
                log.warn('a watch failed and is repeated later', { error });
                failedUntil = Date.now() + FAILED_REST_MS;
              },
            );
    return {
      isOver: () => isOver,
      failedUntil: () => failedUntil,
      stop: async () => {
        scope.cancel();
        await watched;
      },
    };
  }

  async #awaitChange(what: 'resume' | 'sync', summary: string, syncOf: Wait['syncOf']): Promise<void> {
    if (what === 'resume') return await this.#run.pauses.awaitResume();
    const { state } = this.#memory;
    if (state.kind !== 'Merged') return;
    const { quotaUid } = state.decision;
    const target = this.#target;
    const awaited =
      syncOf === undefined
        ? { target, quotaUid, limits: awaitedLimits(state.decision) }
        : { target: { ...target, quota: syncOf.quota }, quotaUid: syncOf.quotaUid, limits: syncOf.limits };
    await watching.awaitSync.executeWithOptions({ summary }, [awaited]);
  }
}
