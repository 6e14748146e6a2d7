import type { Hook } from '../model.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import type { Urls } from './urls.ts';

/** GitHub's `hook`. The secret is never shown. */
export function hook(urls: Urls, webhook: Hook, last: Delivery | undefined): Record<string, unknown> {
  const url = `${urls.api}/hooks/${webhook.id}`;
  return {
    type: 'Repository',
    id: webhook.id,
    name: 'web',
    active: webhook.active,
    events: webhook.events,
    config: {
      content_type: webhook.contentType,
      insecure_ssl: webhook.insecureSsl,
      ...(webhook.secret === null ? {} : { secret: '********' }),
      url: webhook.url,
    },
    updated_at: webhook.updatedAt,
    created_at: webhook.createdAt,
    url,
    test_url: `${url}/test`,
    ping_url: `${url}/pings`,
    deliveries_url: `${url}/deliveries`,
    last_response: last
      ? { code: last.statusCode, status: last.status === 'OK' ? 'active' : 'failed', message: last.status }
      : { code: null, status: 'unused', message: null },
  };
}

/** GitHub's `hook-delivery-item`. */
export function deliveryItem(delivery: Delivery, repositoryId: number): Record<string, unknown> {
  const installation = delivery.payload['installation'] as { id?: number } | undefined;
  return {
    id: delivery.id,
    guid: delivery.guid,
    delivered_at: delivery.deliveredAt,
    redelivery: delivery.redelivery,
    duration: delivery.durationSeconds,
    status: delivery.status,
    status_code: delivery.statusCode,
    event: delivery.event,
    action: delivery.action,
    installation_id: installation?.id ?? null,
    repository_id: repositoryId,
    throttled_at: null,
  };
}

/** GitHub's `hook-delivery`. */
export function wholeDelivery(delivery: Delivery, repositoryId: number, url: string): Record<string, unknown> {
  return {
    ...deliveryItem(delivery, repositoryId),
    url,
    request: { headers: delivery.request.headers, payload: delivery.payload },
    response: { headers: delivery.response?.headers ?? null, payload: delivery.response?.body ?? null },
  };
}
