import { priorities } from '../../domain/kernel/priority.ts';
import { ActivityCancellationType } from '@temporalio/workflow';
import type { PauseActivities } from '../../activities/kernel/interface.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type PauseInForce, pauseSentence, type PauseTarget } from '../../domain/kernel/pause.ts';
import {
  afterKeeping,
  afterReading,
  type PauseAnswer,
  pauseCommand,
  pauseInForce,
  type PauseState,
} from '../../domain/kernel/pause-state.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { controllerActivities } from './activities.ts';
import { type FailedActivity, failedActivity } from './failure.ts';
import { brief } from './visibility.ts';

const requesting = {
  startToCloseTimeout: '30 seconds',
  // ConfigMaps that cannot be read or written for longer are left to the next pass.
  scheduleToCloseTimeout: '1 minute',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  priority: { priorityKey: priorities.person },
} as const;

/**
 * The activity polls by failing and being retried, which adds nothing to the history, and sets the delay of the next
 * retry itself.
 */
const polling = {
  startToCloseTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
} as const;

/**
 * The pause of one workflow's target. The pause is saved in a ConfigMap, so that it survives the run and also holds
 * while no workflow runs. A `pause` command takes effect in this run at once and is saved before anything else is done.
 */
export class PauseControl {
  readonly target: PauseTarget;
  #state: PauseState;
  #isChanged = false;

  /** @param carried of the run before, which may not have kept everything. */
  constructor(target: PauseTarget, carried: PauseState = { kind: 'Unread' }) {
    this.target = target;
    this.#state = carried;
  }

  get state(): PauseState {
    return this.#state;
  }

  /** The pause in force, from the last command to this run or the last read of the ConfigMap. */
  get inForce(): PauseInForce | null {
    return pauseInForce(this.#state);
  }

  /** Whether a pause or resume still has to be saved; nothing else may be done before. */
  get isUnkept(): boolean {
    return this.#state.kind === 'Unkept';
  }

  /** Evaluates a command without applying it. */
  evaluate(name: 'pause' | 'resume', raw: unknown): PauseAnswer {
    return pauseCommand(name, { state: this.#state, target: this.target }, readCommandInput(raw), Date.now());
  }

  /** Applies the state of an accepted command. */
  accept(state: PauseState): void {
    this.#state = state;
  }

  /** Takes over the pause that an observation or a failed write has read; `askedAt` is when it was asked for. */
  found(pause: PauseInForce | null, askedAt: EpochMs): void {
    this.#state = afterReading(this.#state, pause, { askedAt, now: Date.now() });
  }

  /** A pause was written, or ended, outside of the run; `readChange` reads what holds. */
  changed(): void {
    this.#isChanged = true;
  }

  /**
   * Reads the pause after a change outside of the run. An observation may use what a worker read before the change. If it
   * cannot be read, the next pass tries again, and every write asks for itself.
   */
  async readChange(): Promise<void> {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    const { observePause } = controllerActivities<PauseActivities>(this.target.controller, requesting);
    try {
      const pause = await observePause.executeWithOptions({ summary: brief(`pause of ${this.target.name}`) }, [
        { subject: this.target },
      ]);
      this.found(pause, Number.POSITIVE_INFINITY);
    } catch (error) {
      if (failedActivity(error) === null) throw error;
      this.#isChanged = true;
    }
  }

  /** Takes over the pause from a write that failed because of it; returns false for any other failure. */
  foundIn({ type, details }: FailedActivity): boolean {
    if (type !== 'Paused' && type !== 'GloballyPaused') return false;
    this.found((details[0] ?? null) as PauseInForce | null, Number.POSITIVE_INFINITY);
    return true;
  }

  /**
   * Saves the last command in the ConfigMap.
   *
   * @returns null when it was saved, or when a newer command arrived meanwhile; otherwise why not, a clause for people.
   */
  async keep(): Promise<string | null> {
    const state = this.#state;
    if (state.kind !== 'Unkept') return null;
    const { controller, name } = this.target;
    try {
      const summary = state.pause === null ? `resume ${name}` : `pause ${name}`;
      const { ensurePauseKept } = controllerActivities<PauseActivities>(controller, requesting);
      await ensurePauseKept.executeWithOptions({ summary: brief(summary) }, [
        { scope: { kind: 'target', controller, name }, pause: state.pause },
      ]);
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      const what = state.pause === null ? 'resume' : 'pause';
      return this.#state === state ? `the ${what} is not kept outside of this run yet: ${failed.message}` : null;
    }
    if (this.#state === state) this.#state = afterKeeping(state, Date.now());
    return null;
  }

  /** Completes when no pause applies to the target any more, by a reading that was made for it. */
  async awaitResume(): Promise<void> {
    const { inForce } = this;
    const summary = inForce === null ? 'resume' : pauseSentence(inForce);
    const { awaitResume } = controllerActivities<PauseActivities>(this.target.controller, polling);
    await awaitResume.executeWithOptions({ summary: brief(summary) }, [{ subject: this.target }]);
    this.found(null, Number.POSITIVE_INFINITY);
  }
}
