import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import type { Log } from '../../platform/log/log.ts';
import { type QueuedScheduleRequest, scheduleRequest, startRequest } from './reconcile-request.ts';

export interface KeepRunningOptions {
  readonly client: Client;
  readonly cluster: string;
  /** Every schedule that was seen last. */
  readonly schedules: () => readonly { readonly name: string; readonly resourceVersion: string }[];
  /** The names of the schedules that there are; null where that is not known now. */
  readonly existing: () => ReadonlySet<string> | null;
  readonly request: (request: QueuedScheduleRequest) => void;
  /** How often Temporal is asked, in milliseconds. */
  readonly everyMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until the schedules are listed for the first time, and after the first failure twice as long, in milliseconds. */
const SOON_MS = 1_000;

/**
 * Sees to it that schedules and workflows belong together, with one query each time of what runs:
 *
 * - The workflow of every schedule runs, also of one that has nothing to do: somebody may have terminated it, and without it
 *   no command arrives, no transition is in time, and no deletion ends.
 * - The workflow of a schedule that is gone gets a reconcile request: no watch reports what was deleted while it was not connected, and a schedule that
 *   never put anything to sleep has no finalizer that would wait for it. This is asked at the start as well.
 *
 * Resolves after the signal; never rejects.
 */
export async function keepRunning({
  client,
  cluster,
  schedules,
  existing,
  request,
  everyMs,
  log,
  signal,
}: KeepRunningOptions): Promise<void> {
  let isFailing = false;
  let isFirst = true;
  let pauseMs = Math.min(SOON_MS, everyMs);
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    // Before the question: one that is made while it is answered has a reconcile request of its own.
    const seen = schedules();
    try {
      const running = await runningSchedules(client, cluster);
      if (isFailing) log.info('Temporal says again which schedules have a workflow');
      isFailing = false;
      // At the start each schedule that is listed is asked to reconcile anyway.
      const missing = isFirst ? [] : seen.filter(({ name }) => !running.has(name));
      for (const { name: schedule, resourceVersion } of missing) {
        request(startRequest({ cluster, schedule }, 'its workflow does not run', resourceVersion));
      }
      // After it: whichever of the workflows has a schedule by then is among these.
      const there = existing();
      if (there === null) continue;
      isFirst = false;
      pauseMs = everyMs;
      for (const schedule of running) {
        if (!there.has(schedule)) request(scheduleRequest({ cluster, schedule }, 'the schedule is gone', ''));
      }
    } catch (error) {
      if (!isFailing && !signal.aborted) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason }, `Temporal does not say which schedules have a workflow: ${reason}`);
      }
      isFailing = true;
      isFirst = false;
      // What was deleted while nobody watched waits for the first answer; ever longer, as Temporal may be away for a
      // night.
      pauseMs = Math.min(pauseMs * 2, everyMs);
    }
  }
}

/** The schedules whose workflow runs in the cluster. */
async function runningSchedules(client: Client, cluster: string): Promise<ReadonlySet<string>> {
  const prefix = lightsOutId({ cluster, schedule: '' });
  // What Temporal itself knows from the start: a workflow gives itself Headroom's attributes when a worker comes to it.
  const query = `WorkflowType = 'lightsOut' AND TaskQueue = '${taskQueue(cluster)}' AND ExecutionStatus = 'Running'`;
  const running = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (workflowId.startsWith(prefix)) running.add(workflowId.slice(prefix.length));
  }
  return running;
}
