import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, TypedSearchAttributes } from '@temporalio/common';
import { type QuotaTarget, quotaUsageId, targetName, taskQueue } from '../../domain/kernel/target.ts';
import type { Reached, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import {
  commandDescriptions,
  FIRST_PHASE,
  usageChanged,
  type UsageHint,
} from '../../workflows/quota-usage/messages.ts';
import type { quotaUsage } from '../../workflows/quota-usage/workflow.ts';
import type { QueuedHint } from '../kernel/hint-queue.ts';

/**
 * Temporal's priority keys, from 1 (people) to 5: a quota that admission cannot judge yet comes before one whose number is
 * only late, and what a resync finds comes after both.
 */
export const hintPriorities = { urgent: 2, ordinary: 3, resync: 4 } as const;

export interface UsageQueuedHint extends QueuedHint {
  readonly target: QuotaTarget;
  /** How far this starter's caches had come. */
  readonly reached: Reached;
  readonly priority: number;
  /** The quota is not there any more. */
  readonly isGone?: boolean;
}

/** A hint for the usage episode of a quota; one that does not start goes to a running episode only. */
export function usageHint(
  target: QuotaTarget,
  hint: Pick<UsageQueuedHint, 'starts' | 'cause' | 'reached' | 'priority' | 'isGone'>,
): UsageQueuedHint {
  return { ...hint, id: quotaUsageId(target), target, resourceVersion: hint.reached['resourcequotas'] ?? '' };
}

/**
 * Sends a hint; one that starts begins an episode when none runs. The search attributes are written with the start, which
 * saves the episode an action of its own.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createUsageHintSender(client: Client, policy: UsagePolicy): (hint: UsageQueuedHint) => Promise<void> {
  return async ({ id, target, starts, cause, reached, priority, isGone = false }) => {
    const hint: UsageHint = { cause, reached, priority, ...(isGone ? { isGone } : {}) };
    if (starts) {
      await client.workflow.signalWithStart<typeof quotaUsage, [UsageHint]>('quotaUsage', {
        workflowId: id,
        taskQueue: taskQueue(target.cluster),
        args: [{ target }],
        signal: usageChanged,
        signalArgs: [hint],
        staticSummary: `${targetName(target)} in ${target.cluster}`,
        staticDetails: instructions(target, policy),
        typedSearchAttributes: searchAttributes(target),
        priority: { priorityKey: priority },
      });
      return;
    }
    try {
      await client.workflow.getHandle(id).signal(usageChanged, hint);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}

function searchAttributes(target: QuotaTarget): TypedSearchAttributes {
  const values = {
    HeadroomController: 'quota-usage',
    HeadroomTarget: targetName(target),
    HeadroomPhase: FIRST_PHASE,
    HeadroomCluster: target.cluster,
  };
  return new TypedSearchAttributes(
    Object.entries(values).map(([name, value]) => ({ key: defineSearchAttributeKey(name, 'KEYWORD'), value })),
  );
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, namespace, quota }: QuotaTarget, { mode }: UsagePolicy): string {
  const what =
    mode === 'own'
      ? `Writes what the namespace ${namespace} in ${cluster} uses into the status of its ResourceQuota ${quota}: from a change to a true status.`
      : `Checks whether the status of the ResourceQuota ${quota} of the namespace ${namespace} in ${cluster} says what is used, and tells when it stays wrong.`;
  return [
    what,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...Object.entries(commandDescriptions).map(([name, says]) => `- **${name}**: ${says}`),
  ].join('\n');
}
