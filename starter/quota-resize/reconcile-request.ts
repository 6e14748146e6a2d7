import { priorities } from '../../domain/kernel/priority.ts';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type QuotaTarget, targetName, taskQueue } from '../../domain/kernel/target.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import {
  commandDescriptions,
  pullRequestChanged,
  quotaChanged,
  quotaPressureSeen,
  type ReconcileRequest,
} from '../../workflows/quota-resize/messages.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

interface AnyQuotaRequest extends QueuedRequest {
  readonly target: QuotaTarget;
}

/** A request about the quota, or about the pull request of its decision. */
export type QuotaRequest =
  | (AnyQuotaRequest & { readonly about: 'quota'; readonly resourceVersion: string })
  | (AnyQuotaRequest & { readonly about: 'pullRequest'; readonly delivery: string });

/**
 * A reconcile request for a quota's episode. One that starts an episode reports pressure, one that does not reports a
 * change.
 */
export function quotaRequest(
  target: QuotaTarget,
  starts: boolean,
  cause: string,
  resourceVersion: string,
): QuotaRequest {
  return { coalescingKey: quotaResizeId(target), target, about: 'quota', starts, cause, resourceVersion };
}

/**
 * A request that the pull request of a quota's decision changed; it never starts an episode.
 *
 * @param delivery the id of GitHub's delivery, for people who read the history.
 */
export function pullRequestRequest(target: QuotaTarget, cause: string, delivery: string): QuotaRequest {
  // Separate from the quota's own requests, so that neither kind replaces the other in the queue.
  const coalescingKey = `${quotaResizeId(target)} (pull request)`;
  return { coalescingKey, target, about: 'pullRequest', starts: false, cause, delivery };
}

/**
 * A base branch moves with every merge by anybody, and each time all open pull requests may be behind or in conflict.
 * That is not urgent, so each gets such a request rarely, and not all at the same moment.
 */
const BASE_GAP_MS = 5 * 60_000;

/** A request that the base of the pull request moved, coalesced over minutes. */
export function baseRequest(target: QuotaTarget, cause: string, delivery: string): QuotaRequest {
  const coalescingKey = `${quotaResizeId(target)} (base)`;
  const gapMs = BASE_GAP_MS * (1 + Math.random() / 5);
  return { coalescingKey, target, about: 'pullRequest', starts: false, cause, delivery, gapMs };
}

/**
 * Sends a reconcile request. Pressure starts an episode when none runs (at most one runs with this id); a mere change
 * only goes to a running one. A request with both starts an episode, or wakes one that ignores pressure alone.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createQuotaRequestSender(client: Client): (request: QuotaRequest) => Promise<void> {
  return async (request) => {
    const { target, starts, signals = !starts } = request;
    const workflow = client.workflow.getHandle<typeof quotaResize>(quotaResizeId(target));
    try {
      if (request.about === 'pullRequest') {
        const { cause, delivery } = request;
        await workflow.signal(pullRequestChanged, { cause, delivery });
        return;
      }
      const { cause, resourceVersion } = request;
      if (!starts) {
        await workflow.signal(quotaChanged, { cause, resourceVersion });
        return;
      }
      await client.workflow.signalWithStart<typeof quotaResize, [ReconcileRequest]>('quotaResize', {
        workflowId: workflow.workflowId,
        taskQueue: taskQueue(target.cluster),
        args: [{ target }],
        signal: signals ? quotaChanged : quotaPressureSeen,
        signalArgs: [{ cause, resourceVersion }],
        staticSummary: `${targetName(target)} in ${target.cluster}`,
        staticDetails: instructions(target),
        priority: { priorityKey: priorities.routine },
      });
    } catch (error) {
      // A request that starts nothing is for a running workflow only.
      if (starts || !(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, namespace, quota }: QuotaTarget): string {
  const commands = Object.entries(commandDescriptions).map(([name, description]) => `- **${name}**: ${description}`);
  return [
    `Keeps the ResourceQuota ${quota} of the namespace ${namespace} in ${cluster} large enough: from pressure to the end of the cooldown.`,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...commands,
  ].join('\n');
}
