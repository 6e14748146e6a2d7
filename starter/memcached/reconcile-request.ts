import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { priorities } from '../../domain/kernel/priority.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import { memcachedId, memcachedName, type MemcachedTarget } from '../../domain/memcached/target.ts';
import {
  commandDescriptions,
  FIRST_PHASE,
  memcachedChanged,
  type MemcachedRequest,
} from '../../workflows/memcached/messages.ts';
import type { memcached } from '../../workflows/memcached/workflow.ts';
import { firstAttributes } from '../../workflows/kernel/first-attributes.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

export interface QueuedMemcachedRequest extends QueuedRequest {
  readonly target: MemcachedTarget;
  readonly resourceVersion: string;
}

/** A reconcile request for a Memcached that is not as specified. */
export function memcachedRequest(
  target: MemcachedTarget,
  cause: string,
  resourceVersion: string,
): QueuedMemcachedRequest {
  return { coalescingKey: memcachedId(target), target, starts: true, cause, resourceVersion };
}

/** A reconcile request for one that was deleted: only an episode that runs has to know. */
export function goneRequest(target: MemcachedTarget): QueuedMemcachedRequest {
  const cause = 'the Memcached is gone';
  return { coalescingKey: `${memcachedId(target)} (gone)`, target, starts: false, cause, resourceVersion: '' };
}

/**
 * Sends a reconcile request; one with `starts` starts an episode when none runs. The search attributes are set at the
 * start, which saves the workflow a billed action.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createMemcachedRequestSender(client: Client): (request: QueuedMemcachedRequest) => Promise<void> {
  return async ({ target, starts, cause, resourceVersion }) => {
    const request: MemcachedRequest = { cause, resourceVersion, ...(starts ? {} : { isGone: true }) };
    if (starts) {
      await client.workflow.signalWithStart<typeof memcached, [MemcachedRequest]>('memcached', {
        workflowId: memcachedId(target),
        taskQueue: taskQueue(target.cluster),
        args: [{ target }],
        signal: memcachedChanged,
        signalArgs: [request],
        staticSummary: `${memcachedName(target)} in ${target.cluster}`,
        staticDetails: instructions(target),
        typedSearchAttributes: firstAttributes({
          controller: 'memcached',
          target: memcachedName(target),
          phase: FIRST_PHASE,
          cluster: target.cluster,
        }),
        priority: { priorityKey: priorities.routine },
      });
      return;
    }
    try {
      await client.workflow.getHandle(memcachedId(target)).signal(memcachedChanged, request);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, namespace, name }: MemcachedTarget): string {
  return [
    `Makes the objects of the Memcached ${name} in the namespace ${namespace} of ${cluster} what it specifies, and waits for its pods.`,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...Object.entries(commandDescriptions).map(([command, shown]) => `- **${command}**: ${shown}`),
  ].join('\n');
}
