import type { StarterContext } from '../controller.ts';
import { asRoot } from '../../platform/tracing/tracing.ts';
import { isHopelessRequest } from './hopeless.ts';
import { type QueuedRequest, WorkQueue, type WorkQueueOptions } from './work-queue.ts';

/**
 * A work queue that sends from now on until the process stops, which waits for what is being sent. The process is not
 * ready while Temporal takes nothing. What it sent and what waits in it is in the starter's metrics.
 *
 * @param name of the queue in the answers of `/readyz` and in the steps of stopping.
 */
export function startWorkQueue<Request extends QueuedRequest>(
  { headroom, requestMetrics }: Pick<StarterContext, 'headroom' | 'requestMetrics'>,
  name: string,
  {
    send,
    kindOf,
    gapMs,
    allowance,
  }: Pick<WorkQueueOptions<Request>, 'gapMs' | 'allowance'> & {
    readonly send: (request: Request) => Promise<void>;
    /** What a request does, for the metrics. */
    readonly kindOf: (request: Request) => string;
  },
): WorkQueue<Request> {
  const { config, log, readiness, signal, onStop, tracing } = headroom;
  const queue = new WorkQueue<Request>({
    send: async (request, seenAt) => {
      const span = { name: `Request:${kindOf(request)}`, attributes: targetOf(request), from: seenAt };
      await asRoot(tracing, span, async () => await send(request));
      requestMetrics.sent(kindOf(request));
      log.debug({ request: request.coalescingKey, cause: request.cause }, 'requested');
    },
    isHopeless: isHopelessRequest,
    perSecond: config.starter.hintsPerSecond,
    gapMs,
    allowance,
    log,
    signal,
  });
  requestMetrics.include(() => queue.unsent);
  const draining = queue.run();
  onStop(name, async () => await draining);
  readiness.watch(name, () =>
    queue.trouble === null ? { ready: true } : { ready: false, reason: `waiting for Temporal: ${queue.trouble}` },
  );
  return queue;
}

/** The names in what a request is about, as attributes: `headroom.cluster`, `headroom.namespace`, and what the target is called. */
function targetOf({ target = {} }: QueuedRequest): Record<string, string> {
  const names = Object.entries(target).filter(([, name]) => typeof name === 'string');
  return Object.fromEntries(names.map(([key, name]) => [`headroom.${key}`, String(name)]));
}
