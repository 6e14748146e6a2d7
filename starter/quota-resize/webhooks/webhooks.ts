/** GitHub's webhooks from the port to the reconcile request, for the pull requests in the cluster's Leases. */
import type { Registry } from 'prom-client';
import { quotaResizeMetrics } from '../../../domain/quota-resize/metrics.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Secret } from '../../../domain/kernel/settings/secret.ts';
import type { ListenAddress } from '../../../domain/kernel/settings/forms.ts';
import { collectNumber, createCounter } from '../../kernel/metrics.ts';
import type { QuotaRequest } from '../reconcile-request.ts';
import type { PullRequestIndex } from './pull-request-index.ts';
import { createReceiver } from './receive.ts';
import { serveWebhooks } from './server.ts';

export interface WebhookOptions {
  readonly cluster: string;
  readonly address: ListenAddress;
  readonly secrets: Secret<readonly string[]>;
  readonly index: PullRequestIndex;
  /** Whether the index has every Lease. */
  readonly isSynced: () => boolean;
  readonly request: (request: QuotaRequest) => void;
  readonly metrics: Registry;
  readonly log: Log;
}

export interface RunningWebhooks {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Takes webhooks until it is stopped.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function startWebhooks(options: WebhookOptions): Promise<RunningWebhooks> {
  const { cluster, secrets, index, isSynced, request, metrics, log } = options;
  const deliveries = createCounter(metrics, quotaResizeMetrics.webhooks);
  collectNumber(metrics, quotaResizeMetrics.webhookPullRequests, () => index.size);
  const receive = createReceiver({
    cluster,
    secrets: () => secrets.reveal(),
    find: (event) => (isSynced() ? index.find(event) : null),
    request,
  });
  const server = await serveWebhooks({ address: options.address, receive, deliveries, log });
  return { url: server.url, stop: async () => await server.close() };
}
