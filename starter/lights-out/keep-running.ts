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
 * Keeps schedules and workflows consistent, with one query of the running workflows each time:
 *
 * - Every schedule has a running workflow, even if there is nothing to do: somebody may have terminated it, and without
 * it commands, transitions and deletions would not be handled.
 * - The workflow of a deleted schedule gets a reconcile request: a watch reports no deletion that happened while it was
 * disconnected, and a schedule that never put anything to sleep has no finalizer. This is also checked at start.
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
    // Read before the query: a schedule created during the query has a reconcile request of its own.
    const seen = schedules();
    try {
      const running = await runningSchedules(client, cluster);
      if (isFailing) log.info('Temporal lists again which schedules have a workflow');
      isFailing = false;
      // At start every listed schedule gets a reconcile request anyway.
      const missing = isFirst ? [] : seen.filter(({ name }) => !running.has(name));
      for (const { name: schedule, resourceVersion } of missing) {
        request(startRequest({ cluster, schedule }, 'its workflow does not run', resourceVersion));
      }
      // Read after the query, so that schedules created meanwhile are included.
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
        log.warn({ reason }, `Temporal does not list which schedules have a workflow: ${reason}`);
      }
      isFailing = true;
      isFirst = false;
      // Deletions that nobody watched wait for the first answer; the backoff grows, because Temporal may be unavailable
      // for long.
      pauseMs = Math.min(pauseMs * 2, everyMs);
    }
  }
}

/** The schedules whose workflow runs in the cluster. */
async function runningSchedules(client: Client, cluster: string): Promise<ReadonlySet<string>> {
  const prefix = lightsOutId({ cluster, schedule: '' });
  // Fields that Temporal knows from the start: a workflow sets Headroom's search attributes only when a worker runs it.
  const query = `WorkflowType = 'lightsOut' AND TaskQueue = '${taskQueue(cluster)}' AND ExecutionStatus = 'Running'`;
  const running = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (workflowId.startsWith(prefix)) running.add(workflowId.slice(prefix.length));
  }
  return running;
}
