import type { ForgeContext } from '../context.ts';
import { idOf } from '../people.ts';
import { nodeId } from './urls.ts';

/** GitHub's `team`. */
export function shownTeam({ urls, owner, accounts }: ForgeContext, slug: string): Record<string, unknown> {
  const id = idOf(`${owner}/${slug}`);
  const url = `${urls.apiRoot}/organizations/${idOf(owner)}/team/${id}`;
  return {
    id,
    node_id: nodeId('Team', id),
    name: slug,
    slug,
    description: null,
    privacy: 'closed',
    notification_setting: 'notifications_enabled',
    permission: accounts.teamPermission(slug),
    url,
    html_url: `${urls.root}/orgs/${owner}/teams/${slug}`,
    members_url: `${url}/members{/member}`,
    repositories_url: `${url}/repos`,
    type: 'organization',
    organization_id: idOf(owner),
    parent: null,
  };
}
