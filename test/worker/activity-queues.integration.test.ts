/** The activities of each controller have slots of their own, with a real worker that has one slot for each. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { leaseGcId } from '../../domain/lease-gc/target.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import type { leaseGc } from '../../workflows/lease-gc/workflow.ts';
import { namespaceFiles, press, quickTimings, targetOf, untilResized } from '../faults/pressed-namespaces.ts';
import { untilHeld } from '../kernel/forge/until-held.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { EPISODE_MS } from '../kernel/stack/watched-quota.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { openingOf } from '../kernel/forge/opening.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles(['held', 'waiting']),
    env: {
      ...quickTimings,
      'worker.maxConcurrentActivities': '1',
      // The held request is not given up while the test looks.
      'timings.requestTimeout': '10m',
    },
  });
});
afterAll(async () => await stack?.stop());

it('a backlog of one controller delays no other', { timeout: 4 * EPISODE_MS }, async () => {
  const hold = stack.forge.hold({ ...openingOf('held'), when: 'before' });
  await press(stack, 'held');
  await untilHeld(hold, 'the opening of the first quota is held', EPISODE_MS);
  await press(stack, 'waiting');
  await eventually('the second quota waits for the only slot', async () => await isWaiting('waiting'), EPISODE_MS);

  const round = await stack.client.workflow.execute<typeof leaseGc>('leaseGc', {
    workflowId: leaseGcId(stack.cluster),
    taskQueue: taskQueue(stack.cluster),
    args: [{ cluster: stack.cluster }],
  });
  expect(round).toMatchObject({ deleted: [] });
  expect(await isWaiting('waiting')).toBe(true);

  hold.release();
  for (const namespace of ['held', 'waiting']) await untilResized(stack, namespace, EPISODE_MS);
});

/** Whether an activity of the episode is scheduled, and no worker has taken it yet. */
async function isWaiting(namespace: string): Promise<boolean> {
  const { raw } = await stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace))).describe();
  return raw.pendingActivities?.some(({ lastStartedTime }) => lastStartedTime == null) ?? false;
}
