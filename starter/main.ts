/** The process that watches a cluster, counts from what it has seen, and starts and wakes workflows. It writes nothing to the cluster. */
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import { policyDefaults } from '../domain/quota-resize/settings.ts';
import { requestCancellation } from '../activities/kernel/cancellation.ts';
import { clusterSchedule, type ControllerConfig, controllerSettings } from '../domain/registry.ts';
import { serveHealth, serveMetrics } from '../platform/health/health.ts';
import { connectProcess, type HeadroomProcess, runProcess } from '../platform/process/process.ts';
import type { Config } from './config.ts';
import { HintQueue } from './kernel/hint-queue.ts';
import { type RunningLightsOut, startLightsOut } from './lights-out/start.ts';
import { createQuotaHintSender, isHopelessHint, type QuotaHint } from './quota-resize/hint.ts';
import { type QuotaWatch, watchQuotas } from './quota-resize/watch.ts';
import { startUsage } from './quota-usage/start.ts';
import { webhookPath } from './webhooks/server.ts';
import { type RunningWebhooks, startWebhooks, type WebhookOptions } from './webhooks/webhooks.ts';

/** Two hints for one quota in this span become one: a rollout updates the quota's status with every pod. */
const HINT_GAP_MS = 1_000;

runProcess<ControllerConfig>('starter', controllerSettings, run);

async function run(headroom: HeadroomProcess<Config>): Promise<void> {
  const { config, cluster, log, readiness, signal, onStop } = headroom;
  const metrics = new Registry();
  metrics.setDefaultLabels({ cluster });
  collectDefaultMetrics({ register: metrics });
  const health = await serveHealth(config.process.healthAddress, readiness);
  onStop('health', async () => await health.close());
  const served = await serveMetrics(config.process.metricsAddress, metrics);
  onStop('metrics', async () => await served.close());
  log.info({ health: health.url, metrics: served.url, cluster }, 'the starter is starting');
  const { kubeConfig, client } = await connectProcess(headroom, {
    schedule: clusterSchedule(config),
    requestCancellation,
  });

  const sent = new Counter({
    name: 'headroom_starter_hints_total',
    help: 'Hints sent to workflows, by what they do.',
    labelNames: ['kind'],
    registers: [metrics],
  });
  const send = createQuotaHintSender(client);
  const queue = new HintQueue<QuotaHint>({
    send: async (hint) => {
      await send(hint);
      sent.inc({ kind: hint.starts ? 'pressure' : 'changed' });
      log.debug({ workflow: hint.id, cause: hint.cause }, 'hinted');
    },
    isHopeless: isHopelessHint,
    perSecond: config.starter.hintsPerSecond,
    gapMs: HINT_GAP_MS,
    log,
    signal,
  });
  let lightsOut: RunningLightsOut | null = null;
  const waitingHints = new Gauge({
    name: 'headroom_starter_hints_waiting',
    help: 'Workflows that wait to be hinted.',
    collect() {
      this.set(queue.depth + (lightsOut?.waitingHints() ?? 0));
    },
    registers: [],
  });
  metrics.registerMetric(waitingHints);
  const draining = queue.run();
  onStop('hints', async () => await draining);

  let watch: QuotaWatch | undefined;
  const usage =
    config.quotaUsage.mode === 'off'
      ? null
      : startUsage(headroom, {
          kubeConfig,
          client,
          metrics,
          onCounted: ({ namespace, name }) => watch?.usageCounted(namespace, name),
        });
  watch = await watchQuotas({
    kubeConfig,
    cluster,
    policyDefaults: policyDefaults(config),
    resyncMs: config.starter.resyncInterval,
    ...(usage === null ? {} : { countedUsed: usage.countedUsed }),
    hint: (hint) => queue.add(hint),
    log,
    signal,
  });
  const { informers: watched } = watch;
  onStop('watches', async () => await watch?.stop());
  const webhooks = await receiveWebhooks(headroom, { kubeConfig, metrics, hint: (hint) => queue.add(hint) });
  if (config.lightsOut.enabled) {
    const onHinted = (kind: string): void => sent.inc({ kind });
    lightsOut = await startLightsOut(headroom, { kubeConfig, client, metrics, onHinted });
  }
  const informers = {
    ...watched,
    ...(webhooks === null ? {} : { leases: webhooks.leases }),
    ...lightsOut?.informers,
  };
  const stale = new Gauge({
    name: 'headroom_starter_watch_stale_seconds',
    help: 'How long a watch has been broken; 0 while it is connected.',
    labelNames: ['resource'],
    registers: [],
    collect() {
      for (const [resource, informer] of Object.entries(informers)) this.set({ resource }, informer.staleSeconds());
    },
  });
  metrics.registerMetric(stale);
  for (const [resource, informer] of Object.entries(informers)) {
    readiness.watch(`watch ${resource}`, () => {
      if (!informer.isSynced()) {
        const trouble = informer.trouble();
        return { ready: false, reason: `the first list is not in yet${trouble === null ? '' : `: ${trouble}`}` };
      }
      const seconds = Math.round(informer.staleSeconds());
      return seconds === 0 ? { ready: true } : { ready: false, reason: `broken for ${seconds} s` };
    });
  }
  readiness.watch('hints', () =>
    queue.trouble === null ? { ready: true } : { ready: false, reason: `waiting for Temporal: ${queue.trouble}` },
  );
  log.info(
    { cluster, mode: config.resize.mode, usage: config.quotaUsage.mode, lightsOut: config.lightsOut.enabled },
    'the starter is watching',
  );
}

/** Takes GitHub's webhooks where an address is configured for them; null where none is. */
async function receiveWebhooks(
  { config, cluster, log, readiness, signal, onStop }: HeadroomProcess<Config>,
  { kubeConfig, metrics, hint }: Pick<WebhookOptions, 'kubeConfig' | 'metrics' | 'hint'>,
): Promise<RunningWebhooks | null> {
  const { address, secrets } = config.webhooks;
  if (address === undefined || secrets === undefined) return null;
  const { systemNamespace } = config.kubernetes;
  const webhooks = await startWebhooks({
    kubeConfig,
    cluster,
    systemNamespace,
    address,
    secrets,
    hint,
    metrics,
    log,
    signal,
  });
  onStop('webhooks', async () => await webhooks.stop());
  readiness.set('webhooks', { ready: true });
  log.info({ url: `${webhooks.url}${webhookPath}` }, "the starter takes GitHub's webhooks");
  return webhooks;
}
