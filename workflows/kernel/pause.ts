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
  // A ConfigMap that cannot be written is reported in the status, and the next pass tries again.
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

/** The pause that a run passes to the next run, which must write nothing before it has read the ConfigMap itself. */
export interface CarriedPause {
  readonly inForce: PauseInForce | null;
  /** A pause or resume by an operator that is not saved in the ConfigMap yet. */
  readonly unkept: { readonly pause: Pause | null } | null;
}

/**
 * The pause of one workflow's target. The pause is saved in a ConfigMap, so that it survives the run and also holds
 * while no workflow runs. A `pause` command takes effect in this run at once and is saved before anything else is done.
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

  /** The pause in force, from the last command to this run or the last read of the ConfigMap. */
  get inForce(): PauseInForce | null {
    return this.#inForce;
  }

  /** Whether a pause or resume still has to be saved; nothing else may be done before. */
  get isUnkept(): boolean {
    return this.#unkept !== null;
  }

  /** Evaluates a command. It does not change the memory of the run, hence the null. */
  evaluate(name: 'pause' | 'resume', raw: unknown): CommandAnswer<null> {
    const answer = pauseCommand(name, this.#inForce, readCommandInput(raw), Date.now());
    if (answer.kind === 'rejected') return answer;
    const { message, pause } = answer;
    return { kind: 'accepted', message, memory: null, apply: () => this.#report(pause) };
  }

  /** A commanded pause holds at once, before it is saved. */
  #report(pause: Pause | null): void {
    this.#unkept = { pause };
    if (pause !== null) this.#inForce = { scope: 'target', kept: 'not kept outside of this run yet', ...pause };
  }

  /** Takes over the pause that an observation or a failed write has read, unless an unsaved command is newer. */
  found(pause: PauseInForce | null): void {
    if (this.#unkept === null) this.#inForce = pause;
  }

  /** Takes over the pause from a write that failed because of it; returns false for any other failure. */
  foundIn({ type, details }: FailedActivity): boolean {
    if (type !== 'Paused' && type !== 'GloballyPaused') return false;
    this.found((details[0] ?? null) as PauseInForce | null);
    return true;
  }

  /** Saves the last command in the ConfigMap. Null when it was saved, or when a newer command arrived meanwhile. */
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
    // A pause of a wider scope (the namespace or everything) is found by the next observation or write.
    this.#inForce = unkept.pause === null ? null : { scope: 'target', kept: `ConfigMap ${PAUSES}`, ...unkept.pause };
    return null;
  }

  /** Completes when no pause applies to the target any more. */
  async awaitResume(): Promise<void> {
    const summary = this.#inForce === null ? 'resume' : pauseSentence(this.#inForce);
    const { awaitResume } = controllerActivities<PauseActivities>(this.#subject.controller, polling);
    await awaitResume.executeWithOptions({ summary: brief(summary) }, [{ subject: this.#subject }]);
  }
}
