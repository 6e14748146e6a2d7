/**
 * What a step has seen of the quota, when something happens between its reading and its answer: the workflow on a real Temporal, with
 * activities that answer when the test says so.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection, type WorkflowHandle } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notYet } from '../../activities/kernel/not-yet.ts';
import type { PullRequestChange, QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import { activityTaskQueue, taskQueue } from '../../domain/kernel/target.ts';
import type { PullRequestObservation, QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { quotaChanged, quotaPressureSeen, status } from '../../workflows/quota-resize/messages.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';
import { startTemporal, type TemporalServer } from '../kernel/servers/temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';

let server: TemporalServer;
let connection: Connection;
let native: NativeConnection;
let workflowBundle: Awaited<ReturnType<typeof bundleWorkflowCode>>;

beforeAll(async () => {
  server = await startTemporal();
  connection = await Connection.connect({ address: server.address });
  native = await NativeConnection.connect({ address: server.address });
  const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
  workflowBundle = await bundleWorkflowCode({ workflowsPath });
});
afterAll(async () => {
  await native?.close();
  await connection?.close();
  await server?.stop();
});

/** What activities of this type answered in the history of a pull request that was merged. */
async function answers<T>(type: string): Promise<readonly T[]> {
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

const timings = {
  demandSettle: 300,
  settle: 0,
  updateInterval: 60_000,
  needGone: 60_000,
  holdRetry: 300_000,
  syncOverdue: 1_200_000,
  recommendationRepeat: 86_400_000,
};

type Handle = WorkflowHandle<typeof quotaResize>;

async function during(
  cluster: string,
  activities: Partial<QuotaResizeActivities>,
  run: (handle: Handle) => Promise<void>,
): Promise<void> {
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
}

/** An episode whose pull request waits for its checks, and what it has done; once frozen it must not merge. */
async function awaitingChecks(
  watch: (observe: () => QuotaObservation) => Promise<Pick<PullRequestChange, 'observation' | 'readAfter'>>,
) {
  const [pullRequest] = await answers<PullRequestObservation>('observePullRequest');
  const open = (await answers<QuotaObservation>('observeQuota')).find(
    ({ lease }) => lease.decision?.merge === null && lease.decision.pullRequest !== null,
  );
  if (open === undefined || pullRequest === undefined) throw new Error('the recording has no open pull request');
  const story = { frozen: false, merges: 0, observations: 0, changed: Promise.withResolvers<void>() };
  const observe = (): QuotaObservation => {
    const until = Date.now() + 3_600_000;
    const { frozen } = story;
    return {
      ...open,
      timings,
      policy: {
        ...open.policy,
        autoMerge: { allowed: true },
        freezeUntil: frozen ? until : null,
      } as QuotaObservation['policy'],
      mergeHold: frozen ? { reason: 'Frozen', until, detail: 'merging is frozen' } : null,
    };
  };
  const activities: Partial<QuotaResizeActivities> = {
    observeQuota: () => {
      story.observations += 1;
      return Promise.resolve(observe());
    },
    observePullRequest: () => Promise.resolve({ ...pullRequest, checks: { total: 1, pending: ['ci'], failing: [] } }),
    awaitPullRequestChange: async () => {
      // Only the first watch finds a change.
      if (story.merges > 0 || story.frozen) throw notYet('nothing changed', 60_000);
      await story.changed.promise;
      return { pullRequest, ...(await watch(observe)) };
    },
    ensureMerged: () => {
      story.merges += 1;
      return Promise.resolve({ kind: 'moved' });
    },
    ensureLeaseUpdated: () => Promise.resolve({}),
    ensureQuotaEvent: () => Promise.resolve('told'),
    ensureComment: () => Promise.resolve(),
  };
  return { story, activities };
}

const waitsForChecks = async (handle: Handle) =>
  await eventually('it waits for the checks', async () => (await handle.query(status)).phase === 'AwaitingChecks');

describe('an observation that a step has brought', () => {
  it('is not taken from the watch of a pull request where the quota was observed, or changed, after it', async () => {
    const read = Promise.withResolvers<void>();
    const { story, activities } = await awaitingChecks(async (observe) => {
      const seen = { readAfter: Date.now(), observation: observe() };
      read.resolve();
      await sleep(700);
      return seen;
    });
    await during('older-watch', activities, async (handle) => {
      await waitsForChecks(handle);
      story.changed.resolve();
      await read.promise;
      story.frozen = true;
      const before = story.observations;
      await handle.signal(quotaChanged, { cause: 'the quota changed', resourceVersion: '2' });
      await eventually('it has looked after the signal and after the watch', () => story.observations >= before + 2);
      await eventually('it holds', async () => (await handle.query(status)).reason === 'Frozen');
      expect(story.merges).toBe(0);
    });
  });

  it('is not taken from the watch of a pull request whose answer came long after it was read', async () => {
    const { story, activities } = await awaitingChecks(async (observe) => {
      const seen = { readAfter: Date.now(), observation: observe() };
      story.frozen = true;
      await sleep(5_500);
      return seen;
    });
    await during('late-watch', activities, async (handle) => {
      await waitsForChecks(handle);
      story.changed.resolve();
      await eventually('it holds', async () => (await handle.query(status)).reason === 'Frozen');
      expect(story.merges).toBe(0);
    });
  });

  it('is not taken from a look-up where the pressure came after the quota was read', async () => {
    const [idle] = await answers<QuotaObservation>('observeQuota');
    const [place] = await answers<Awaited<ReturnType<QuotaResizeActivities['observeSource']>>>('observeSource');
    if (idle?.quota == null || place === undefined) throw new Error('the recording has no quota');
    const { quota } = idle;
    let used = '9';
    const readings: string[] = [];
    const read = Promise.withResolvers<void>();
    const observe = (): QuotaObservation => ({ ...idle, timings, quota: { ...quota, used: { pods: used } } });
    const activities: Partial<QuotaResizeActivities> = {
      observeQuota: async ({ afterMs }) => {
        await sleep(afterMs ?? 0);
        readings.push(used);
        return observe();
      },
      observeSource: async ({ afterMs, observes }) => {
        await sleep(afterMs ?? 0);
        if (observes !== true) return place;
        used = '2';
        const readAfter = Date.now();
        const observation = observe();
        read.resolve();
        await sleep(600);
        return { ...place, observation, readAfter };
      },
      ensureQuotaEvent: () => Promise.resolve('told'),
      ensureRecommendation: () => Promise.resolve({}),
      ensureLeaseAcquired: () => Promise.resolve({ kind: 'held', by: 'somebody' }),
    };
    await during('older-look-up', activities, async (handle) => {
      await read.promise;
      used = '10';
      await handle.signal(quotaPressureSeen, { cause: 'a threshold is reached', resourceVersion: '3' });
      await eventually('the quota is read once more', () => readings.includes('10'));
      expect((await handle.describe()).status.name).toBe('RUNNING');
    });
  });
});
