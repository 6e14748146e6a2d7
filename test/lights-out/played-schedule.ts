/** What the workflow of a schedule does, at moments that a test chooses: the same steps and activities, without its waits. */
import type { LightsOutActivities } from '../../activities/lights-out/interface.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { afterApproval } from '../../domain/lights-out/decide/approval.ts';
import { applyCommand } from '../../domain/lights-out/decide/commands.ts';
import { freshMemory, type LightsOutMemory } from '../../domain/lights-out/decide/memory.ts';
import { nextStep } from '../../domain/lights-out/decide/next-step.ts';
import type { LightsOutObservation } from '../../domain/lights-out/decide/observation.ts';
import { batchesOf, stepsOf } from '../../domain/lights-out/decide/order.ts';
import { packItems } from '../../domain/lights-out/decide/packed.ts';
import { unpackPlan } from '../../domain/lights-out/decide/packed-plan.ts';
import { afterBatch } from '../../domain/lights-out/decide/run.ts';
import { endOfPlan, paceOf } from '../../domain/lights-out/decide/scaling.ts';
import { scheduleVersion } from '../../domain/lights-out/decide/schedule-version.ts';
import { statusOf } from '../../domain/lights-out/decide/status.ts';
import type { LightsOutEvent, LightsOutVerdict } from '../../domain/lights-out/decide/verdict.ts';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import { observeInputOf } from '../../workflows/lights-out/observe-input.ts';

/** More than any schedule makes at one moment that comes to rest: the finalizer, an approval, two turns of writes. */
const PASSES = 12;

export class PlayedSchedule {
  readonly #target: ScheduleTarget;
  readonly #activitiesAt: (moment: EpochMs) => LightsOutActivities;
  #memory: LightsOutMemory = freshMemory;
  #seen: LightsOutObservation | null = null;

  constructor(target: ScheduleTarget, activitiesAt: (moment: EpochMs) => LightsOutActivities) {
    this.#target = target;
    this.#activitiesAt = activitiesAt;
  }

  /** The last observation; null before the first. */
  get seen(): LightsOutObservation | null {
    return this.#seen;
  }

  /** When the workflow would wake next for something else than its daily look; null where nothing is to come. */
  get next(): EpochMs | null {
    const end = this.#seen === null ? Number.POSITIVE_INFINITY : endOfPlan(this.#seen, this.#memory);
    return Number.isFinite(end) ? end : null;
  }

  /**
   * Passes until there is nothing to do at this moment. Somebody approves what asks for it.
   *
   * @returns what could not be written.
   */
  async rest(at: EpochMs): Promise<readonly string[]> {
    for (let pass = 0; pass < PASSES; pass += 1) {
      const seen = await this.#observe(at);
      const step = nextStep(this.#memory, seen);
      this.#memory = step.memory;
      if (step.kind === 'observe') continue;
      const { verdict } = step;
      if (step.isStatusWritten) await this.#writeStatus(seen, verdict);
      await this.#writeEvents(seen, step.before);
      if (verdict.kind === 'scale') {
        const failed = await this.#scale(seen, verdict);
        if (failed.length > 0) return failed;
      } else if (verdict.kind === 'finalizer') {
        const { isPresent } = verdict;
        await this.#activitiesAt(at).ensureFinalizer({ target: this.#target, scheduleUid: uidOf(seen), isPresent });
        await this.#writeEvents(seen, step.after);
      } else if (verdict.kind === 'approve') await this.#approve(seen, verdict);
      else if (verdict.kind === 'end' || verdict.reason !== 'ApprovalNeeded') return [];
      else this.#askToApprove(seen);
    }
    return [`it does not come to rest at ${new Date(at).toISOString()}`];
  }

  async #observe(at: EpochMs): Promise<LightsOutObservation> {
    const packed = await this.#activitiesAt(at).observeSchedule(observeInputOf(this.#target, this.#memory, at));
    const seen = { ...packed, plan: packed.plan === null ? null : unpackPlan(packed.plan) };
    this.#seen = seen;
    return seen;
  }

  async #scale(
    seen: LightsOutObservation,
    { items }: Extract<LightsOutVerdict, { kind: 'scale' }>,
  ): Promise<readonly string[]> {
    const { at: now, schedule, timings } = seen;
    for (const step of stepsOf(items)) {
      for (const batch of batchesOf(step, paceOf(schedule?.spec ?? null, step).batchSize)) {
        const { outcomes, idle } = await this.#activitiesAt(now).ensureScaled({
          target: this.#target,
          scheduleUid: uidOf(seen),
          schedule: scheduleVersion(schedule),
          items: packItems(batch),
          observeInput: observeInputOf(this.#target, this.#memory, now, batch),
          ...(seen.plan?.outdated === undefined ? {} : { outdated: seen.plan.outdated }),
        });
        this.#memory = afterBatch(this.#memory, batch, outcomes, { now, timings, idle });
        // Nobody else writes, so that nothing is to be left in its turn either.
        if (outcomes.length > 0) return outcomes.map(({ workload, kind, detail }) => `${kind} ${workload}: ${detail}`);
      }
    }
    return [];
  }

  #askToApprove(seen: LightsOutObservation): void {
    const { memory, message } = applyCommand('approve', 'jane', { memory: this.#memory, seen, now: seen.at });
    if (memory === null) throw new Error(message);
    this.#memory = memory;
  }

  async #approve(
    seen: LightsOutObservation,
    { approval }: Extract<LightsOutVerdict, { kind: 'approve' }>,
  ): Promise<void> {
    const { at, digest } = approval;
    const observeInput = observeInputOf(this.#target, this.#memory, seen.at);
    const input = { target: this.#target, scheduleUid: uidOf(seen), observeInput, at, digest };
    this.#memory = afterApproval(this.#memory, approval, await this.#activitiesAt(seen.at).ensureApproved(input));
  }

  async #writeStatus(seen: LightsOutObservation, { ready }: LightsOutVerdict): Promise<void> {
    const { schedule } = seen;
    if (schedule === null || ready === null) return;
    const { uid: scheduleUid, generation: observedGeneration } = schedule;
    const status = statusOf(seen, this.#memory);
    const write = { target: this.#target, scheduleUid, observedGeneration, ready, status };
    await this.#activitiesAt(seen.at).ensureScheduleStatus(write);
  }

  async #writeEvents(seen: LightsOutObservation, events: readonly LightsOutEvent[]): Promise<void> {
    if (seen.schedule === null) return;
    for (const event of events) {
      const { type, reason, message, key } = event;
      const written = { target: this.#target, scheduleUid: uidOf(seen), type, reason, message, key };
      await this.#activitiesAt(seen.at).ensureScheduleEvent(written);
      const { emitted, pendingEvents } = this.#memory;
      const left = pendingEvents.filter((pending) => pending.key !== key);
      this.#memory = { ...this.#memory, emitted: [...emitted, key], pendingEvents: left };
    }
  }
}

function uidOf({ schedule }: LightsOutObservation): string {
  return schedule?.uid ?? '';
}
