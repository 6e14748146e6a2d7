/** A step within a workflow task that is not done at once, with a real Temporal. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { notYet } from '../../../activities/kernel/not-yet.ts';
import { activityTaskQueue } from '../../../domain/kernel/target.ts';
import { borrowTemporal } from '../../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../../kernel/servers/temporal.ts';
import type { Asked, asksQuickly } from './workflows.ts';

/** Longer than the attempt within the task may take. */
const DELAY_MS = 60_000;

let server: TemporalServer;
let connection: Connection;
let native: NativeConnection;

beforeAll(async () => {
  server = await borrowTemporal();
  connection = await Connection.connect({ address: server.address });
  native = await NativeConnection.connect({ address: server.address });
});
afterAll(async () => {
  await native?.close();
  await connection?.close();
  await server?.stop();
});

it('is tried once there, whenever its failure would have it tried again, and is an activity then', async () => {
  const { namespace } = server;
  const taskQueue = `quick-${randomUUID()}`;
  const attempts: string[] = [];
  const quick: Asked = {
    ask: async () => {
      attempts.push('within the task');
      return await Promise.reject(notYet('it is not the turn of this workflow', DELAY_MS));
    },
  };
  const later: Asked = {
    ask: async () => {
      attempts.push('as an activity');
      return await Promise.resolve('answered');
    },
  };
  const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  const ofTasks = await Worker.create({
    connection: native,
    namespace,
    taskQueue,
    workflowBundle,
    activities: quick,
    enableNonLocalActivities: false,
  });
  const ofActivities = await Worker.create({
    connection: native,
    namespace,
    taskQueue: activityTaskQueue(taskQueue, 'quota-resize'),
    activities: later,
  });
  const client = new Client({ connection, namespace });
  const history = await ofActivities.runUntil(
    ofTasks.runUntil(async () => {
      const handle = await client.workflow.start<typeof asksQuickly>('asksQuickly', {
        workflowId: taskQueue,
        taskQueue,
        workflowExecutionTimeout: DELAY_MS / 2,
      });
      expect(await handle.result()).toBe('answered');
      return await handle.fetchHistory();
    }),
  );
  expect(attempts).toEqual(['within the task', 'as an activity']);
  expect((history.events ?? []).filter(({ timerStartedEventAttributes: timer }) => timer != null)).toEqual([]);
});
