import { availableParallelism } from 'node:os';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { Turns } from '../activities/kernel/turns.ts';

/**
 * Workflows that are worked on at once, for each processor. With fewer the processors wait for the servers that are asked; with more
 * the first one comes to rest later and the last one no earlier (docs/performance.md).
 */
const A_PROCESSOR = 5;
/**
 * At first it is one for each processor and two at least, and one more for each that comes to rest: while many begin, the machine has much
 * else to do, and the first one shares it with few (docs/performance.md).
 */
const FIRST_AT_LEAST = 2;
/** A workflow's next activity begins within some 100 ms, and within twice as many on a busy machine. */
const GRACE_MS = 300;
/** An episode comes to its pull request within two seconds, and within some more where the forge is slow. */
const LONGEST_MS = 10_000;
/** A tenth of the time that an activity may take, and more than 100 turns on two processors. */
const PATIENCE_MS = 20_000;

/**
 * The workflows of a worker that ask for a turn (`takeTurn`) get it one after the other, so that of many which begin at once the first
 * soon come to rest.
 */
export function begunFirst(maxConcurrentActivities: number): ActivityInterceptorsFactory {
  const turns = new Turns({
    most: A_PROCESSOR * availableParallelism(),
    first: Math.max(FIRST_AT_LEAST, availableParallelism()),
    graceMs: GRACE_MS,
    longestMs: LONGEST_MS,
    patienceMs: PATIENCE_MS,
    // The other half is for those that have their turn.
    mostWaiting: Math.floor(maxConcurrentActivities / 2),
  });
  return ({ info, cancellationSignal }) => ({
    inbound: {
      async execute(input, next) {
        const { workflowId = '' } = info.workflowExecution ?? {};
        return await turns.during(workflowId, cancellationSignal, async () => await next(input));
      },
    },
  });
}
