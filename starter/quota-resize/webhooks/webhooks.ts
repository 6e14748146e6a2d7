/** GitHub's webhooks from the port to the reconcile request, for the pull requests in the cluster's Leases. */
import { CoordinationV1Api, type KubeConfig, type V1Lease } from '@kubernetes/client-node';
import { Counter, Gauge, type Registry } from 'prom-client';
import { leaseSelector } from '../../../domain/quota-resize/model/lease.ts';
import type { Log } from '../../../platform/log/log.ts';
import type { Secret } from '../../../domain/kernel/settings/secret.ts';
import type { ListenAddress } from '../../../domain/kernel/settings/forms.ts';
import { type Informer, startInformer } from '../../kernel/informer.ts';
import type { QuotaRequest } from '../reconcile-request.ts';
import { PullRequestIndex } from './pull-request-index.ts';
import { createReceiver } from './receive.ts';
import { serveWebhooks } from './server.ts';

export interface WebhookOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  /** Where the Leases are. */
  readonly systemNamespace: string;
  readonly address: ListenAddress;
  readonly secrets: Secret<readonly string[]>;
  readonly request: (request: QuotaRequest) => void;
  readonly metrics: Registry;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface RunningWebhooks {
  readonly url: string;
  readonly leases: Informer<V1Lease>;
  stop(): Promise<void>;
}

/**
 * Takes webhooks until it is stopped.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function startWebhooks(options: WebhookOptions): Promise<RunningWebhooks> {
  const { kubeConfig, cluster, systemNamespace, secrets, request, metrics, log, signal } = options;
  const index = new PullRequestIndex(cluster);
  const coordination = kubeConfig.makeApiClient(CoordinationV1Api);
  const leases = await startInformer<V1Lease>(
    kubeConfig,
    {
      name: 'leases',
      path: `/apis/coordination.k8s.io/v1/namespaces/${systemNamespace}/leases`,
      labelSelector: leaseSelector,
      listPage: async (page) =>
        await coordination.listNamespacedLease({ ...page, namespace: systemNamespace, labelSelector: leaseSelector }),
      onChange: (lease) => index.put(lease),
      onDelete: (lease) => index.remove(lease.metadata?.name ?? ''),
    },
    { log, signal },
  );
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
  return {
    url: server.url,
    leases,
    stop: async () => {
      await server.close();
      await leases.stop();
    },
  };
}
