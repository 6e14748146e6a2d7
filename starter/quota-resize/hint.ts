import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type QuotaTarget, quotaResizeId, targetName, taskQueue } from '../../domain/kernel/target.ts';
import { quotaChanged, quotaPressureSeen } from '../../workflows/quota-resize/messages.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';
import type { QueuedHint } from '../kernel/hint-queue.ts';

export interface QuotaHint extends QueuedHint {
  readonly target: QuotaTarget;
}

/** A hint for the episode of a quota. One that starts says "pressure", one that does not says "changed". */
export function quotaHint(target: QuotaTarget, starts: boolean, cause: string, resourceVersion: string): QuotaHint {
  return { id: quotaResizeId(target), target, starts, cause, resourceVersion };
}

/**
 * Sends a hint: pressure starts an episode when none runs (at most one runs with this id, whoever sends), a mere change
 * goes to a running one only.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createQuotaHintSender(client: Client): (hint: QuotaHint) => Promise<void> {
  return async ({ id, target, starts, cause, resourceVersion }) => {
    const hint = { cause, resourceVersion };
    if (starts) {
      await client.workflow.signalWithStart<typeof quotaResize, [typeof hint]>('quotaResize', {
        workflowId: id,
        taskQueue: taskQueue(target.cluster),
        args: [{ target }],
        signal: quotaPressureSeen,
        signalArgs: [hint],
        staticSummary: `${targetName(target)} in ${target.cluster}`,
        // People come first, samplings last; an episode is routine.
        priority: { priorityKey: 3 },
      });
      return;
    }
    try {
      await client.workflow.getHandle(id).signal(quotaChanged, hint);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}
