import { idOf } from '../people.ts';
import { nodeId, type SiteUrls } from './urls.ts';

export interface SimpleUser {
  readonly login: string;
  readonly id: number;
  readonly type: string;
  readonly [field: string]: unknown;
}

/** GitHub's `simple-user`. A login that ends in `[bot]` is an app's. */
export function simpleUser({ root, apiRoot }: SiteUrls, login: string, type?: 'Organization'): SimpleUser {
  const name = encodeURIComponent(login);
  const url = `${apiRoot}/users/${name}`;
  return {
    login,
    id: idOf(login),
    node_id: nodeId('User', idOf(login)),
    avatar_url: `${root}/avatars/${name}`,
    gravatar_id: '',
    url,
    html_url: `${root}/${name}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: type ?? (login.endsWith('[bot]') ? 'Bot' : 'User'),
    site_admin: false,
    user_view_type: 'public',
  };
}

/** GitHub's `public-user`, the answer to "who am I". */
export function publicUser(urls: SiteUrls, login: string, since: string): Record<string, unknown> {
  return {
    ...simpleUser(urls, login),
    name: login,
    company: null,
    blog: '',
    location: null,
    email: null,
    hireable: null,
    bio: null,
    public_repos: 1,
    public_gists: 0,
    followers: 0,
    following: 0,
    created_at: since,
    updated_at: since,
  };
}

/** GitHub's `organization-simple`, as webhooks carry it. */
export function organization({ root, apiRoot }: SiteUrls, login: string): Record<string, unknown> {
  const url = `${apiRoot}/orgs/${encodeURIComponent(login)}`;
  return {
    login,
    id: idOf(login),
    node_id: nodeId('Organization', idOf(login)),
    url,
    repos_url: `${url}/repos`,
    events_url: `${url}/events`,
    hooks_url: `${url}/hooks`,
    issues_url: `${url}/issues`,
    members_url: `${url}/members{/member}`,
    public_members_url: `${url}/public_members{/member}`,
    avatar_url: `${root}/avatars/${encodeURIComponent(login)}`,
    description: null,
  };
}
