import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { taskQueue } from '../../domain/kernel/target.ts';
import { memcachedId, memcachedName, type MemcachedTarget } from '../../domain/memcached/target.ts';
import type { Log } from '../../platform/log/log.ts';

export interface EndGoneOptions {
  readonly client: Client;
  readonly cluster: string;
  /** The Memcacheds that there are, as `<namespace>/<name>`; null while that is not known. */
  readonly existing: () => ReadonlySet<string> | null;
  readonly onGone: (target: MemcachedTarget) => void;
  /** How often Temporal is asked, in milliseconds. */
  readonly everyMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until the Memcacheds are listed for the first time, in milliseconds. */
const SOON_MS = 1_000;

/**
 * Finds episodes of Memcacheds that were deleted while nobody watched: nothing else would ever end them. Resolves after the
 * signal; never rejects.
 */
export async function watchGone({
  client,
  cluster,
  existing,
  onGone,
  everyMs,
  log,
  signal,
}: EndGoneOptions): Promise<void> {
  let pauseMs = Math.min(SOON_MS, everyMs);
  for (;;) {
    await sleep(pauseMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    try {
      const running = await runningTargets(client, cluster);
      // Read after the query, so that those created meanwhile are included.
      const there = existing();
      if (there === null) continue;
      pauseMs = everyMs;
      for (const target of running) if (!there.has(memcachedName(target))) onGone(target);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!signal.aborted) log.warn({ reason }, `Temporal does not list the episodes of Memcacheds: ${reason}`);
      pauseMs = Math.min(pauseMs * 2, everyMs);
    }
  }
}

async function runningTargets(client: Client, cluster: string): Promise<readonly MemcachedTarget[]> {
  const prefix = memcachedId({ cluster, namespace: '', name: '' }).slice(0, -1);
  // Fields that Temporal knows from the start.
  const query = `WorkflowType = 'memcached' AND TaskQueue = '${taskQueue(cluster)}' AND ExecutionStatus = 'Running'`;
  const running: MemcachedTarget[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) {
    const [namespace, name] = workflowId.startsWith(prefix) ? workflowId.slice(prefix.length).split('/') : [];
    if (namespace !== undefined && name !== undefined) running.push({ cluster, namespace, name });
  }
  return running;
}
