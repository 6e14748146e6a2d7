import type { App, Installation } from '../apps/apps.ts';
import { covers } from '../apps/apps.ts';
import type { Access, Permissions } from '../apps/permissions.ts';
import { ApiError, notFound } from '../api-error.ts';
import { type ForgeContext, thisRepository } from '../context.ts';
import { isoSeconds } from '../git/objects.ts';
import { paginate } from '../http/pagination.ts';
import { type Call, created, noContent, ok, REPOSITORY, type Route } from '../http/route.ts';
import { idOf } from '../people.ts';
import { shownApp, shownInstallation } from '../represent/app.ts';

/** What an app asks for itself, with an assertion or with an installation's token. */
export const appRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/app',
    docs: 'apps/apps#get-the-authenticated-app',
    for: 'app',
    handle(call) {
      const app = appOf(call);
      const { site } = call.forge;
      return ok(shownApp(site.urls, app, site.apps.installationsOf(app).length));
    },
  },
  {
    method: 'GET',
    path: '/app/installations',
    docs: 'apps/apps#list-installations-for-the-authenticated-app',
    for: 'app',
    handle(call) {
      const { site } = call.forge;
      const { items, headers } = paginate(call, site.apps.installationsOf(appOf(call)));
      return ok(
        items.map((installation) => shownInstallation(site.urls, installation)),
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: '/app/installations/{installation_id}',
    docs: 'apps/apps#get-an-installation-for-the-authenticated-app',
    for: 'app',
    handle: (call) => ok(shownInstallation(call.forge.site.urls, installationOf(call))),
  },
  {
    method: 'POST',
    path: '/app/installations/{installation_id}/access_tokens',
    docs: 'apps/apps#create-an-installation-access-token-for-an-app',
    for: 'app',
    handle(call) {
      const { body, forge } = call;
      const installation = installationOf(call);
      const permissions = body.object('permissions')?.fields as Permissions | undefined;
      const wanted = body.texts('repositories') ?? namesOf(call, body.list('repository_ids'));
      const { token, expiresAt, ...granted } = forge.site.apps.issue(installation, {
        ...(permissions === undefined ? {} : { permissions }),
        ...(wanted === undefined ? {} : { repositories: wanted }),
      });
      return created({
        token,
        expires_at: isoSeconds(new Date(expiresAt)),
        permissions: granted.permissions as Record<string, Access>,
        repository_selection: granted.repositories === undefined ? 'all' : 'selected',
        ...(wanted === undefined
          ? {}
          : { repositories: repositoriesOf(forge, installation, granted.repositories).map(thisRepository) }),
      });
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/installation`,
    docs: 'apps/apps#get-a-repository-installation-for-the-authenticated-app',
    for: 'app',
    handle(call) {
      const { site, owner, repo } = call.forge;
      const found = site.apps.find(appOf(call), owner, repo);
      if (!found) throw notFound();
      return ok(shownInstallation(site.urls, found));
    },
  },
  {
    method: 'GET',
    path: '/orgs/{org}/installation',
    docs: 'apps/apps#get-an-organization-installation-for-the-authenticated-app',
    for: 'app',
    handle(call) {
      const { site } = call.forge;
      const found = site.apps.find(appOf(call), call.params['org'] ?? '');
      if (!found) throw notFound();
      return ok(shownInstallation(site.urls, found));
    },
  },
  {
    method: 'GET',
    path: '/installation/repositories',
    docs: 'apps/installations#list-repositories-accessible-to-the-app-installation',
    handle(call) {
      const { installation: token } = call;
      if (!token)
        throw new ApiError(
          403,
          'You must authenticate with an installation access token in order to list repositories for an installation.',
        );
      const all = repositoriesOf(call.forge, token.installation, token.repositories);
      const { items, headers } = paginate(call, all);
      return ok({ total_count: all.length, repositories: items.map(thisRepository) }, headers);
    },
  },
  {
    method: 'DELETE',
    path: '/installation/token',
    docs: 'apps/installations#revoke-an-installation-access-token',
    handle(call) {
      if (!call.installation) throw new ApiError(403, 'Resource not accessible by integration');
      call.forge.site.apps.revoke(call.installation.token);
      return noContent();
    },
  },
];

/** The app whose assertion was let in; the server has seen to it that there is one. */
function appOf({ app }: Call): App {
  if (!app) throw new ApiError(401, 'A JSON web token could not be decoded');
  return app;
}

function installationOf(call: Call): Installation {
  const all = call.forge.site.apps.installationsOf(appOf(call));
  const found = all.find(({ id }) => String(id) === call.params['installation_id']);
  if (!found) throw notFound();
  return found;
}

function repositoriesOf(
  { site }: ForgeContext,
  { account }: Installation,
  names: readonly string[] | undefined,
): ForgeContext[] {
  return site.repositories.filter(
    ({ owner, repo }) => owner.toLowerCase() === account.toLowerCase() && covers(names, repo),
  );
}

/** The names of repositories that are given by their ids; one that is unknown stays a number, and is no name. */
function namesOf({ forge }: Call, ids: readonly unknown[] | undefined): readonly string[] | undefined {
  return ids?.map(
    (id) => forge.site.repositories.find(({ owner, repo }) => idOf(`${owner}/${repo}`) === id)?.repo ?? String(id),
  );
}
