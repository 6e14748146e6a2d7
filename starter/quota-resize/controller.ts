import { policyDefaults } from '../../domain/quota-resize/settings.ts';
import type { StarterContext, StarterController } from '../controller.ts';
import { HintQueue } from '../kernel/hint-queue.ts';
import { isHopelessHint } from '../kernel/hopeless.ts';
import { createQuotaHintSender, type QuotaHint } from './hint.ts';
import { watchQuotas } from './watch.ts';
import { webhookPath } from './webhooks/server.ts';
import { type RunningWebhooks, startWebhooks } from './webhooks/webhooks.ts';
import { quotaResizeAccess } from './access.ts';

/** Two hints for one quota in this span become one: a rollout updates the quota's status with every pod. */
const HINT_GAP_MS = 1_000;

/** Watches quotas and what they refuse, and takes GitHub's webhooks where an address is configured for them. */
export const quotaResizeController: StarterController = {
  isEnabled: () => true,
  access: quotaResizeAccess,
  start: async (context) => {
    const { kubeConfig, countedUsage } = context;
    const { config, cluster, log, signal, onStop } = context.headroom;
    const queue = createQueue(context);
    const watch = await watchQuotas({
      kubeConfig,
      cluster,
      policyDefaults: policyDefaults(config),
      resyncMs: config.starter.resyncInterval,
      countedUsed: (namespace, quota) => countedUsage.lastCount(namespace, quota),
      hint: (hint) => queue.add(hint),
      log,
      signal,
    });
    onStop('watches', async () => await watch.stop());
    countedUsage.onCounted((namespace, quota) => watch.usageCounted(namespace, quota));
    const webhooks = await receiveWebhooks(context, (hint) => queue.add(hint));
    return {
      informers: { ...watch.informers, ...(webhooks === null ? {} : { leases: webhooks.leases }) },
      waitingHints: () => queue.depth,
    };
  },
};

function createQueue({ headroom, client, onHinted }: StarterContext): HintQueue<QuotaHint> {
  const { config, log, readiness, signal, onStop } = headroom;
  const send = createQuotaHintSender(client);
  const queue = new HintQueue<QuotaHint>({
    send: async (hint) => {
      await send(hint);
      onHinted(hint.starts ? 'pressure' : 'changed');
      log.debug({ workflow: hint.id, cause: hint.cause }, 'hinted');
    },
    isHopeless: isHopelessHint,
    perSecond: config.starter.hintsPerSecond,
    gapMs: HINT_GAP_MS,
    log,
    signal,
  });
  const draining = queue.run();
  onStop('hints', async () => await draining);
  readiness.watch('hints', () =>
    queue.trouble === null ? { ready: true } : { ready: false, reason: `waiting for Temporal: ${queue.trouble}` },
  );
  return queue;
}

/** Takes GitHub's webhooks where an address is configured for them; null where none is. */
async function receiveWebhooks(
  { headroom, kubeConfig, metrics }: StarterContext,
  hint: (hint: QuotaHint) => void,
): Promise<RunningWebhooks | null> {
  const { config, cluster, log, readiness, signal, onStop } = headroom;
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
