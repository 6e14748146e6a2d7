import type { StarterContext } from '../controller.ts';
import { isHopelessRequest } from './hopeless.ts';
import { type QueuedRequest, WorkQueue, type WorkQueueOptions } from './work-queue.ts';

/**
 * A work queue that sends from now on until the process stops, which waits for what is being sent. The process is not
 * ready while Temporal takes nothing.
 *
 * @param name of the queue in the answers of `/readyz` and in the steps of stopping.
 */
export function startWorkQueue<Request extends QueuedRequest>(
  { config, log, readiness, signal, onStop }: StarterContext['headroom'],
  name: string,
  { send, gapMs }: Pick<WorkQueueOptions<Request>, 'send' | 'gapMs'>,
): WorkQueue<Request> {
  const perSecond = config.starter.hintsPerSecond;
  const queue = new WorkQueue<Request>({ send, isHopeless: isHopelessRequest, perSecond, gapMs, log, signal });
  const draining = queue.run();
  onStop(name, async () => await draining);
  readiness.watch(name, () =>
    queue.trouble === null ? { ready: true } : { ready: false, reason: `waiting for Temporal: ${queue.trouble}` },
  );
  return queue;
}
