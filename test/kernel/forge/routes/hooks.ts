import { ApiError, notFound, validationFailed } from '../api-error.ts';
import { applyHook, type HookOptions, newHook } from '../hooks.ts';
import type { Body } from '../http/body.ts';
import { paginate } from '../http/pagination.ts';
import { type Call, created, noContent, ok, REPOSITORY, type Route } from '../http/route.ts';
import type { Hook } from '../model.ts';
import { idOf } from '../people.ts';
import { deliveryItem, hook as shownHook, wholeDelivery } from '../represent/hook.ts';
import type { Delivery } from '../webhooks/delivery.ts';

/** Webhooks of a repository, and what was delivered to them. */
export const hookRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/hooks`,
    docs: 'repos/webhooks#list-repository-webhooks',
    handle(call) {
      const { items, headers } = paginate(call, call.forge.store.state.hooks);
      return ok(
        items.map((hook) => shown(call, hook)),
        headers,
      );
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/hooks`,
    docs: 'repos/webhooks#create-a-repository-webhook',
    handle(call) {
      const { forge, body } = call;
      const config = configOf(body);
      if (config.url === undefined) {
        throw validationFailed({ resource: 'Hook', code: 'custom', field: 'url', message: 'url cannot be blank' });
      }
      const { hooks } = forge.store.state;
      const events = eventsOf(body) ?? ['push'];
      if (
        hooks.some(
          (existing) => existing.url === config.url && events.every((event) => existing.events.includes(event)),
        )
      ) {
        throw validationFailed({
          resource: 'Hook',
          code: 'custom',
          message: 'Hook already exists on this repository',
        });
      }
      const active = body.flag('active') ?? true;
      // GitHub's default is a form, with the payload as its one field.
      const hook = newHook(forge.store.nextId(), { contentType: 'form', ...config, url: config.url, events, active });
      hooks.push(hook);
      if (active) void forge.site.webhooks.ping(forge, hook);
      return created(shown(call, hook));
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/hooks/{hook_id}`,
    docs: 'repos/webhooks#get-a-repository-webhook',
    handle: (call) => ok(shown(call, hookOf(call))),
  },
  {
    method: 'PATCH',
    path: `${REPOSITORY}/hooks/{hook_id}`,
    docs: 'repos/webhooks#update-a-repository-webhook',
    handle(call) {
      const { body } = call;
      const hook = hookOf(call);
      const active = body.flag('active');
      const added = body.texts('add_events') ?? [];
      const removed = body.texts('remove_events') ?? [];
      const events = [...new Set([...(eventsOf(body) ?? hook.events), ...added])];
      applyHook(hook, {
        ...configOf(body),
        events: events.filter((event) => !removed.includes(event)),
        ...(active === undefined ? {} : { active }),
      });
      return ok(shown(call, hook));
    },
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/hooks/{hook_id}`,
    docs: 'repos/webhooks#delete-a-repository-webhook',
    handle(call) {
      const { forge } = call;
      const hook = hookOf(call);
      forge.store.state.hooks.splice(forge.store.state.hooks.indexOf(hook), 1);
      forge.site.webhooks.forget(forge, hook);
      return noContent();
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/hooks/{hook_id}/pings`,
    docs: 'repos/webhooks#ping-a-repository-webhook',
    handle(call) {
      void call.forge.site.webhooks.ping(call.forge, hookOf(call));
      return noContent();
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/hooks/{hook_id}/deliveries`,
    docs: 'repos/webhooks#list-deliveries-for-a-repository-webhook',
    handle(call) {
      const newestFirst = [...call.forge.site.webhooks.deliveries(call.forge, hookOf(call))].reverse();
      // The cursor is the id after which the next page begins.
      const cursor = Number(call.query.get('cursor') ?? Number.POSITIVE_INFINITY);
      const perPage = Math.min(Number(call.query.get('per_page') ?? 30), 100);
      const rest = newestFirst.filter(({ id }) => id < cursor);
      const items = rest.slice(0, perPage);
      const last = items.at(-1);
      const next = new URL(call.url);
      next.searchParams.set('cursor', String(last?.id));
      return ok(
        items.map((delivery) => deliveryItem(delivery, repositoryId(call))),
        last && rest.length > items.length ? { link: `<${next.href}>; rel="next"` } : {},
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/hooks/{hook_id}/deliveries/{delivery_id}`,
    docs: 'repos/webhooks#get-a-delivery-for-a-repository-webhook',
    handle(call) {
      const delivery = deliveryOf(call);
      return ok(wholeDelivery(delivery, repositoryId(call), hookOf(call).url));
    },
  },
  {
    method: 'POST',
    path: `${REPOSITORY}/hooks/{hook_id}/deliveries/{delivery_id}/attempts`,
    docs: 'repos/webhooks#redeliver-a-delivery-for-a-repository-webhook',
    handle(call) {
      void call.forge.site.webhooks.redeliver(deliveryOf(call).id);
      return { status: 202, body: {} };
    },
  },
];

function hookOf({ forge, params }: Call): Hook {
  const found = forge.store.state.hooks.find(({ id }) => String(id) === params['hook_id']);
  if (!found) throw notFound();
  return found;
}

function deliveryOf(call: Call): Delivery {
  const { forge, params } = call;
  const found = forge.site.webhooks
    .deliveries(forge, hookOf(call))
    .find(({ id }) => String(id) === params['delivery_id']);
  if (!found) throw notFound();
  return found;
}

function shown({ forge }: Call, hook: Hook): Record<string, unknown> {
  return shownHook(forge.urls, hook, forge.site.webhooks.deliveries(forge, hook).at(-1));
}

function repositoryId({ forge }: Call): number {
  return idOf(`${forge.owner}/${forge.repo}`);
}

function eventsOf(body: Body): readonly string[] | undefined {
  const events = body.texts('events');
  if (events?.length === 0) throw new ApiError(422, 'Validation Failed');
  return events;
}

function configOf(body: Body): Partial<HookOptions> {
  const config = body.object('config');
  const url = config?.optionalText('url');
  if (url !== undefined && !URL.canParse(url)) {
    throw validationFailed({ resource: 'Hook', code: 'custom', field: 'url', message: 'url is not a valid URL' });
  }
  const secret = config?.optionalText('secret');
  const contentType = config?.choice('content_type', ['json', 'form']);
  return {
    ...(url === undefined ? {} : { url }),
    // GitHub takes the stars that it shows for "as it was".
    ...(secret === undefined || secret === '********' ? {} : { secret }),
    ...(contentType === undefined ? {} : { contentType }),
  };
}
