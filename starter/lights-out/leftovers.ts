/** Workflows of schedules that went while nobody watched. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { lightsOutId } from '../../domain/kernel/target.ts';
import type { Log } from '../../worker/kernel/log.ts';
import { type ScheduleQueuedHint, scheduleHint } from './hint.ts';

export interface LeftoverOptions {
  readonly client: Client;
  readonly cluster: string;
  /** The names of the schedules that there are; null where that is not known now. */
  readonly schedules: () => ReadonlySet<string> | null;
  readonly hint: (hint: ScheduleQueuedHint) => void;
  /** Looked for again after this long, in milliseconds, in case a hint was lost. */
  readonly resyncMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until the schedules are listed for the first time, in milliseconds. */
const SOON_MS = 1_000;

/**
 * Tells the workflows whose schedule is gone, at the start and now and then, until the signal: no watch tells of what was
 * deleted while it was not there, and a schedule that never put anything to sleep has no finalizer that would wait for it.
 */
export async function tellLeftovers({ schedules, hint, ...options }: LeftoverOptions): Promise<void> {
  const { cluster, resyncMs, log, signal } = options;
  for (let rest = SOON_MS; !signal.aborted; ) {
    await sleep(rest, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      // The workflows first: whichever of them has a schedule by then is in the list that follows.
      const running = await listRunning(options);
      const known = schedules();
      if (known === null) continue;
      for (const schedule of running) {
        if (!known.has(schedule)) hint(scheduleHint({ cluster, schedule }, 'the schedule is gone', ''));
      }
      rest = resyncMs;
    } catch (error) {
      log.warn({ err: error }, 'the workflows of the schedules cannot be listed');
      rest = resyncMs;
    }
  }
}

async function listRunning({ client, cluster }: Pick<LeftoverOptions, 'client' | 'cluster'>): Promise<string[]> {
  const prefix = lightsOutId({ cluster, schedule: '' });
  const query = `WorkflowType = 'lightsOut' AND ExecutionStatus = 'Running' AND HeadroomCluster = '${cluster.replaceAll("'", '')}'`;
  const found: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (workflowId.startsWith(prefix)) found.push(workflowId.slice(prefix.length));
  }
  return found;
}
