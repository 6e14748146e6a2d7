/** The workflow of the resizer on a real Temporal, with activities that answer what a test says. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import type { QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import { activityTaskQueue, taskQueue } from '../../domain/kernel/target.ts';
import type { PullRequestObservation, QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';
import { startTemporal } from '../kernel/servers/temporal.ts';

/** What activities of this type answered in the history of a pull request that was merged. */
export async function answers<T>(type: string): Promise<readonly T[]> {
  const file = new URL(`../replay/histories/0.2.0/quota-resize/threshold-merged.json`, import.meta.url);
  const { events } = JSON.parse(await readFile(file, 'utf8')) as { readonly events: readonly RecordedEvent[] };
  const types = new Map<string, string>();
  const found: T[] = [];
  for (const {
    eventId,
    activityTaskScheduledEventAttributes: asked,
    activityTaskCompletedEventAttributes: done,
  } of events) {
    if (asked !== undefined) types.set(eventId, asked.activityType.name);
    const data = done?.result?.payloads[0]?.data;
    if (data !== undefined && types.get(done?.scheduledEventId ?? '') === type) {
      found.push(JSON.parse(Buffer.from(data, 'base64').toString()) as T);
    }
  }
  return found;
}

interface RecordedEvent {
  readonly eventId: string;
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { readonly name: string } };
  readonly activityTaskCompletedEventAttributes?: {
    readonly scheduledEventId: string;
    readonly result?: { readonly payloads: readonly { readonly data: string }[] };
  };
}

export const timings = {
  demandSettle: 300,
  settle: 0,
  updateInterval: 60_000,
  needGone: 60_000,
  holdRetry: 300_000,
  syncOverdue: 1_200_000,
  recommendationRepeat: 86_400_000,
};

export type Handle = WorkflowHandle<typeof quotaResize>;

/** An open pull request, and the quota that it is for. */
export async function openPullRequest(): Promise<{
  readonly open: QuotaObservation;
  readonly pullRequest: PullRequestObservation;
}> {
  const [pullRequest] = await answers<PullRequestObservation>('observePullRequest');
  const open = (await answers<QuotaObservation>('observeQuota')).find(
    ({ lease }) => lease.decision?.merge === null && lease.decision.pullRequest !== null,
  );
  if (open === undefined || pullRequest === undefined) throw new Error('the recording has no open pull request');
  return { open, pullRequest };
}

export interface FakedActivities {
  /** Starts an episode in this cluster, and ends it when `run` is over. */
  readonly during: (
    cluster: string,
    activities: Partial<QuotaResizeActivities>,
    run: (handle: Handle) => Promise<void>,
  ) => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** @param workflowsPath of the workflows; absent: as they are. */
export async function fakedActivities(
  workflowsPath: string = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)),
): Promise<FakedActivities> {
  const server = await startTemporal();
  const connection = await Connection.connect({ address: server.address });
  const native = await NativeConnection.connect({ address: server.address });
  const workflowBundle = await bundleWorkflowCode({ workflowsPath });
  return {
    async during(cluster, activities, run) {
      const target = { cluster, namespace: 'team-a', quota: 'compute' };
      const shared = {
        connection: native,
        namespace: server.namespace,
        shutdownGraceTime: 0,
        shutdownForceTime: '2s',
      } as const;
      const workflows = await Worker.create({ ...shared, taskQueue: taskQueue(cluster), workflowBundle });
      const queue = activityTaskQueue(taskQueue(cluster), 'quota-resize');
      const worker = await Worker.create({ ...shared, taskQueue: queue, activities });
      const client = new Client({ connection, namespace: server.namespace });
      const start = {
        workflowId: quotaResizeId(target),
        taskQueue: taskQueue(cluster),
        args: [{ target }] as [{ target: typeof target }],
      };
      const handle = await client.workflow.start<typeof quotaResize>('quotaResize', start);
      await workflows.runUntil(worker.runUntil(run(handle)));
      await handle.terminate().catch(() => undefined);
    },
    async stop() {
      await native.close();
      await connection.close();
      await server.stop();
    },
  };
}
