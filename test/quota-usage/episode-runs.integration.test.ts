import { priorities } from '../../domain/kernel/priority.ts';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UsageCache } from '../../activities/quota-usage/usage-cache.ts';
import type { PauseActivities } from '../../activities/kernel/interface.ts';
import { notYet } from '../../activities/kernel/not-yet.ts';
import { createUsageCacheActivities } from '../../activities/quota-usage/cache-activities.ts';
import type { PauseInForce } from '../../domain/kernel/pause.ts';
import { activityTaskQueue, cacheTaskQueue, taskQueue } from '../../domain/kernel/target.ts';
import { quotaUsageId } from '../../domain/quota-usage/target.ts';
import { createUsageRequestSender, usageRequest } from '../../starter/quota-usage/reconcile-request.ts';
import {
  commandSignals,
  commandUpdates,
  status,
  usageChanged,
  type UsageCommandInput,
} from '../../workflows/quota-usage/messages.ts';
import { pauseChanged } from '../../workflows/kernel/messages.ts';
import type { quotaUsage } from '../../workflows/quota-usage/workflow.ts';
import { borrowTemporal } from '../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../kernel/servers/temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { testedWorkflows } from '../kernel/stack/programs.ts';

const policy = { mode: 'own', auditAfterMs: 60_000 } as const;

let server: TemporalServer;
let connection: Connection;
let native: NativeConnection;
let client: Client;
beforeAll(async () => {
  server = await borrowTemporal();
  connection = await Connection.connect({ address: server.address });
  native = await NativeConnection.connect({ address: server.address });
  client = new Client({ connection, namespace: server.namespace });
});
afterAll(async () => {
  await native?.close();
  await connection?.close();
  await server?.stop();
});

/** The caches of a cluster in which no quota exists any more, which notes what it was asked for. */
function emptyCache(asked: string[]): UsageCache {
  return {
    quota: (_, name) => {
      asked.push(name);
      return null;
    },
    quotas: () => [],
    count: async () => ({ used: {}, unmeasured: [] }),
    staleValues: () => [],
    deviceClasses: () => new Map(),
    watched: () => [],
  };
}

const ofNamespace = { scope: 'namespace', kept: 'a ConfigMap', by: 'carol', reason: '', at: 0 } as const;

/** What a worker does about pauses, with this process in place of the ConfigMaps; `ofOthers` is of a wider scope. */
function keptHere(ofOthers: PauseInForce | null = null): PauseActivities {
  let isPaused = ofOthers !== null;
  return {
    observePause: async () => ofOthers,
    ensurePauseKept: async ({ pause }) => {
      isPaused = pause !== null;
    },
    awaitResume: async () => {
      if (isPaused) throw notYet('paused', 100);
    },
  };
}

describe('an episode that is paused', () => {
  it('takes reconcile requests for as long as it is, in runs of their own, and resumes in the last one', async () => {
    const cluster = 'paused';
    const target = { cluster, namespace: 'team-a', quota: 'compute' };
    const asked: string[] = [];
    const shared = { connection: native, namespace: server.namespace, shutdownGraceTime: 0 };
    const episodes = await Worker.create({
      ...shared,
      taskQueue: taskQueue(cluster),
      workflowBundle: await testedWorkflows(),
    });
    const pauses = await Worker.create({
      ...shared,
      taskQueue: activityTaskQueue(taskQueue(cluster), 'quota-usage'),
      activities: keptHere(),
    });
    const counts = await Worker.create({
      ...shared,
      taskQueue: cacheTaskQueue(cluster),
      activities: createUsageCacheActivities({ cache: emptyCache(asked), cluster, policy }),
    });
    const pausedRuns = async (): Promise<void> => {
      await client.workflow.signalWithStart<typeof quotaUsage, [UsageCommandInput]>('quotaUsage', {
        workflowId: quotaUsageId(target),
        taskQueue: taskQueue(cluster),
        args: [{ target, continueAfterEvents: 40 }],
        signal: commandSignals.pause,
        signalArgs: [{ by: 'alice' }],
      });
      const handle = client.workflow.getHandle(quotaUsageId(target));
      const { runId: first } = await handle.describe();
      for (let index = 0; index < 60; index += 1) {
        await handle.signal(usageChanged, { cause: 'test', refused: String(index) });
      }
      await eventually('a later run is paused as well', async () => {
        const current = await handle.query(status);
        return current.phase === 'Paused' && (await handle.describe()).runId !== first;
      });
      expect(asked).toEqual([]);
      // Nothing is counted, so the answer does not say so.
      expect(await handle.executeUpdate(commandUpdates.reconcileNow, { args: [{ by: 'bob' }] })).toMatch(
        /^checking again now, as asked by bob\. Nothing is written for now: paused by alice since \S+Z \(.+\)\. Resume with: headroom resume team-a\/compute --controller quota-usage$/,
      );
      await counts.runUntil(async () => {
        await handle.signal(commandSignals.resume, { by: 'alice' });
        await eventually('it ends', async () => (await handle.describe()).status.name === 'COMPLETED');
      });
      // An attempt that was held up for long is made once more.
      expect(new Set(asked)).toEqual(new Set(['compute']));
    };
    await episodes.runUntil(pauses.runUntil(pausedRuns));
  });
});

describe('an episode that waits for its count', () => {
  it('shows a pause of its namespace as soon as it hears of it', async () => {
    const cluster = 'told-of-a-pause';
    const target = { cluster, namespace: 'team-a', quota: 'compute' };
    const shared = { connection: native, namespace: server.namespace, shutdownGraceTime: 0 };
    const episodes = await Worker.create({
      ...shared,
      taskQueue: taskQueue(cluster),
      workflowBundle: await testedWorkflows(),
    });
    const pauses = await Worker.create({
      ...shared,
      taskQueue: activityTaskQueue(taskQueue(cluster), 'quota-usage'),
      activities: keptHere(ofNamespace),
    });
    const startAndPause = async (): Promise<void> => {
      const request = { starts: true, cause: 'test', priority: priorities.routine };
      await createUsageRequestSender(client, policy)(usageRequest(target, request));
      const handle = client.workflow.getHandle(quotaUsageId(target));
      await eventually('it counts', async () => (await handle.query(status)).phase === 'Counting');
      await handle.signal(pauseChanged);
      await eventually('it is paused', async () => {
        const { phase, detail } = await handle.query(status);
        return phase === 'Paused' && detail.startsWith('the namespace is paused by carol');
      });
      await handle.terminate('the test is over');
    };
    await episodes.runUntil(pauses.runUntil(startAndPause));
  });
});
