import { CancellationScope, log, patched } from '@temporalio/workflow';
import type { ResizeEvent } from '../../activities/quota-resize/interface.ts';
import { type EpochMs, MINUTE_MS } from '../../domain/kernel/time.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { usageFacts } from '../../domain/quota-resize/demand/counted-usage.ts';
import { eventTypes } from '../../domain/quota-resize/model/event-reasons.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import { syncedStatus } from '../../domain/quota-resize/decide/merged.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { awaitedLimits } from '../../domain/quota-resize/model/decision.ts';
import { decisionOf, requireState, type ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { RunWarnings } from '../../domain/quota-resize/model/run-warnings.ts';
import { policyInForce } from '../../domain/quota-resize/policy/in-force.ts';
import type { Act, Verdict, Wait } from '../../domain/quota-resize/model/verdict.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import type { Urgency } from '../kernel/reconcile-requests.ts';
import { failedActivity, isCancelled } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import type { Acting } from './acting.ts';
import { act, isForbiddenNow, rejectedMessage } from './act.ts';
import { ensuring, watching } from './activities.ts';
import type { ResizeStatus } from './messages.ts';
import { sourceInput } from './propose.ts';
import { PullRequestReader } from './pull-request-reader.ts';
import { nextShown, type Shown } from './shown.ts';
import { JUST_SEEN_MS, type ObservationWait, QuotaReader, readsLess, stepsObserve } from './quota-reader.ts';
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
export type ResizeRun = ControllerRun<ResizeRunStatus, EpisodeMemory>;

/** Backoff in milliseconds after a failed read, so that a read that always fails does not become a busy loop. */
const FAILED_REST_MS = 60_000;

/**
 * A shorter wait, in milliseconds, is a part of the observation that comes after it: a timer of Temporal's server is up to a
 * second late.
 */
const SHORT_WAIT_MS = 1_000;

/** So long may a wait be during which a place is looked up anyway; what happens meanwhile ends it. */
const LOOK_UP_WAIT_MS = 3_000;

/** How long nobody looks for a sync, in milliseconds: then the starter's signal may be lost. */
const MOST_UNWATCHED_MS = 5 * MINUTE_MS;

/** What one run of an episode knows, and the steps that its workflow takes. */
export class ResizeEpisode {
  readonly #target: QuotaTarget;
  readonly #run: ResizeRun;
  readonly pullRequest: PullRequestReader;
  readonly #quota: QuotaReader;
  readonly #sources = new SourceReader();
  /** By what the Lease was acquired in the pass before; null where anything may have changed since. */
  #lockedBy: Seen | null = null;
  /** Not before this moment it observes again. */
  #observesAt: EpochMs = 0;
  /** What ends that wait. */
  #endedBy: Urgency = 'immediate';
  /** Whether a denial ended such a wait since the last act: those that follow it are looked at when the wait is over. */
  #wasCutShort = false;
  #policy: ResizeStatus['policy'] = null;
  readonly #policyWarnings = new RunWarnings();
  readonly #doubts = new RunWarnings();

  constructor(target: QuotaTarget, run: ResizeRun) {
    this.#target = target;
    this.#run = run;
    this.#quota = new QuotaReader(target, run);
    this.pullRequest = new PullRequestReader(
      target,
      () => this.#quota.asks(),
      (seen) => {
        const { lastAt } = run.requests;
        run.requests.add('immediate');
        this.#quota.found(seen, this.#quota.askedAt, lastAt);
      },
    );
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
    const isNew = Date.now() - this.#quota.readAfter < JUST_SEEN_MS;
    const { pauses } = this.#run;
    if (lockedBy !== null && isNew && pauses.inForce === null && !pauses.isUnkept) return lockedBy;
    try {
      await this.#lookedUp();
      const afterMs = this.#observesAt - Date.now();
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
    this.#quota.forget();
    this.#wasCutShort = false;
    const { forgotten } = this.pullRequest;
    const apply = await this.#interruptible(async () => await act(this.#acting(seen), verdict));
    if (apply === null) return this.#quota.forget();
    this.remember(apply(this.#memory));
    if (verdict.kind === 'notify') this.#keepRead(seen, forgotten);
    const isLocked = verdict.kind === 'propose' && this.#memory.state.kind === 'Locked';
    // Before a pull request that nobody approved, the totals of the platform are looked at with what others have locked since.
    const isFree = seen.observation.policy.approval !== 'before-pull-request';
    if (isLocked && isFree && !this.#run.requests.isPending) this.#lockedBy = seen;
  }

  #acting(seen: Seen): Acting {
    return { target: this.#target, seen, quota: this.#quota, pullRequest: this.pullRequest, sources: this.#sources };
  }

  /** That people were told changes nothing of a pull request: the read before is as good, unless something happened meanwhile. */
  #keepRead({ pullRequest }: Seen, forgotten: number): void {
    const decision = decisionOf(this.#memory);
    const isKept = pullRequest !== null && decision?.pullRequest?.number === pullRequest.number;
    if (!isKept || forgotten !== this.pullRequest.forgotten) return;
    if (!readsLess()) return;
    this.pullRequest.found(decision, pullRequest);
  }

  /** Ends what was begun ahead. */
  close(): void {
    this.pullRequest.forget();
    this.#sources.forget();
  }

  /** Waits for what the verdict names, or for a command, a change, or new pressure that may end the wait. */
  async rest({ placing, ...asked }: Wait, seen: Seen | null): Promise<void> {
    const wait = this.#unwatched(asked, seen);
    const isShort = this.#isShort(wait, placing !== undefined && seen !== null);
    if (placing === undefined || seen === null) this.#sources.forget();
    else {
      const besides = isShort ? { afterMs: Math.max(0, this.#observesAt - Date.now()), ...this.#quota.asks() } : null;
      this.#sources.lookUp(sourceInput(this.#target, placing, seen), targetName(this.#target), besides);
    }
    if (isShort) return;
    const summary = `${this.#run.status.phase} (${this.#run.status.reason})`;
    if (wait.watch === 'pullRequest') this.pullRequest.watch(decisionOf(this.#memory), summary, wait.until);
    const watch = this.#watch(wait, summary);
    const failedUntil = (): EpochMs | null => watch.failedUntil() ?? this.pullRequest.failedUntil;
    try {
      for (;;) {
        const failed = failedUntil();
        const isWatched = wait.watch === 'pullRequest' && this.pullRequest.endsBy(wait.until);
        const until = Math.min(
          isWatched ? Number.POSITIVE_INFINITY : (wait.until ?? Number.POSITIVE_INFINITY),
          failed ?? Number.POSITIVE_INFINITY,
        );
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

  /** The starter tells of most syncs: a worker looks for one only when it takes long. */
  #unwatched(wait: Wait, seen: Seen | null): Wait {
    const { state } = this.#memory;
    // Of a batched quota, its own episode is told.
    if (wait.watch !== 'sync' || wait.syncOf !== undefined || state.kind !== 'Merged' || seen === null) return wait;
    if (!stepsObserve()) return wait;
    const now = Date.now();
    // The forge's clock may be ahead.
    const mergedAt = Math.min(state.decision.merge.at, now);
    const toldBy = mergedAt + Math.min(seen.observation.timings.holdRetry, MOST_UNWATCHED_MS);
    if (now >= toldBy) return wait;
    const { watch: _, ...rest } = wait;
    return { ...rest, until: Math.min(rest.until ?? Number.POSITIVE_INFINITY, toldBy) };
  }

  /** Whether the next observation waits instead. */
  #isShort({ until, watch }: Wait, isPlacing: boolean): boolean {
    if (until === undefined || watch !== undefined) return false;
    const waitMs = until - Date.now();
    const isLong = waitMs >= SHORT_WAIT_MS;
    if (isLong && (!isPlacing || waitMs >= LOOK_UP_WAIT_MS || !this.#quota.isAsking)) return false;
    if (!this.#run.requests.isImmediate) this.#observesAt = until;
    this.#endedBy = isLong && !this.#wasCutShort ? 'deferrable' : 'immediate';
    return true;
  }

  /** A place that is looked up during a short wait is waited for as well: what is observed then can be acted on at once. */
  async #lookedUp(): Promise<void> {
    if (this.#observesAt <= Date.now() || !this.#sources.isLooking) return;
    if (!readsLess()) return;
    await this.#run.waitFor(async () => await this.#sources.looked(), this.#endedBy);
    const { requests } = this.#run;
    const { seen } = this.#sources;
    if (seen === null && this.#endedBy === 'deferrable' && requests.isPending) {
      this.#observesAt = 0;
      this.#wasCutShort = true;
      this.#sources.forget();
    }
    if (seen === null || requests.isImmediate) return;
    // Nobody has to look once more for what was asked before.
    if (this.#quota.found(seen.observed, seen.readAfter)) requests.clear();
  }

  async #restAfter(status: Pick<ResizeRunStatus, 'phase' | 'reason' | 'detail'>): Promise<void> {
    const until = Date.now() + FAILED_REST_MS;
    this.#run.publish({ ...status, until, usage: [] });
    await this.rest({ until, quietUntil: until }, null);
  }

  async #observe(wait: ObservationWait): Promise<Seen> {
    const observation = this.#quota.brought() ?? (await this.#read(wait));
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

  async #read(wait: ObservationWait): Promise<QuotaObservation> {
    const { requests } = this.#run;
    // What is read from now on is what they ask for.
    if (requests.isPending && !requests.isImmediate && stepsObserve()) requests.clear();
    return (wait.afterMs === undefined ? await this.#readMerged() : null) ?? (await this.#quota.read(wait));
  }

  /** Where a sync is waited for, the step that observes records it. */
  async #readMerged(): Promise<QuotaObservation | null> {
    const { state } = this.#memory;
    if (state.kind !== 'Merged') return null;
    const read = await this.#quota.readMerged(state.decision);
    if (read === null || read.recordedAt === null) return read?.observation ?? null;
    this.remember(applyOutcome.synced(requireState(this.#memory, 'Merged'), read.recordedAt));
    this.#run.publish({ ...syncedStatus(state.decision), usage: [] });
    return read.observation;
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
    const outcome = await ensuring.ensureQuotaEvent.executeWithOptions({ summary }, [event]);
    warnings.add(event.key, typeof outcome === 'object' ? outcome.event : outcome, now);
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
