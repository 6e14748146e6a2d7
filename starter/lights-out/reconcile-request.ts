import { priorities } from '../../domain/kernel/priority.ts';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { lightsOutId, type ScheduleTarget } from '../../domain/lights-out/target.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import {
  commandDescriptions,
  type ScheduleRequest,
  scheduleChanged,
  workloadsChanged,
} from '../../workflows/lights-out/messages.ts';
import type { lightsOut } from '../../workflows/lights-out/workflow.ts';
import type { Log } from '../../platform/log/log.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

/**
 * The subject of the request: the schedule itself changed, or something in its scope did. `start`: only make sure that
 * the workflow runs. `orphan`: the schedule does not exist, and a workload says that it put it to sleep.
 */
type ScheduleRequestKind = 'schedule' | 'workloads' | 'start' | 'orphan';

export interface QueuedScheduleRequest extends QueuedRequest {
  readonly target: ScheduleTarget;
  readonly about: ScheduleRequestKind;
  readonly resourceVersion: string;
}

/**
 * Minimum milliseconds between two requests about the workloads of a schedule: repeated changes by GitOps, or a rollout
 * of hundreds of workloads, cause one observation in this time.
 */
const WORKLOADS_GAP_MS = 10_000;
/** For a dry run, in milliseconds: only the list of planned changes is updated. */
const DRY_RUN_GAP_MS = 60_000;

/** A reconcile request that a schedule appeared, changed or is gone. */
export function scheduleRequest(target: ScheduleTarget, cause: string, resourceVersion: string): QueuedScheduleRequest {
  return { coalescingKey: lightsOutId(target), target, about: 'schedule', starts: true, cause, resourceVersion };
}

/**
 * A reconcile request that something is not as the schedule wants it; at most one in ten seconds, of a dry run one in a
 * minute.
 */
export function workloadsRequest(
  target: ScheduleTarget,
  { cause, resourceVersion, isDryRun }: ScheduleRequest & { readonly isDryRun: boolean },
): QueuedScheduleRequest {
  // Separate from the schedule's own requests, so that neither kind replaces the other in the queue.
  const coalescingKey = `${lightsOutId(target)} (workloads)`;
  const gapMs = isDryRun ? DRY_RUN_GAP_MS : WORKLOADS_GAP_MS;
  return { coalescingKey, target, about: 'workloads', starts: true, cause, resourceVersion, gapMs };
}

/**
 * A request to wake what a schedule left asleep that does not exist any more. It is sent only where the schedule had a
 * workflow: anybody may write a name into an annotation.
 */
export function orphanRequest(target: ScheduleTarget, cause: string, resourceVersion: string): QueuedScheduleRequest {
  const coalescingKey = `${lightsOutId(target)} (orphan)`;
  return { coalescingKey, target, about: 'orphan', starts: true, cause, resourceVersion };
}

/** A request that makes sure that a schedule's workflow runs; a running workflow does not notice it. */
export function startRequest(target: ScheduleTarget, cause: string, resourceVersion: string): QueuedScheduleRequest {
  const coalescingKey = `${lightsOutId(target)} (start)`;
  return { coalescingKey, target, about: 'start', starts: true, cause, resourceVersion };
}

/**
 * Sends a reconcile request. It starts the schedule's workflow when none runs, even for a deleted schedule: what it put
 * to sleep still has to be restored.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createScheduleRequestSender(
  client: Client,
  log: Log,
): (request: QueuedScheduleRequest) => Promise<void> {
  return async ({ target, about, cause, resourceVersion }) => {
    const begin = {
      workflowId: lightsOutId(target),
      taskQueue: taskQueue(target.cluster),
      args: [{ target }] satisfies Parameters<typeof lightsOut>,
      staticSummary: `${target.schedule} in ${target.cluster}`,
      staticDetails: instructions(target),
      priority: { priorityKey: priorities.routine },
    };
    if (about === 'start') {
      await client.workflow.start<typeof lightsOut>('lightsOut', {
        ...begin,
        workflowIdConflictPolicy: 'USE_EXISTING',
      });
      return;
    }
    if (about === 'orphan' && !(await hadWorkflow(client, begin.workflowId))) {
      log.warn({ schedule: target.schedule, cause }, 'nothing is woken for a schedule that never had a workflow');
      return;
    }
    await client.workflow.signalWithStart<typeof lightsOut, [ScheduleRequest]>('lightsOut', {
      ...begin,
      signal: about === 'workloads' ? workloadsChanged : scheduleChanged,
      signalArgs: [{ cause, resourceVersion }],
    });
  };
}

/** Whether a workflow with this id runs or ran, as far back as Temporal keeps histories. */
async function hadWorkflow(client: Client, workflowId: string): Promise<boolean> {
  try {
    await client.workflow.getHandle(workflowId).describe();
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Markdown for the Temporal UI: what this is, and what an operator may do here. */
function instructions({ cluster, schedule }: ScheduleTarget): string {
  return [
    `Puts the workloads of the LightsOutSchedule ${schedule} in ${cluster} to sleep and wakes them as they were.`,
    '',
    'Signals and updates, with input such as `{"by": "alice", "reason": "agreed"}` (both may be left out):',
    '',
    ...Object.entries(commandDescriptions).map(([name, description]) => `- **${name}**: ${description}`),
  ].join('\n');
}
