import type { App, Installation } from '../apps/apps.ts';
import { idOf } from '../people.ts';
import { nodeId, type SiteUrls } from './urls.ts';
import { simpleUser } from './user.ts';

/** GitHub's `integration`. */
export function shownApp(urls: SiteUrls, app: App, installations: number): Record<string, unknown> {
  return {
    id: app.id,
    client_id: app.clientId,
    slug: app.slug,
    node_id: nodeId('App', app.id),
    owner: simpleUser(urls, app.owner, 'Organization'),
    name: app.slug,
    description: null,
    external_url: urls.root,
    html_url: `${urls.root}/apps/${app.slug}`,
    created_at: app.createdAt,
    updated_at: app.createdAt,
    permissions: app.permissions,
    events: eventsOf(app),
    installations_count: installations,
  };
}

/** GitHub's `installation`. */
export function shownInstallation(urls: SiteUrls, installation: Installation): Record<string, unknown> {
  const { app } = installation;
  return {
    id: installation.id,
    client_id: app.clientId,
    account: simpleUser(urls, installation.account, 'Organization'),
    repository_selection: installation.repositories === undefined ? 'all' : 'selected',
    access_tokens_url: `${urls.apiRoot}/app/installations/${installation.id}/access_tokens`,
    repositories_url: `${urls.apiRoot}/installation/repositories`,
    html_url: `${urls.root}/organizations/${installation.account}/settings/installations/${installation.id}`,
    app_id: app.id,
    app_slug: app.slug,
    target_id: idOf(installation.account),
    target_type: 'Organization',
    permissions: installation.permissions,
    events: eventsOf(app),
    created_at: installation.createdAt,
    updated_at: installation.createdAt,
    single_file_name: null,
    has_multiple_single_files: false,
    single_file_paths: [],
    suspended_by: null,
    suspended_at: installation.suspended ? installation.createdAt : null,
  };
}

function eventsOf({ hook }: App): readonly string[] {
  return hook?.events.filter((event) => event !== '*') ?? [];
}
