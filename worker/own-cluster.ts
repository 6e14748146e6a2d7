import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { failure } from '../activities/kernel/failure.ts';

/**
 * Runs no activity whose input names another cluster. A task queue has the cluster's name, and whoever may schedule
 * activities can put any input there: the name of a cluster finds files in Git, and tells which workflows run.
 *
 * @throws {ApplicationFailure} InvalidInput, from the activity.
 */
export function inputsOf(cluster: string): ActivityInterceptorsFactory {
  return () => ({
    inbound: {
      async execute(input, next) {
        const [first] = input.args;
        const other = [first, fieldOf(first, 'target')]
          .map(clusterIn)
          .find((named) => named !== null && named !== cluster);
        if (other === undefined) return await next(input);
        const message = `this is a worker of the cluster ${cluster}, not of ${other}`;
        throw failure({ type: 'InvalidInput', nonRetryable: true, message });
      },
    },
  });
}

/** The cluster that an input or a target names; null where it names none. */
function clusterIn(named: unknown): string | null {
  const cluster = fieldOf(named, 'cluster');
  return typeof cluster === 'string' ? cluster : null;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === field)?.[1]
    : undefined;
}
