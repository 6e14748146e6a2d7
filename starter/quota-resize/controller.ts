import { resizeAwaits } from '../../domain/quota-resize/awaited.ts';
import { policyDefaults } from '../../domain/quota-resize/settings.ts';
import type { StarterContext, StarterController } from '../controller.ts';
import type { AllowanceOptions } from '../kernel/allowance.ts';
import { startWorkQueue } from '../kernel/start-work-queue.ts';
import { QuotaBacklog } from './backlog.ts';
import { watchLeases } from './lease-watch.ts';
import { registerBacklogMetrics } from './metrics.ts';
import { OpenDecisions } from './open-decisions.ts';
import { quotaOverview } from './overview.ts';
import { createQuotaRequestSender, type QuotaRequest } from './reconcile-request.ts';
import { watchQuotas } from './watch.ts';
import { webhookPath } from './webhooks/server.ts';
import { PullRequestIndex } from './webhooks/pull-request-index.ts';
import { startWebhooks, type WebhookOptions } from './webhooks/webhooks.ts';
import { quotaResizeAccess } from './access.ts';

/** Requests for one quota in this time become one: a rolling update changes the quota's status with every pod. */
const REQUEST_GAP_MS = 1_000;

/**
 * A quota under pressure for hours gets four signals a minute from each starter. Its episode needs no more: under pressure
 * it observes once a minute at most. At four a minute a worker may be away for 40 hours before the server refuses signals
 * of operators too. What people change has a reserve.
 */
const REQUEST_ALLOWANCE: AllowanceOptions = { burst: 20, reserve: 10, refillMs: 15_000 };

/** Watches quotas, their denials and their Leases, and receives GitHub's webhooks if an address is configured. */
export const quotaResizeController: StarterController = {
  isEnabled: () => true,
  access: quotaResizeAccess,
  start: async (context) => {
    const { kubeConfig, countedUsage } = context;
    const { config, cluster, log, signal, onStop } = context.headroom;
    const queue = startWorkQueue<QuotaRequest>(context, 'reconcile requests', {
      send: createQuotaRequestSender(context.client),
      kindOf: ({ about, starts }) => (about === 'orphans' ? 'search' : starts ? 'pressure' : 'changed'),
      gapMs: REQUEST_GAP_MS,
      allowance: REQUEST_ALLOWANCE,
    });
    const countedUsed = (namespace: string, quota: string) => countedUsage.lastCount(namespace, quota);
    const decisions = new OpenDecisions();
    const watch = await watchQuotas({
      kubeConfig,
      cluster,
      policyDefaults: policyDefaults(config),
      resyncMs: config.starter.resyncInterval,
      countedUsed,
      request: (request) => queue.add(request),
      hasDecision: (namespace, quota) => decisions.byQuota.has(`${namespace}/${quota}`),
      log,
      signal,
    });
    onStop('watches', async () => await watch.stop());
    countedUsage.onCounted((namespace, quota) => watch.usageCounted(namespace, quota));
    const backlog = new QuotaBacklog(() => watch.seen());
    const index = new PullRequestIndex(cluster);
    const { systemNamespace } = config.kubernetes;
    const leases = await watchLeases({ kubeConfig, systemNamespace, log, signal }, [backlog, index, decisions]);
    onStop('watch of the Leases', async () => await leases.stop());
    registerBacklogMetrics(context.metrics, backlog);
    await receiveWebhooks(context, { index, isSynced: () => leases.isSynced(), request: (it) => queue.add(it) });
    return {
      informers: { ...watch.informers, leases },
      workflows: { noun: 'quota', statusCommand: 'kubectl headroom status', awaits: resizeAwaits },
      overview: quotaOverview({
        cluster,
        quotas: (namespace) => watch.quotas.list(namespace),
        quota: (name, namespace) => watch.quotas.get(name, namespace),
        decisions: decisions.byQuota,
        policyOf: watch.policyOf,
        mayMerge: config.resize.autoMerge !== false,
        countedUsed,
      }),
    };
  },
};

/** Receives GitHub's webhooks if an address is configured. */
async function receiveWebhooks(
  { headroom, metrics }: StarterContext,
  options: Pick<WebhookOptions, 'index' | 'isSynced' | 'request'>,
): Promise<void> {
  const { config, cluster, log, readiness, onStop } = headroom;
  const { address, secrets } = config.webhooks;
  if (address === undefined || secrets === undefined) return;
  const webhooks = await startWebhooks({ ...options, cluster, address, secrets, metrics, log });
  onStop('webhooks', async () => await webhooks.stop());
  readiness.set('webhooks', { ready: true });
  log.info({ url: `${webhooks.url}${webhookPath}` }, "the starter takes GitHub's webhooks");
}
