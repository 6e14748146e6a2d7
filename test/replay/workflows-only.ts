/** A moment between what a workflow asked for and its being done: workflows go on, and nobody takes their activities. */
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { taskQueue } from '../../domain/kernel/target.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';

const workflowsPath = fileURLToPath(new URL('../../workflows/index.ts', import.meta.url));
const logger = new DefaultLogger('ERROR');
/** Made once, by the first who needs it. */
let bundle: ReturnType<typeof bundleWorkflowCode> | undefined;

/** Before the first worker of this process: what it does is nothing to tell. */
export function logErrorsOnly(): void {
  Runtime.install({ logger, telemetryOptions: { logging: { filter: 'OFF' } } });
}

/**
 * Does something while the product's workers are away and only the workflows' code runs, here; then the product's worker is
 * there again.
 */
export async function whileNothingIsDone(plane: HeadroomPlane, act: () => Promise<void>): Promise<void> {
  bundle ??= bundleWorkflowCode({ workflowsPath, logger });
  const workflowBundle = await bundle;
  await Promise.all(
    plane.processes.filter(({ name }) => name === 'worker').map(async (process) => await process.stop()),
  );
  const connection = await NativeConnection.connect({ address: plane.temporal.address });
  try {
    const { namespace } = plane.temporal;
    const worker = await Worker.create({ connection, namespace, taskQueue: taskQueue(CLUSTER), workflowBundle });
    await worker.runUntil(act);
  } finally {
    await connection.close();
  }
  await plane.startWorker();
}

/** Until a workflow waits for an activity. @returns the activity's id. */
export async function untilAsked(client: Client, workflowId: string, activity: string): Promise<string> {
  return await eventually(`${workflowId} asks for ${activity}`, async () => {
    const { raw } = await client.workflow.getHandle(workflowId).describe();
    return raw.pendingActivities?.find(({ activityType }) => activityType?.name === activity)?.activityId;
  });
}
