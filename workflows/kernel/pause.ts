import { priorities } from '../../domain/kernel/priority.ts';
import { ActivityCancellationType } from '@temporalio/workflow';
import type { PauseActivities } from '../../activities/kernel/interface.ts';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import {
  type Pause,
  pauseCommand,
  type PauseInForce,
  PAUSES,
  pauseSentence,
  type PauseSubject,
} from '../../domain/kernel/pause.ts';
import { controllerActivities } from './activities.ts';
import type { CommandAnswer } from './commands.ts';
import { type FailedActivity, failedActivity } from './failure.ts';
import { brief } from './visibility.ts';

const ensuring = {
  startToCloseTimeout: '30 seconds',
  // A ConfigMap that cannot be written is shown, and tried again by the next pass.
  scheduleToCloseTimeout: '1 minute',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: { initialInterval: '500 milliseconds', backoffCoefficient: 2, maximumInterval: '10 seconds' },
  priority: { priorityKey: priorities.person },
} as const;

/** It polls by retry, which adds nothing to the history; the activity names the pace itself. */
const polling = {
  startToCloseTimeout: '30 seconds',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '30 seconds' },
} as const;

/** What a run gives to the next one of a pause: that one may write nothing before it has read anything. */
export interface CarriedPause {
  readonly inForce: PauseInForce | null;
  /** What an operator said and is not kept yet. */
  readonly unkept: { readonly pause: Pause | null } | null;
}

/**
 * The pause of one workflow's target. It is kept outside of the run, so that it survives the run and holds where none runs:
 * a `pause` that is sent to this run holds at once, and is kept before anything else is done.
 */
export class PauseControl {
  readonly #subject: PauseSubject & { readonly name: string };
  #inForce: PauseInForce | null;
  #unkept: CarriedPause['unkept'];

  constructor(
    subject: PauseSubject & { readonly name: string },
    { inForce, unkept }: CarriedPause = { inForce: null, unkept: null },
  ) {
    this.#subject = subject;
    this.#inForce = inForce;
    this.#unkept = unkept;
  }

  get carried(): CarriedPause {
    return { inForce: this.#inForce, unkept: this.#unkept };
  }

  /** The pause that holds for the target, as it was said to this run or read last. */
  get inForce(): PauseInForce | null {
    return this.#inForce;
  }

  /** Whether a pause or its end is still to be kept: nothing else may be done before. */
  get isUnkept(): boolean {
    return this.#unkept !== null;
  }

  /** What a command comes to, without the memory of the run, which it does not change. */
  evaluate(name: 'pause' | 'resume', raw: unknown): CommandAnswer<null> {
    const answer = pauseCommand(name, this.#inForce, readCommandInput(raw), Date.now());
    if (answer.kind === 'rejected') return answer;
    const { message, pause } = answer;
    return { kind: 'accepted', message, memory: null, apply: () => this.#report(pause) };
  }

  /** What was said holds at once. */
  #report(pause: Pause | null): void {
    this.#unkept = { pause };
    if (pause !== null) this.#inForce = { scope: 'target', kept: 'not kept outside of this run yet', ...pause };
  }

  /** What an observation, or a write that failed, has read. */
  found(pause: PauseInForce | null): void {
    if (this.#unkept === null) this.#inForce = pause;
  }

  /** Takes the pause from a write that was not made for it; false where it failed for something else. */
  foundIn({ type, details }: FailedActivity): boolean {
    if (type !== 'Paused' && type !== 'GloballyPaused') return false;
    this.found((details[0] ?? null) as PauseInForce | null);
    return true;
  }

  /** Keeps what was said. Null when it is kept, or was said anew meanwhile. */
  async keep(): Promise<FailedActivity | null> {
    const unkept = this.#unkept;
    if (unkept === null) return null;
    const { controller, name } = this.#subject;
    try {
      const summary = unkept.pause === null ? `resume ${name}` : `pause ${name}`;
      const { ensurePauseKept } = controllerActivities<PauseActivities>(controller, ensuring);
      await ensurePauseKept.executeWithOptions({ summary: brief(summary) }, [
        { scope: { kind: 'target', controller, name }, pause: unkept.pause },
      ]);
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      return this.#unkept === unkept ? failed : null;
    }
    if (this.#unkept !== unkept) return null;
    this.#unkept = null;
    // What else holds is found by the next observation or write.
    this.#inForce = unkept.pause === null ? null : { scope: 'target', kept: `ConfigMap ${PAUSES}`, ...unkept.pause };
    return null;
  }

  /** Ends when nothing is paused for the target any more. */
  async awaitResume(): Promise<void> {
    const summary = this.#inForce === null ? 'resume' : pauseSentence(this.#inForce);
    const { awaitResume } = controllerActivities<PauseActivities>(this.#subject.controller, polling);
    await awaitResume.executeWithOptions({ summary: brief(summary) }, [{ subject: this.#subject }]);
  }
}
