import { expect, it } from 'vitest';
import { controllerNames } from '../../../domain/kernel/controllers.ts';
import { activityTaskQueue, taskQueue } from '../../../domain/kernel/target.ts';

it('each controller has a queue of its own for activities, which carries the name of the cluster', () => {
  const queues = controllerNames.map((controller) => activityTaskQueue(taskQueue('staging'), controller));
  expect(new Set([...queues, taskQueue('staging')]).size).toBe(controllerNames.length + 1);
  expect(queues).toContain('headroom/staging/quota-resize');
});
