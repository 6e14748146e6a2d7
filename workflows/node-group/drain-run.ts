import { ApplicationFailure } from '@temporalio/common';
import { CancellationScope, getExternalWorkflowHandle } from '@temporalio/workflow';
import { pauseReason, pauseSentence } from '../../domain/kernel/pause.ts';
import { DRAIN_TIMEOUT_MS } from '../../domain/node-group/drain/drain-progress.ts';
import {
  afterDeleted,
  afterEvicted,
  afterFailure,
  afterMarked,
  afterReplacement,
  afterUndone,
  type DrainEnding,
  type DrainOrder,
  type DrainShown,
  type DrainStep,
  shownStep,
} from '../../domain/node-group/drain/steps.ts';
import { nodeGroupId } from '../../domain/node-group/target.ts';
import { Attempts } from '../kernel/attempts.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import {
  awaitReplacement,
  awaitResume,
  ensureDrainMarked,
  ensureDrainUnmarked,
  ensureMachineDeleted,
  ensureEvicted,
} from './drain-activities.ts';
import { drainEnded } from './drain-messages.ts';

export type DrainRun = ControllerRun<DrainShown, DrainStep>;

export interface NodeDrainInput extends Pick<DrainOrder, 'target'> {
  /** The UID of the NodeGroup. */
  readonly groupUid: string;
  readonly removal: DrainOrder['removal'];
  /** The VPSieNode that must be ready before the first eviction; absent: none. */
  readonly replacement?: string | null;
  /** Only takes back the marks of a drain that nobody carries out any more. */
  readonly undoesOnly?: boolean;
  /** Milliseconds without progress after which the drain is blocked; default `DRAIN_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
}

/** Milliseconds to wait after a failed write that must not be left undone. */
const FAILED_RESTS = { firstRestMs: 15_000, longestRestMs: 900_000 };

/** The steps of a drain, which its workflow takes in turn. */
export class NodeDrain {
  readonly order: DrainOrder;
  readonly #input: NodeDrainInput;
  readonly #run: DrainRun;
  readonly #attempts: Attempts<DrainShown, 'WriteFailed'>;

  constructor(input: NodeDrainInput, run: DrainRun) {
    this.#input = input;
    this.order = orderOf(input);
    this.#run = run;
    this.#attempts = new Attempts(run, {
      ...FAILED_RESTS,
      shown: (reason, detail) => ({ ...run.status, phase: 'Blocked', reason, detail }),
    });
  }

  /** Takes the next step; the ending when there is none. */
  async step(): Promise<DrainEnding | null> {
    const step = this.#run.memory;
    if (step.kind === 'ended') return await this.#end(step.ending);
    if (this.#run.pauses.inForce !== null) {
      await this.#whilePaused();
      return null;
    }
    this.#run.publish(shownStep(step, this.order));
    const next = await this.#next(step);
    // A command that arrived meanwhile has decided otherwise.
    if (next === null || this.#run.memory !== step) return null;
    this.#run.remember(next);
    this.#run.publish(shownStep(next, this.order));
    return null;
  }

  /** Null after an interruption, and after a failure that is tried again. */
  async #next(step: Exclude<DrainStep, { kind: 'ended' }>): Promise<DrainStep | null> {
    const { target, groupUid, removal, timeoutMs = DRAIN_TIMEOUT_MS } = this.#input;
    const { machine, reason } = removal;
    const summary = brief(shownStep(step, this.order).detail);
    switch (step.kind) {
      case 'marking':
        return await this.#forward(
          async () => await ensureDrainMarked.executeWithOptions({ summary }, [{ target }]),
          afterMarked,
        );
      case 'awaitingReplacement': {
        const { replacement } = this.order;
        const awaited = { target, machine: replacement ?? machine };
        return await this.#forward(
          async () => await awaitReplacement.executeWithOptions({ summary }, [awaited]),
          afterReplacement,
        );
      }
      case 'evicting': {
        const { progress, refusedBy, takenBack = 0 } = step;
        const input = { target, reason, timeoutMs, progress, refusedBy, takenBack };
        return await this.#forward(
          async () => await ensureEvicted.executeWithOptions({ summary }, [input]),
          (evicted) => afterEvicted(evicted, step),
        );
      }
      case 'deleting':
        return await this.#insistently(async () => {
          const { cluster, group } = target;
          const input = { target: { cluster, group }, uid: groupUid, machine, drained: { ...target, reason } };
          // A cancellation comes too late.
          const isTakenBack = await CancellationScope.nonCancellable(
            async () => await ensureMachineDeleted.executeWithOptions({ summary }, [input]),
          );
          return afterDeleted(this.order, isTakenBack, step);
        });
      case 'undoing':
        return await this.#insistently(async () => {
          const { outcome, reason: why, detail } = step.ending;
          const blocked = { groupUid, reason: why, detail };
          const input = outcome === 'blocked' ? { target, blocked } : { target };
          await ensureDrainUnmarked.executeWithOptions({ summary }, [input]);
          return afterUndone(step);
        });
    }
  }

  /** A step that is not taken for ever: when it fails, the drain is undone. */
  async #forward<Answer>(act: () => Promise<Answer>, after: (answer: Answer) => DrainStep): Promise<DrainStep | null> {
    try {
      const answer = await this.#run.interruptible(act);
      return answer === null ? null : after(answer);
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      return this.#run.pauses.foundIn(failed) ? null : afterFailure(failed.message);
    }
  }

  /** A step that must not be left undone: when it fails, it is shown, and tried again. */
  async #insistently(act: () => Promise<DrainStep>): Promise<DrainStep | null> {
    return await this.#attempts.make('WriteFailed', act, async (attempt) => await attempt());
  }

  /** Nothing is written during a pause of the node or of its group; the marks stay where they are. */
  async #whilePaused(): Promise<void> {
    const { inForce } = this.#run.pauses;
    if (inForce === null) return;
    const { facts, detail } = shownStep(this.#run.memory, this.order);
    const shown = {
      phase: 'Paused',
      detail: pauseSentence(inForce),
      facts: [...facts, `when it goes on: ${detail}`],
    } as const;
    this.#run.publish({ ...shown, reason: pauseReason(inForce) });
    const subject = { controller: 'node-group', name: this.order.target.group } as const;
    await this.#run.waitFor(async () => {
      await awaitResume.executeWithOptions({ summary: brief(shown.detail) }, [{ subject }]);
      await this.#run.pauses.awaitResume();
    }, 'immediate');
  }

  /** Tells the group's workflow how it ended; one that does not run looks for itself when it does. */
  async #end(ending: DrainEnding): Promise<DrainEnding | null> {
    const { node, uid } = this.order.target;
    const { outcome, detail, reason } = ending;
    try {
      await CancellationScope.nonCancellable(
        async () =>
          await getExternalWorkflowHandle(nodeGroupId(this.order.target)).signal(drainEnded, {
            node,
            uid,
            outcome,
            detail,
            reason,
          }),
      );
    } catch (error) {
      if (!(error instanceof ApplicationFailure)) throw error;
    }
    await this.#run.handlersFinished();
    // No await between this check and the return: a command to pause has to be saved first.
    return this.#run.pauses.isUnkept ? null : ending;
  }
}

export function orderOf({ target, removal, replacement = null }: NodeDrainInput): DrainOrder {
  return { target, removal, replacement };
}
