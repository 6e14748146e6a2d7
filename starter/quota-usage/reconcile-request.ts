import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type QuotaTarget, targetName, taskQueue } from '../../domain/kernel/target.ts';
import { quotaUsageId } from '../../domain/quota-usage/target.ts';
import type { UsagePolicy } from '../../domain/quota-usage/observation.ts';
import {
  commandDescriptions,
  FIRST_PHASE,
  usageChanged,
  type UsageRequest,
} from '../../workflows/quota-usage/messages.ts';
import type { quotaUsage } from '../../workflows/quota-usage/workflow.ts';
import { firstAttributes } from '../../workflows/kernel/first-attributes.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

export interface QueuedUsageRequest extends QueuedRequest {
  readonly target: QuotaTarget;
  readonly priority: number;
  readonly isPaused?: boolean;
  /** What the API server said when it refused a write. */
  readonly refused?: string | undefined;
  /** Whether the quota is gone. */
  readonly isGone?: boolean;
}

/** A reconcile request for a quota's usage episode; one that does not start an episode only goes to a running one. */
export function usageRequest(
  target: QuotaTarget,
  request: Pick<QueuedUsageRequest, 'starts' | 'cause' | 'isPaused' | 'refused' | 'priority' | 'isGone'>,
): QueuedUsageRequest {
  return { ...request, coalescingKey: quotaUsageId(target), target };
}

/**
 * Sends a reconcile request; one with `starts` starts an episode when none runs. The search attributes are set at the
 * start, which saves the workflow a billed action.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createUsageRequestSender(
  client: Client,
  policy: UsagePolicy,
): (request: QueuedUsageRequest) => Promise<void> {
  return async ({ target, starts, cause, isPaused = false, refused, priority, isGone = false }) => {
    const request: UsageRequest = {
      cause,
      ...(isPaused ? { isPaused } : {}),
      ...(refused === undefined ? {} : { refused }),
      ...(isGone ? { isGone } : {}),
    };
    if (starts) {
      await client.workflow.signalWithStart<typeof quotaUsage, [UsageRequest]>('quotaUsage', {
        workflowId: quotaUsageId(target),
        taskQueue: taskQueue(target.cluster),
        args: [{ target }],
        signal: usageChanged,
        signalArgs: [request],
        staticSummary: `${targetName(target)} in ${target.cluster}`,
        staticDetails: instructions(target, policy),
        typedSearchAttributes: firstAttributes({
          controller: 'quota-usage',
          target: targetName(target),
          phase: FIRST_PHASE,
          cluster: target.cluster,
        }),
        priority: { priorityKey: priority },
      });
      return;
    }
    try {
      await client.workflow.getHandle(quotaUsageId(target)).signal(usageChanged, request);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, namespace, quota }: QuotaTarget, { mode }: UsagePolicy): string {
  const what =
    mode === 'own'
      ? `Tells why the status of the ResourceQuota ${quota} of the namespace ${namespace} in ${cluster} is not what is used: what keeps Headroom from writing it, or from counting. It ends when the status is true.`
      : `Checks whether the status of the ResourceQuota ${quota} of the namespace ${namespace} in ${cluster} says what is used, and tells when it stays wrong.`;
  return [
    what,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...Object.entries(commandDescriptions).map(([name, shown]) => `- **${name}**: ${shown}`),
  ].join('\n');
}
