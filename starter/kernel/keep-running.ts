import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { taskQueue } from '../../domain/kernel/target.ts';
import type { Log } from '../../platform/log/log.ts';

interface SeenObject {
  readonly name: string;
  readonly resourceVersion: string;
}

export interface KeepRunningOptions {
  readonly client: Client;
  readonly cluster: string;
  readonly workflowType: string;
  /** What the ids of these workflows begin with; a name follows. */
  readonly idPrefix: string;
  /** What they are about, in the plural, for people. */
  readonly subjects: string;
  /** Every object that was seen last. */
  readonly seen: () => readonly SeenObject[];
  /** The names of the objects that there are; null where that is not known now. */
  readonly existing: () => ReadonlySet<string> | null;
  /** Requests that the object's workflow runs. */
  readonly onMissing: (object: SeenObject) => void;
  /** Tells the workflow of an object that is gone. */
  readonly onGone: (name: string) => void;
  /** How often Temporal is asked, in milliseconds. */
  readonly everyMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until the objects are listed for the first time, and after the first failure twice as long, in milliseconds. */
const SOON_MS = 1_000;

/**
 * Keeps the objects of a kind and their workflows consistent, with one query of the running workflows each time:
 *
 * - Every object has a running workflow, even if there is nothing to do: somebody may have terminated it, and without
 * it commands, transitions and deletions would not be handled.
 * - The workflow of a deleted object gets a reconcile request: a watch reports no deletion that happened while it was
 * disconnected, and an object for which nothing was done has no finalizer. This is also checked at start.
 *
 * Resolves after the signal; never rejects.
 */
export async function keepRunning(options: KeepRunningOptions): Promise<void> {
  const { subjects, seen: seenNow, existing, onMissing, onGone, everyMs, log, signal } = options;
  let isFailing = false;
  let pauseMs = Math.min(SOON_MS, everyMs);
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    // Read before the query: an object created during the query has a reconcile request of its own.
    const seen = seenNow();
    try {
      const running = await runningNames(options);
      if (isFailing) log.info(`Temporal lists again which ${subjects} have a workflow`);
      isFailing = false;
      const missing = seen.filter(({ name }) => !running.has(name));
      for (const object of missing) onMissing(object);
      // Read after the query, so that objects created meanwhile are included.
      const there = existing();
      if (there === null) continue;
      pauseMs = everyMs;
      for (const name of running) {
        if (!there.has(name)) onGone(name);
      }
    } catch (error) {
      if (!isFailing && !signal.aborted) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason }, `Temporal does not list which ${subjects} have a workflow: ${reason}`);
      }
      isFailing = true;
      // Deletions that nobody watched wait for the first answer; the backoff grows, because Temporal may be unavailable
      // for long.
      pauseMs = Math.min(pauseMs * 2, everyMs);
    }
  }
}

/** The names of the objects whose workflow runs in the cluster. */
async function runningNames({
  client,
  cluster,
  workflowType,
  idPrefix,
}: KeepRunningOptions): Promise<ReadonlySet<string>> {
  // Fields that Temporal knows from the start: a workflow sets Headroom's search attributes only when a worker runs it.
  const query = `WorkflowType = '${workflowType}' AND TaskQueue = '${taskQueue(cluster)}' AND ExecutionStatus = 'Running'`;
  const running = new Set<string>();
  for await (const { workflowId } of client.workflow.list({ query })) {
    if (workflowId.startsWith(idPrefix)) running.add(workflowId.slice(idPrefix.length));
  }
  return running;
}
