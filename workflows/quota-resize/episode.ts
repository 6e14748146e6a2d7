import { CancellationScope, log } from '@temporalio/workflow';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { quotaPauseSubject, type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { usageFacts, withCounts } from '../../domain/quota-resize/demand/counted-usage.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { decisionOf, type ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import type { QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { policyInForce } from '../../domain/quota-resize/policy/in-force.ts';
import type { Act, Verdict, Wait } from '../../domain/quota-resize/model/verdict.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { isCancelled } from '../kernel/failure.ts';
import { PauseControl } from '../kernel/pause.ts';
import { brief } from '../kernel/visibility.ts';
import { act, isForbiddenNow, rejectedMessage } from './act.ts';
import { ensuring, observing, watching } from './activities.ts';
import { countNamespace } from './count-namespace.ts';
import type { ResizeStatus } from './messages.ts';
import { PullRequestReader } from './pull-request-reader.ts';
import { nextShown, type Shown } from './shown.ts';

/** What a run carries to the next one. */
export interface EpisodeMemory {
  readonly resize: ResizeMemory;
  readonly shown: Shown;
}

export type ResizeRunStatus = Pick<ResizeStatus, 'phase' | 'reason' | 'detail'> & {
  /** When it reconciles again at the latest. */
  readonly until?: EpochMs | undefined;
  /** Where the status of the quota said something else than was counted. */
  readonly usage: readonly string[];
};
export type ResizeRun = ControllerRun<ResizeRunStatus, EpisodeMemory>;

/** How long a question that failed rests, so that one that always fails does not turn the wait into a loop. */
const FAILED_REST_MS = 60_000;

/** What one run of an episode knows, and the steps that its workflow takes with it. */
export class ResizeEpisode {
  readonly #target: QuotaTarget;
  readonly #run: ResizeRun;
  readonly pauses: PauseControl;
  readonly pullRequest: PullRequestReader;
  /** Whether the cluster's mode asks for counted numbers, as far as an observation has told. */
  #isCounting = false;
  #policy: ResizeStatus['policy'] = null;
  /** Policy warnings that this run has put on the quota already; the Event itself is one, however often it is written. */
  readonly #warned = new Set<string>();

  constructor(target: QuotaTarget, run: ResizeRun) {
    this.#target = target;
    this.#run = run;
    this.pauses = new PauseControl(quotaPauseSubject('quota-resize', target));
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
    this.#policy = policyInForce(seen.quota.policy);
    this.#run.publish({ phase, reason, detail, until, usage: usageFacts(seen.quota, this.#memory.lastChange) });
  }

  /** Keeps what an operator said about a pause, before anything else is done. False where it is to be tried again, after a rest. */
  async keepPause(): Promise<boolean> {
    const failed = await this.pauses.keep();
    if (failed !== null) {
      const detail = `the pause is not kept outside of this run yet: ${failed.message}`;
      await this.#restAfter({ phase: 'Paused', reason: 'Paused', detail });
    }
    return !this.pauses.isUnkept;
  }

  /** Null where there is nothing to decide on: it was interrupted, or failed and has rested. */
  async observe(): Promise<Seen | null> {
    try {
      const seen = await this.#interruptible(async () => await this.#observe());
      if (seen !== null) this.pauses.found(seen.quota.pause);
      // What was seen while a pause was said or ended is not acted on: people resume what is there now.
      return this.pauses.isUnkept ? null : seen;
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
    const applyOutcome = await this.#interruptible(async () => await act(this.#target, verdict, seen));
    if (applyOutcome !== null) this.remember(applyOutcome(this.#memory));
  }

  /** Waits for whatever the verdict waits for, a command, a change, or pressure that is not to be kept quiet. */
  async rest(wait: Wait): Promise<void> {
    const summary = `${this.#run.status.phase} (${this.#run.status.reason})`;
    if (wait.watch === 'pullRequest') this.pullRequest.watch(decisionOf(this.#memory), summary);
    const watch = this.#watch(wait.watch, summary);
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

  async #restAfter(status: Pick<ResizeRunStatus, 'phase' | 'reason' | 'detail'>): Promise<void> {
    const until = Date.now() + FAILED_REST_MS;
    this.#run.publish({ ...status, until, usage: [] });
    await this.rest({ until, quietUntil: until });
  }

  async #observe(): Promise<Seen> {
    const quota = await this.#observeQuota();
    // The Lease may know a decision that this run does not: look at its pull request as well.
    const decision = decisionOf(this.#memory) ?? quota.lease.decision;
    const hasOpenPullRequest = decision !== null && decision.pullRequest !== null && decision.merge === null;
    if (!hasOpenPullRequest) this.pullRequest.forget();
    const pullRequest = hasOpenPullRequest ? await this.pullRequest.read(decision) : null;
    if (quota.quota !== null && quota.pause === null) await this.#warnOfPolicy(quota, quota.quota.uid);
    return { quota, pullRequest };
  }

  async #warnOfPolicy({ warnings }: QuotaObservation, quotaUid: string): Promise<void> {
    for (const { layer, key, value, message } of warnings) {
      const eventKey = `${layer}/${key}=${value}`;
      if (this.#warned.has(eventKey)) continue;
      const event = { target: this.#target, quotaUid, type: 'Warning', reason: 'PolicyInvalid', message } as const;
      await ensuring.ensureQuotaEvent.executeWithOptions({ summary: brief(message) }, [{ ...event, key: eventKey }]);
      this.#warned.add(eventKey);
    }
  }

  /** The quota, with what the starters counted in place of `status.used` where the mode asks for it. */
  async #observeQuota(): Promise<QuotaObservation> {
    const target = this.#target;
    // Counted before the demand is read: what comes in between is neither counted nor missing, so too little is asked for
    // and never too much.
    const counts = this.#isCounting ? await countNamespace(target) : null;
    const seen = await observing.observeQuota.executeWithOptions({ summary: targetName(target) }, [{ target }]);
    this.#isCounting = seen.usage === 'audit' || seen.usage === 'own';
    if (!this.#isCounting) return seen;
    return counts === null ? await this.#observeQuota() : withCounts(seen, counts);
  }

  /**
   * Runs an observation or an act that a command can interrupt. Null when it was interrupted or met a pause or another
   * policy: then the next pass says what holds now.
   */
  async #interruptible<T>(run: () => Promise<T>): Promise<T | null> {
    try {
      return await this.#run.interruptible(run);
    } catch (error) {
      if (isForbiddenNow(error)) return null;
      throw error;
    }
  }

  /** Starts the activity that ends when the world is different. */
  #watch(what: Wait['watch'], summary: string) {
    let isOver = false;
    let failedUntil: EpochMs | null = null;
    const scope = new CancellationScope();
    const watched =
      what === undefined || what === 'pullRequest'
        ? null
        : scope
            .run(async () => await this.#awaitChange(what, summary))
            .then(
              () => {
                isOver = true;
              },
              (error: unknown) => {
                if (isCancelled(error)) return;
                log.warn('a watch failed, looking again later', { error });
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

  async #awaitChange(what: 'resume' | 'sync', summary: string): Promise<void> {
    if (what === 'resume') return await this.pauses.awaitResume();
    const { state } = this.#memory;
    if (state.kind !== 'Merged') return;
    const { quotaUid, merge } = state.decision;
    await watching.awaitSync.executeWithOptions({ summary }, [
      { target: this.#target, quotaUid, limits: merge.limits },
    ]);
  }
}
