import { log } from '@temporalio/workflow';
import type { BatchOutcome, ObserveScheduleInput } from '../../activities/lights-out/interface.ts';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { unreadable } from '../../domain/lights-out/decide/decide.ts';
import type {
  LightsOutObservation,
  PackedObservation,
  ReadyCondition,
} from '../../domain/lights-out/decide/observation.ts';
import { unpackPlan } from '../../domain/lights-out/decide/packed-plan.ts';
import { afterApproval } from '../../domain/lights-out/decide/approval.ts';
import type { Approving } from '../../domain/lights-out/workload/approved.ts';
import type { FailedWrite } from '../../domain/lights-out/decide/failed-write.ts';
import { afterFailure } from '../../domain/lights-out/decide/next-step.ts';
import { statusOf } from '../../domain/lights-out/decide/status.ts';
import type { LightsOutEvent } from '../../domain/lights-out/decide/verdict.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { lightsOutMetrics } from '../../domain/lights-out/metrics.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import { setGauge } from '../kernel/metrics.ts';
import {
  ensureApproved,
  ensureFinalizer,
  ensureScheduleEvent,
  ensureScheduleStatus,
  observeSchedule,
  observingCaches,
} from './activities.ts';
import { observeInputOf } from './observe-input.ts';
import type { LightsOutRun } from './report.ts';

/** How often the progress of a scaling run is written into the status, in milliseconds. */
const PROGRESS_MS = 10_000;
/** Backoff in milliseconds after a read or write that failed and that probably needs a person's help. */
const FAILED_REST_MS = 60_000;
/**
 * Longest time in milliseconds between two passes whose only purpose is to write a status or an Event that failed
 * before.
 */
const LONGEST_REPORT_REST_MS = 3_600_000;
const MAX_EMITTED = 300;
/** How long starters that did not answer are not asked again, in milliseconds. */
const STARTERS_AWAY_MS = 120_000;

/**
 * Whether a status or an Event could not be written. If so, the next pass comes soon and not only at the next
 * transition.
 */
interface PendingReports {
  readonly isPending: boolean;
  /**
   * In how many waits in a row something was pending: the basis of the backoff, because a write that is always denied
   * is not worth one pass a minute.
   */
  readonly times: number;
}

/** What one run knows of its schedule from pass to pass, and everything the workflow does except scaling. */
export class SchedulePass {
  readonly target: ScheduleTarget;
  readonly run: LightsOutRun;
  #seen: LightsOutObservation | null = null;
  /**
   * The moment of the last observation on the workflow's clock and on the worker's clock, which may differ by seconds.
   */
  #clock = { workflow: Date.now(), worker: Date.now() };
  /** The last status, when it was written, and the newest versions of the objects that were written. */
  #written: { readonly text: string; readonly at: EpochMs; readonly versions: BatchOutcome['versions'] } = {
    text: '',
    at: 0,
    versions: {},
  };
  /** Until when no starter is asked. */
  #listUntil: EpochMs = 0;
  #reports: PendingReports = { isPending: false, times: 0 };

  constructor(target: ScheduleTarget, run: LightsOutRun) {
    this.target = target;
    this.run = run;
  }

  /** The last observation; null before the first. */
  get seen(): LightsOutObservation | null {
    return this.#seen;
  }

  /** The current time on the clock of the worker that made the last observation, in milliseconds. */
  now(): EpochMs {
    return this.#clock.worker + (Date.now() - this.#clock.workflow);
  }

  /** Null when the cluster could not be read; the backoff is over by then. */
  async observe(): Promise<LightsOutObservation | null> {
    const { run } = this;
    const askedAt = Date.now();
    try {
      const read = await this.#read();
      reconciled(this.target.schedule, read.at);
      this.#clock = { workflow: Date.now(), worker: read.at };
      run.pauses.found(read.pause, askedAt);
      // The pause that holds may be newer than what the worker had read of it.
      const plan = read.plan === null ? null : unpackPlan(read.plan);
      const seen = { ...read, plan, pause: run.pauses.inForce };
      this.#seen = seen;
      return seen;
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      const { message } = failed;
      run.publish({ ...run.status, reason: 'ReadFailed', detail: message });
      if (this.#seen !== null) await this.writeStatus(this.#seen, unreadable(message));
      await this.rest(this.now() + FAILED_REST_MS, message);
      return null;
    }
  }

  /** Observes from a starter's caches, or by lists where no starter answers. */
  async #read(): Promise<PackedObservation> {
    const summary = 'everything in scope';
    const observeInput = this.observeInput();
    if (Date.now() >= this.#listUntil) {
      try {
        const atLeast = this.#written.versions;
        return await observingCaches(this.target.cluster).executeWithOptions({ summary }, [
          { ...observeInput, atLeast },
        ]);
      } catch (error) {
        const failed = failedActivity(error);
        if (failed === null) throw error;
        log.info('no starter answers from its caches', { schedule: this.target.schedule, reason: failed.message });
        this.#listUntil = Date.now() + STARTERS_AWAY_MS;
      }
    }
    return await observeSchedule.executeWithOptions({ summary: `${summary}, by lists` }, [observeInput]);
  }

  /** What the caches must not be behind. */
  wrote(versions: BatchOutcome['versions']): void {
    this.#written = { ...this.#written, versions: { ...this.#written.versions, ...versions } };
  }

  /** The part of the memory that an evaluation needs, of everything or of these items. */
  observeInput(of?: readonly PlanItem[]): ObserveScheduleInput {
    return observeInputOf(this.target, this.run.memory, this.now(), of);
  }

  /**
   * Waits for a moment on the worker's clock, or for a request. The wait is shortened while a status or an Event still
   * has to be written.
   */
  async rest(until: EpochMs | null, summary: string): Promise<void> {
    const { isPending, times } = this.#reports;
    const soon = isPending ? this.now() + Math.min(FAILED_REST_MS * 2 ** times, LONGEST_REPORT_REST_MS) : null;
    const moment = Math.min(soon ?? Number.POSITIVE_INFINITY, until ?? Number.POSITIVE_INFINITY);
    const ahead = Math.max(1, moment - this.now());
    const isWoken = await this.run.wait({ until: Number.isFinite(ahead) ? Date.now() + ahead : null, summary });
    // A wait that a request ended early does not count as another failed try.
    const tries = isPending && !isWoken ? times + 1 : times;
    this.#reports = { isPending: false, times: isPending ? tries : 0 };
  }

  /** Backs off after a write that failed as a whole, and says so wherever people look. */
  async restAfter(error: unknown, seen: LightsOutObservation, what: FailedWrite): Promise<void> {
    const failed = failedActivity(error);
    if (failed === null) throw error;
    // The next pass says what is paused, and waits for its end.
    if (this.run.pauses.foundIn(failed)) return;
    const { reason, detail, ready, events } = afterFailure(this.run.memory, seen, { what, why: failed.message });
    this.run.publish({ ...this.run.status, reason, detail });
    await this.writeStatus(seen, ready);
    await this.writeEvents(seen, events);
    await this.rest(this.now() + FAILED_REST_MS, detail);
  }

  /** Keeps what somebody has approved; whoever did reads in the status and an Event what became of it. */
  async ensureApproved(seen: LightsOutObservation, { by, at, digest }: Approving): Promise<void> {
    const { schedule } = seen;
    if (schedule === null) return;
    try {
      const outcome = await ensureApproved.executeWithOptions({ summary: brief(`keep what ${by} approved`) }, [
        { target: this.target, scheduleUid: schedule.uid, observeInput: this.observeInput(), at, digest },
      ]);
      this.run.remember(afterApproval(this.run.memory, { by, at, digest }, outcome));
      this.run.requests.add('immediate');
    } catch (error) {
      await this.restAfter(error, seen, 'approval');
    }
  }

  /** False when it could not be written; the backoff is over by then. */
  async ensureFinalizer(seen: LightsOutObservation, isPresent: boolean): Promise<boolean> {
    const { schedule } = seen;
    if (schedule === null) return true;
    try {
      const summary = isPresent ? 'add the finalizer' : 'remove the finalizer';
      await ensureFinalizer.executeWithOptions({ summary }, [
        { target: this.target, scheduleUid: schedule.uid, isPresent },
      ]);
      return true;
    } catch (error) {
      await this.restAfter(error, seen, isPresent ? 'hold' : 'release');
      return false;
    }
  }

  /** Delays the next progress report as if a status had just been written. */
  reportLater(): void {
    this.#written = { ...this.#written, at: this.now() };
  }

  async writeProgress(seen: LightsOutObservation, ready: ReadyCondition | null): Promise<void> {
    if (this.now() - this.#written.at >= PROGRESS_MS) await this.writeStatus(seen, ready);
  }

  /** Writes the status if it changed. A status that cannot be written is left to the next pass. */
  async writeStatus({ schedule }: LightsOutObservation, ready: ReadyCondition | null): Promise<void> {
    if (schedule === null || ready === null || this.#seen === null) return;
    const status = statusOf(this.#seen, this.run.memory);
    // What is saved grows all the time, so it is no reason to write; it is written together with other changes.
    const { savedReplicaHours: _hours, savings: _savings, ...rest } = status;
    const text = JSON.stringify([rest, ready, schedule.generation]);
    if (text === this.#written.text) return;
    this.reportLater();
    try {
      await ensureScheduleStatus.executeWithOptions({ summary: brief(ready.message) }, [
        {
          target: this.target,
          scheduleUid: schedule.uid,
          observedGeneration: schedule.generation,
          ready,
          status,
        },
      ]);
      this.#written = { ...this.#written, text };
    } catch (error) {
      this.#notReported('the status of the schedule', error);
    }
  }

  /**
   * Writes Events. Those that cannot be written are left to the next pass: the memory keeps the pending ones, and
   * conditions that still hold produce theirs again.
   */
  async writeEvents({ schedule }: LightsOutObservation, events: readonly LightsOutEvent[]): Promise<void> {
    if (schedule === null) return;
    for (const { type, reason, message, key } of events) {
      try {
        await ensureScheduleEvent.executeWithOptions({ summary: brief(message) }, [
          { target: this.target, scheduleUid: schedule.uid, type, reason, message, key },
        ]);
        const { memory } = this.run;
        const pendingEvents = memory.pendingEvents.filter((event) => event.key !== key);
        this.run.remember({ ...memory, emitted: [...memory.emitted, key].slice(-MAX_EMITTED), pendingEvents });
      } catch (error) {
        this.#notReported('an Event', error);
        return;
      }
    }
  }

  #notReported(what: string, error: unknown): void {
    const failed = failedActivity(error);
    if (failed === null) throw error;
    this.#reports = { ...this.#reports, isPending: true };
    log.warn(`${what} could not be written`, { schedule: this.target.schedule, reason: failed.message });
  }
}

/** When a schedule was last observed. */
function reconciled(schedule: string, at: EpochMs): void {
  setGauge(lightsOutMetrics.lastReconcile, { schedule }, at / 1000);
}
