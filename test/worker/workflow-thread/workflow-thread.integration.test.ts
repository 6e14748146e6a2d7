/** The thread of workflows as it ships, beside the SDK's own. */
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker as Thread } from 'node:worker_threads';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker, type WorkflowBundle } from '@temporalio/worker';
import { ThreadedVMWorkflowCreator, WorkerThreadClient } from '@temporalio/worker/lib/workflow/threaded-vm.js';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ensurePrograms } from '../../../tools/programs/ensure-programs.ts';
import { borrowTemporal } from '../../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../../kernel/servers/temporal.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { ends, isMarked, neverWaits, waitsForOneOfTwo } from './workflows.ts';

const sdkThread = createRequire(import.meta.url).resolve('@temporalio/worker/lib/workflow/workflow-worker-thread.js');
const logger = new DefaultLogger('ERROR');

/** Milliseconds for an activation, of which Temporal gives 5,000. */
const LIMIT_MS = 1_000;

let ownThread: string;
let bundle: WorkflowBundle;
let server: TemporalServer;
let connection: Connection;
let native: NativeConnection;
let client: Client;

beforeAll(async () => {
  ownThread = join(await ensurePrograms(), 'workflow-worker-thread.js');
  const workflowsPath = fileURLToPath(new URL('workflows.ts', import.meta.url));
  bundle = await bundleWorkflowCode({ workflowsPath, logger });
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

/** Runs the tests' workflows in the thread of a file, and does something meanwhile. */
async function withThread<Result>(file: string, act: (taskQueue: string) => Promise<Result>): Promise<Result> {
  const taskQueue = `threads-${randomUUID()}`;
  const create = vi
    .spyOn(ThreadedVMWorkflowCreator, 'create')
    .mockImplementation(async ({ workflowBundle, registeredActivityNames }) => {
      const thread = new WorkerThreadClient(new Thread(file), logger);
      await thread.send({
        type: 'init',
        workflowBundle,
        registeredActivityNames,
        isolateExecutionTimeoutMs: LIMIT_MS,
        reuseV8Context: true,
        hasPatchActivationCallback: false,
      });
      return new ThreadedVMWorkflowCreator([thread]);
    });
  try {
    const worker = await Worker.create({
      connection: native,
      namespace: server.namespace,
      taskQueue,
      workflowBundle: bundle,
    });
    return await worker.runUntil(async () => await act(taskQueue));
  } finally {
    create.mockRestore();
  }
}

it('a workflow that waits answers where, as with the thread of the SDK', async () => {
  const stacks = async (taskQueue: string): Promise<{ readonly text: string; readonly structured: unknown }> => {
    const options = { workflowId: randomUUID(), taskQueue };
    const handle = await client.workflow.start<typeof waitsForOneOfTwo>('waitsForOneOfTwo', options);
    const text = await eventually('the workflow waits', async () => {
      const answer = await handle.query<string>('__stack_trace');
      return answer === '' ? undefined : answer;
    });
    const structured = await handle.query('__enhanced_stack_trace');
    await handle.terminate();
    return { text, structured };
  };
  const own = await withThread(ownThread, stacks);
  expect(own.text).toMatch(/workflows\.ts:6:\d+\)$/);
  expect(own).toEqual(await withThread(sdkThread, stacks));
});

it('no text is made for each promise, as by the hooks of the SDK', async () => {
  const marked = async (taskQueue: string): Promise<boolean> =>
    await client.workflow.execute<typeof isMarked>('isMarked', { workflowId: randomUUID(), taskQueue });
  expect(await withThread(sdkThread, marked)).toBe(true);
  expect(await withThread(ownThread, marked)).toBe(false);
});

it('a workflow that never waits fails its task, and others go on', async () => {
  await withThread(ownThread, async (taskQueue) => {
    const endless = await client.workflow.start<typeof neverWaits>('neverWaits', {
      workflowId: randomUUID(),
      taskQueue,
    });
    const message = await eventually('its task has failed', async () => {
      const { events } = await endless.fetchHistory();
      return events?.find((event) => event.workflowTaskFailedEventAttributes != null)?.workflowTaskFailedEventAttributes
        ?.failure?.message;
    });
    expect(message).toBe(`Script execution timed out after ${LIMIT_MS}ms`);
    const options = { workflowId: randomUUID(), taskQueue };
    expect(await client.workflow.execute<typeof ends>('ends', options)).toBe('ended');
    await endless.terminate();
  });
});
