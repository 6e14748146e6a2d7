import type { Client } from '@temporalio/client';
import { priorities } from '../../domain/kernel/priority.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import { nodeGroupId, type NodeGroupTarget } from '../../domain/node-group/target.ts';
import {
  commandDescriptions,
  FIRST_PHASE,
  nodeGroupChanged,
  type NodeGroupRequest,
} from '../../workflows/node-group/messages.ts';
import type { nodeGroup } from '../../workflows/node-group/workflow.ts';
import { firstAttributes } from '../../workflows/kernel/first-attributes.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

export interface QueuedNodeGroupRequest extends QueuedRequest {
  readonly target: NodeGroupTarget;
  readonly resourceVersion: string;
}

/** A reconcile request that a group or its part of the plan changed. */
export function nodeGroupRequest(
  target: NodeGroupTarget,
  cause: string,
  resourceVersion: string,
): QueuedNodeGroupRequest {
  return { coalescingKey: nodeGroupId(target), target, starts: true, cause, resourceVersion };
}

/**
 * Sends a reconcile request; it starts the group's workflow when none runs, also for a group that is gone: it then ends at once.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createNodeGroupRequestSender(client: Client): (request: QueuedNodeGroupRequest) => Promise<void> {
  return async ({ target, cause, resourceVersion }) => {
    await client.workflow.signalWithStart<typeof nodeGroup, [NodeGroupRequest]>('nodeGroup', {
      workflowId: nodeGroupId(target),
      taskQueue: taskQueue(target.cluster),
      args: [{ target }],
      signal: nodeGroupChanged,
      signalArgs: [{ cause, resourceVersion }],
      staticSummary: `${target.group} in ${target.cluster}`,
      staticDetails: instructions(target),
      typedSearchAttributes: firstAttributes({
        controller: 'node-group',
        target: target.group,
        phase: FIRST_PHASE,
        cluster: target.cluster,
      }),
      priority: { priorityKey: priorities.routine },
    });
  };
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, group }: NodeGroupTarget): string {
  return [
    `Gives the NodeGroup ${group} in ${cluster} the nodes that its pods need, and takes back those that they do not.`,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out), for `drain` also `"node"`:',
    '',
    ...Object.entries(commandDescriptions).map(([name, description]) => `- **${name}**: ${description}`),
  ].join('\n');
}
