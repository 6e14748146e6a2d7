/** GitHub's webhooks from the port to the reconcile request, for the pull requests in the cluster's Leases. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Log } from '../../../platform/log/log.ts';
import type { Secret } from '../../../domain/kernel/settings/secret.ts';
import type { ListenAddress } from '../../../domain/kernel/settings/forms.ts';
import type { LeaseWatch } from '../lease-watch.ts';
import type { QuotaRequest } from '../reconcile-request.ts';
import { createReceiver } from './receive.ts';
import { serveWebhooks } from './server.ts';

export interface WebhookOptions {
  readonly cluster: string;
  readonly leaseWatch: Pick<LeaseWatch, 'leases' | 'pullRequests'>;
  readonly address: ListenAddress;
  readonly secrets: Secret<readonly string[]>;
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
  const { cluster, secrets, request, metrics, log } = options;
  const { leases, pullRequests: index } = options.leaseWatch;
  const deliveries = new Counter({
    name: 'headroom_starter_webhook_deliveries_total',
    help: 'Webhooks of GitHub, by event and by what became of them.',
    labelNames: ['event', 'outcome'],
    registers: [metrics],
  });
  metrics.registerMetric(
    new Gauge({
      name: 'headroom_starter_webhook_pull_requests',
      help: 'Open pull requests that webhooks are matched with.',
      registers: [],
      collect() {
        this.set(index.size);
      },
    }),
  );
  const receive = createReceiver({
    cluster,
    secrets: () => secrets.reveal(),
    find: (event) => (leases.isSynced() ? index.find(event) : null),
    request,
  });
  const server = await serveWebhooks({ address: options.address, receive, deliveries, log });
  return { url: server.url, stop: async () => await server.close() };
}
