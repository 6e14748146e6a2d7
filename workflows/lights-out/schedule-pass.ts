import { log } from '@temporalio/workflow';
import type { ObserveScheduleInput } from '../../activities/lights-out/interface.ts';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import { PAUSES } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { unreadable } from '../../domain/lights-out/decide/decide.ts';
import type { LightsOutObservation, ReadyCondition } from '../../domain/lights-out/decide/observation.ts';
import { statusOf } from '../../domain/lights-out/decide/status.ts';
import type { LightsOutEvent } from '../../domain/lights-out/decide/verdict.ts';
import { failedActivity } from '../kernel/failure.ts';
import { PauseControl } from '../kernel/pause.ts';
import { brief } from '../kernel/visibility.ts';
import { ensureFinalizer, ensureScheduleEvent, ensureScheduleStatus, observeSchedule } from './activities.ts';
import type { LightsOutRun } from './report.ts';

/** How often the progress is written into the status, in milliseconds. */
const PROGRESS_MS = 10_000;
/** How long a write rests that a person must help, in milliseconds. */
const FAILED_REST_MS = 60_000;
/** Between two passes that are there only because a status or an Event could not be written, at most. */
const LONGEST_REPORT_REST_MS = 3_600_000;
const MAX_EMITTED = 300;

/** The reports that could not be written: the next pass is soon then, and not only at the next transition. */
interface PendingReports {
  readonly isPending: boolean;
  /** How many rests in a row something was pending. A write that is denied for good is not worth a pass a minute. */
  readonly times: number;
}

/** What one run knows of its schedule from pass to pass, and what it does besides scaling. */
export class SchedulePass {
  readonly target: ScheduleTarget;
  readonly run: LightsOutRun;
  readonly pauses: PauseControl;
  #seen: LightsOutObservation | null = null;
  /** The moment of the last observation by the clocks of the workflow and of the worker, which may differ by seconds. */
  #clock = { workflow: Date.now(), worker: Date.now() };
  #written: { readonly text: string; readonly at: EpochMs } = { text: '', at: 0 };
  #reports: PendingReports = { isPending: false, times: 0 };

  constructor(target: ScheduleTarget, run: LightsOutRun) {
    this.target = target;
    this.run = run;
    this.pauses = new PauseControl({ controller: 'lights-out', name: target.schedule });
  }

  /** The last observation; null before the first. */
  get seen(): LightsOutObservation | null {
    return this.#seen;
  }

  /** The time by the clock that the last observation was made by, in milliseconds. */
  now(): EpochMs {
    return this.#clock.worker + (Date.now() - this.#clock.workflow);
  }

  /** When something else may hold than what was planned by: the next transition, or the end of what somebody asked for. */
  endOf({ period, plan }: LightsOutObservation): EpochMs {
    const ends = [period?.next?.at, plan?.until, ...this.run.memory.overrides.map(({ until }) => until)];
    return Math.min(Infinity, ...ends.filter((at) => typeof at === 'number' && at > this.#clock.worker).map(Number));
  }

  /** Null where the cluster could not be read, after a rest. */
  async observe(): Promise<LightsOutObservation | null> {
    const { run } = this;
    try {
      const seen = await observeSchedule.executeWithOptions({ summary: 'everything in scope' }, [this.observeInput()]);
      this.#clock = { workflow: Date.now(), worker: seen.at };
      this.#seen = seen;
      this.pauses.found(seen.paused === null ? null : { scope: 'target', kept: PAUSES, ...seen.paused });
      const paused = seen.paused === null ? null : { ...seen.paused, at: seen.paused.at ?? seen.at };
      run.remember({ ...run.memory, paused });
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

  /** What an observation needs to know of the memory. */
  observeInput(): ObserveScheduleInput {
    const { overrides, inEffect, approved, completed, contested, failing } = this.run.memory;
    const held = Object.entries(contested).filter(([, { until }]) => until > this.now());
    return {
      target: this.target,
      overrides,
      inEffect,
      isApproved: approved !== null,
      completedAt: completed?.at ?? null,
      contested: Object.fromEntries(held.map(([name, { until }]) => [name, until])),
      failing: Object.keys(failing),
    };
  }

  /** Waits for a moment, by the worker's clock, or a request; not for long where a report is pending. */
  async rest(until: EpochMs | null, summary: string): Promise<void> {
    const { isPending, times } = this.#reports;
    const soon = isPending ? this.now() + Math.min(FAILED_REST_MS * 2 ** times, LONGEST_REPORT_REST_MS) : null;
    const moment = Math.min(soon ?? Number.POSITIVE_INFINITY, until ?? Number.POSITIVE_INFINITY);
    const ahead = Math.max(1, moment - this.now());
    const isWoken = await this.run.wait({ until: Number.isFinite(ahead) ? Date.now() + ahead : null, summary });
    // A request that ends the rest at once says nothing about the next try.
    const tries = isPending && !isWoken ? times + 1 : times;
    this.#reports = { isPending: false, times: isPending ? tries : 0 };
  }

  /** Keeps what an operator said about a pause, before anything else is done. False where it is to be tried again, after a rest. */
  async keepPause(): Promise<boolean> {
    const failed = await this.pauses.keep();
    if (failed !== null) {
      const detail = `the pause is not kept outside of this run yet: ${failed.message}`;
      this.run.publish({ ...this.run.status, phase: 'Paused', reason: 'Paused', detail });
      await this.rest(this.now() + FAILED_REST_MS, detail);
    }
    return !this.pauses.isUnkept;
  }

  /** Waits until the schedule is not paused any more, or for a request. */
  async awaitResume(): Promise<void> {
    await this.run.waitFor(async () => await this.pauses.awaitResume());
  }

  /** Rests after a write that failed as a whole. */
  async restAfter(error: unknown): Promise<void> {
    const failed = failedActivity(error);
    if (failed === null) throw error;
    const reason = failed.type === 'GloballyPaused' ? 'GloballyPaused' : 'ScalingFailed';
    this.run.publish({ ...this.run.status, reason, detail: failed.message });
    await this.rest(this.now() + FAILED_REST_MS, failed.message);
  }

  async ensureFinalizer({ schedule }: LightsOutObservation, isPresent: boolean): Promise<void> {
    if (schedule === null) return;
    try {
      const summary = isPresent ? 'put on the finalizer' : 'take off the finalizer';
      await ensureFinalizer.executeWithOptions({ summary }, [
        { target: this.target, scheduleUid: schedule.uid, isPresent },
      ]);
    } catch (error) {
      await this.restAfter(error);
    }
  }

  /** The next progress is due as if a status had just been written. */
  reportLater(): void {
    this.#written = { ...this.#written, at: this.now() };
  }

  async writeProgress(seen: LightsOutObservation, ready: ReadyCondition | null): Promise<void> {
    if (this.now() - this.#written.at >= PROGRESS_MS) await this.writeStatus(seen, ready);
  }

  /** Writes the status where it says something new. One that cannot be written is written by the next pass. */
  async writeStatus({ schedule }: LightsOutObservation, ready: ReadyCondition | null): Promise<void> {
    if (schedule === null || ready === null || this.#seen === null) return;
    const status = statusOf(this.#seen, this.run.memory);
    // It grows all the time, and is written along with what else is new.
    const text = JSON.stringify([{ ...status, savedReplicaHours: '' }, ready, schedule.generation]);
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

  /** Events that cannot be written are written by the next pass: about what was done, and about what is still so. */
  async writeEvents({ schedule }: LightsOutObservation, events: readonly LightsOutEvent[]): Promise<void> {
    if (schedule === null) return;
    for (const { type, reason, message, key } of events) {
      try {
        await ensureScheduleEvent.executeWithOptions({ summary: brief(message) }, [
          { target: this.target, scheduleUid: schedule.uid, type, reason, message, key },
        ]);
        const { memory } = this.run;
        const pendingEvents = memory.pendingEvents.filter((one) => one.key !== key);
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
    log.warn(`${what} is not written`, { schedule: this.target.schedule, reason: failed.message });
  }
}
