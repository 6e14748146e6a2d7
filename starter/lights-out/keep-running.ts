import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { lightsOutId, type ScheduleTarget, taskQueue } from '../../domain/kernel/target.ts';
import type { Log } from '../../worker/kernel/log.ts';
import { type ScheduleQueuedHint, startHint } from './hint.ts';

export interface KeepRunningOptions {
  readonly client: Client;
  readonly cluster: string;
  /** Every schedule that is known now. */
  readonly schedules: () => readonly { readonly name: string; readonly resourceVersion: string }[];
  readonly hint: (hint: ScheduleQueuedHint) => void;
  /** How often Temporal is asked, in milliseconds. */
  readonly everyMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Sees to it that the workflow of every schedule runs, also of one that has nothing to do: somebody may have terminated it,
 * and without it no command arrives, no transition is in time, and no deletion ends. One query each time, of what runs.
 * Resolves after the signal; never rejects.
 */
export async function keepRunning({
  client,
  cluster,
  schedules,
  hint,
  everyMs,
  log,
  signal,
}: KeepRunningOptions): Promise<void> {
  let isFailing = false;
  for (;;) {
    await sleep(everyMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    // Before the question: one that is made while it is answered has a hint of its own.
    const known = schedules();
    try {
      const running = await runningSchedules(client, cluster);
      if (isFailing) log.info('Temporal says again which schedules have a workflow');
      isFailing = false;
      for (const { name: schedule, resourceVersion } of known) {
        const target = { cluster, schedule };
        if (!running.has(lightsOutId(target))) hint(startHint(target, 'its workflow does not run', resourceVersion));
      }
    } catch (error) {
      if (!isFailing && !signal.aborted) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason }, `Temporal does not say which schedules have a workflow: ${reason}`);
      }
      isFailing = true;
    }
  }
}

/** The ids of the workflows of schedules that run in the cluster. */
async function runningSchedules(client: Client, cluster: ScheduleTarget['cluster']): Promise<ReadonlySet<string>> {
  // What Temporal itself knows from the start: a workflow gives itself Headroom's attributes when a worker comes to it.
  const query = `WorkflowType = 'lightsOut' AND TaskQueue = '${taskQueue(cluster)}' AND ExecutionStatus = 'Running'`;
  const running = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query })) running.add(workflowId);
  return running;
}
