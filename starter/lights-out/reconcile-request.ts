import { priorities } from '../../domain/kernel/priority.ts';
import type { Client } from '@temporalio/client';
import { lightsOutId, type ScheduleTarget } from '../../domain/lights-out/target.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import {
  commandDescriptions,
  type ScheduleRequest,
  scheduleChanged,
  workloadsChanged,
} from '../../workflows/lights-out/messages.ts';
import type { lightsOut } from '../../workflows/lights-out/workflow.ts';
import type { QueuedRequest } from '../kernel/work-queue.ts';

/**
 * What the reconcile request is about: that the schedule itself changed, or that something in its scope did. `start`:
 * nothing; it is only to run.
 */
type ScheduleRequestKind = 'schedule' | 'workloads' | 'start';

export interface QueuedScheduleRequest extends QueuedRequest {
  readonly target: ScheduleTarget;
  readonly about: ScheduleRequestKind;
}

/**
 * The shortest time between two reconcile requests about the workloads of a schedule, in milliseconds. What GitOps puts
 * up every few seconds, or a rollout of hundreds of workloads, is one look in this span.
 */
const WORKLOADS_GAP_MS = 10_000;
/** Of a dry run, in milliseconds: nothing is done, only the list of what would be done becomes another. */
const DRY_RUN_GAP_MS = 60_000;

/** A reconcile request that a schedule appeared, changed or is gone. */
export function scheduleRequest(target: ScheduleTarget, cause: string, resourceVersion: string): QueuedScheduleRequest {
  return { id: lightsOutId(target), target, about: 'schedule', starts: true, cause, resourceVersion };
}

/**
 * A reconcile request that something is not as the schedule wants it; at most one in ten seconds, of a dry run one in a
 * minute.
 */
export function workloadsRequest(
  target: ScheduleTarget,
  { cause, resourceVersion, isDryRun }: ScheduleRequest & { readonly isDryRun: boolean },
): QueuedScheduleRequest {
  // Beside the schedule's own reconcile requests, so that neither kind takes the place of the other in the queue.
  const id = `${lightsOutId(target)} (workloads)`;
  const gapMs = isDryRun ? DRY_RUN_GAP_MS : WORKLOADS_GAP_MS;
  return { id, target, about: 'workloads', starts: true, cause, resourceVersion, gapMs };
}

/** A reconcile request that the workflow of a schedule is to run; one that runs does not notice it. */
export function startRequest(target: ScheduleTarget, cause: string, resourceVersion: string): QueuedScheduleRequest {
  const id = `${lightsOutId(target)} (start)`;
  return { id, target, about: 'start', starts: true, cause, resourceVersion };
}

/**
 * Sends a reconcile request; it starts the schedule's workflow when none runs, also for a schedule that is gone: what
 * it put down is still to be restored.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createScheduleRequestSender(client: Client): (request: QueuedScheduleRequest) => Promise<void> {
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
    await client.workflow.signalWithStart<typeof lightsOut, [ScheduleRequest]>('lightsOut', {
      ...begin,
      signal: about === 'schedule' ? scheduleChanged : workloadsChanged,
      signalArgs: [{ cause, resourceVersion }],
    });
  };
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
