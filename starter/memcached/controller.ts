import { memcachedAwaits } from '../../domain/memcached/awaited.ts';
import { webhookTrials } from '../admission/webhook-trial.ts';
import type { RunningController, StarterContext, StarterController } from '../controller.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import { memcachedAccess } from './access.ts';
import { memcachedAdmission } from './admission.ts';
import { watchGone } from './gone.ts';
import { registerInstanceMetrics } from './metrics.ts';
import { memcachedOverview } from './overview.ts';
import { createMemcachedRequestSender, goneRequest, type QueuedMemcachedRequest } from './reconcile-request.ts';
import { watchMemcacheds } from './watch.ts';

export const memcachedController: StarterController = {
  isEnabled: ({ memcached }) => memcached.enabled,
  access: memcachedAccess,
  writeTrials: ({ memcached }) => webhookTrials('headroom-memcached', memcached),
  start,
};

/** Two changes of a Memcached in this span are one reconcile request, in milliseconds. */
const GAP_MS = 1_000;

/** Watches Memcacheds and what they own, wakes their workflows, and has admission webhooks where an address is configured. */
function start(context: StarterContext): RunningController {
  const { headroom, kubeConfig, client } = context;
  const { config, cluster, log, signal, onStop } = headroom;
  const everyMs = config.starter.resyncInterval;
  const queue = startWorkQueue<QueuedMemcachedRequest>(context, 'memcached reconcile requests', {
    send: createMemcachedRequestSender(client),
    kindOf: ({ starts }) => (starts ? 'memcached' : 'gone'),
    gapMs: GAP_MS,
  });
  const watch = watchMemcacheds({
    kubeConfig,
    cluster,
    resyncMs: everyMs,
    request: (request) => queue.add(request),
    log,
    signal,
  });
  onStop('memcached watches', async () => await watch.stop());
  const gone = watchGone({
    client,
    cluster,
    existing: () => watch.existing(),
    onGone: (target) => queue.add(goneRequest(target)),
    everyMs,
    log,
    signal,
  });
  onStop('memcached episodes', async () => await gone);
  registerInstanceMetrics(context.metrics, () => watch.seen().map(({ instance }) => instance));
  return {
    informers: watch.informers,
    workflows: { noun: 'cache', statusCommand: 'kubectl headroom memcached status', awaits: memcachedAwaits },
    admission: memcachedAdmission(config),
    overview: memcachedOverview(cluster, (namespace) => watch.seen(namespace)),
  };
}
