import type { ForgeState } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId, type Urls } from './urls.ts';
import { simpleUser } from './user.ts';

export interface RepositoryFacts {
  readonly urls: Urls;
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string;
  readonly state: ForgeState;
}

/** GitHub's `repository` (and `minimal-repository`). */
export function repository({ urls, owner, repo, defaultBranch, state }: RepositoryFacts): Record<string, unknown> {
  const { api, html } = urls;
  const id = idOf(`${owner}/${repo}`);
  const open = state.pulls.filter((pull) => pull.state === 'open').length;
  return {
    id,
    node_id: nodeId('Repository', id),
    name: repo,
    full_name: `${owner}/${repo}`,
    private: false,
    owner: simpleUser(urls, owner, 'Organization'),
    html_url: html,
    description: null,
    fork: false,
    url: api,
    forks_url: `${api}/forks`,
    keys_url: `${api}/keys{/key_id}`,
    collaborators_url: `${api}/collaborators{/collaborator}`,
    teams_url: `${api}/teams`,
    hooks_url: `${api}/hooks`,
    issue_events_url: `${api}/issues/events{/number}`,
    events_url: `${api}/events`,
    assignees_url: `${api}/assignees{/user}`,
    branches_url: `${api}/branches{/branch}`,
    tags_url: `${api}/tags`,
    blobs_url: `${api}/git/blobs{/sha}`,
    git_tags_url: `${api}/git/tags{/sha}`,
    git_refs_url: `${api}/git/refs{/sha}`,
    trees_url: `${api}/git/trees{/sha}`,
    statuses_url: `${api}/statuses/{sha}`,
    languages_url: `${api}/languages`,
    stargazers_url: `${api}/stargazers`,
    contributors_url: `${api}/contributors`,
    subscribers_url: `${api}/subscribers`,
    subscription_url: `${api}/subscription`,
    commits_url: `${api}/commits{/sha}`,
    git_commits_url: `${api}/git/commits{/sha}`,
    comments_url: `${api}/comments{/number}`,
    issue_comment_url: `${api}/issues/comments{/number}`,
    contents_url: `${api}/contents/{+path}`,
    compare_url: `${api}/compare/{base}...{head}`,
    merges_url: `${api}/merges`,
    archive_url: `${api}/{archive_format}{/ref}`,
    downloads_url: `${api}/downloads`,
    issues_url: `${api}/issues{/number}`,
    pulls_url: `${api}/pulls{/number}`,
    milestones_url: `${api}/milestones{/number}`,
    notifications_url: `${api}/notifications{?since,all,participating}`,
    labels_url: `${api}/labels{/name}`,
    releases_url: `${api}/releases{/id}`,
    deployments_url: `${api}/deployments`,
    git_url: `${html}.git`,
    ssh_url: `${html}.git`,
    clone_url: `${html}.git`,
    svn_url: html,
    mirror_url: null,
    homepage: null,
    language: null,
    forks_count: 0,
    stargazers_count: 0,
    watchers_count: 0,
    size: 0,
    default_branch: defaultBranch,
    open_issues_count: open,
    is_template: false,
    topics: [],
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: false,
    has_discussions: false,
    archived: false,
    disabled: false,
    visibility: 'public',
    pushed_at: state.pushedAt,
    created_at: state.createdAt,
    updated_at: state.pushedAt,
    permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
    license: null,
    forks: 0,
    open_issues: open,
    watchers: 0,
  };
}
