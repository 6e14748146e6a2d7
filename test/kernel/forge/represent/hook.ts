import type { Hook } from '../model.ts';
import type { Delivery } from '../webhooks/delivery.ts';
import type { Urls } from './urls.ts';

/** GitHub's `hook`. The secret is never shown. */
export function hook(urls: Urls, one: Hook, last: Delivery | undefined): Record<string, unknown> {
  const url = `${urls.api}/hooks/${one.id}`;
  return {
    type: 'Repository',
    id: one.id,
    name: 'web',
    active: one.active,
    events: one.events,
    config: {
      content_type: one.contentType,
      insecure_ssl: one.insecureSsl,
      ...(one.secret === null ? {} : { secret: '********' }),
      url: one.url,
    },
    updated_at: one.updatedAt,
    created_at: one.createdAt,
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
export function deliveryItem(one: Delivery, repositoryId: number): Record<string, unknown> {
  const installation = one.payload['installation'] as { id?: number } | undefined;
  return {
    id: one.id,
    guid: one.guid,
    delivered_at: one.deliveredAt,
    redelivery: one.redelivery,
    duration: one.durationSeconds,
    status: one.status,
    status_code: one.statusCode,
    event: one.event,
    action: one.action,
    installation_id: installation?.id ?? null,
    repository_id: repositoryId,
    throttled_at: null,
  };
}

/** GitHub's `hook-delivery`. */
export function wholeDelivery(one: Delivery, repositoryId: number, url: string): Record<string, unknown> {
  return {
    ...deliveryItem(one, repositoryId),
    url,
    request: { headers: one.request.headers, payload: one.payload },
    response: { headers: one.response?.headers ?? null, payload: one.response?.body ?? null },
  };
}
