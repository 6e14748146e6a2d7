import pino from 'pino';
import { Registry } from 'prom-client';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { StarterContext } from '../../../starter/controller.ts';
import { RequestMetrics } from '../../../starter/kernel/request-metrics.ts';
import { startWorkQueue } from '../../../starter/kernel/start-work-queue.ts';
import type { QueuedRequest } from '../../../starter/kernel/work-queue.ts';

it('the metrics have what the work queues of all controllers have sent and what waits in them', async () => {
  const metrics = new Registry();
  const requestMetrics = new RequestMetrics(metrics);
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const headroom = {
    config: { starter: { hintsPerSecond: 100 } },
    log: pino({ enabled: false }),
    readiness: { watch: () => {} },
    signal: stop.signal,
    tracing: null,
    onStop: () => {},
  } as unknown as StarterContext['headroom'];
  const queueOf = (name: string, send: () => Promise<void>) =>
    startWorkQueue<QueuedRequest>({ headroom, requestMetrics }, name, { send, kindOf: () => name, gapMs: 3_600_000 });
  const served = queueOf('served', async () => {});
  const other = queueOf('other', async () => {});
  const says = async (line: string): Promise<void> => expect((await metrics.metrics()).split('\n')).toContain(line);
  for (const queue of [served, other]) queue.add({ coalescingKey: 'a', starts: true, cause: 'a change' });
  await vi.waitFor(async () => await says('headroom_starter_reconcile_requests_total{kind="other"} 1'));
  await says('headroom_starter_reconcile_requests_total{kind="served"} 1');
  // Within the gap after the first request, a second one waits.
  for (const queue of [served, other]) queue.add({ coalescingKey: 'a', starts: true, cause: 'another change' });
  await says('headroom_starter_reconcile_requests_waiting 2');
});
