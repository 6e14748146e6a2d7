import { ApiError } from '../api-error.ts';
import { type ForgeContext, thisRepository } from '../context.ts';
import { paginate } from '../http/pagination.ts';
import { ok, REPOSITORY, type Route } from '../http/route.ts';
import { fullCommit } from '../represent/commit.ts';
import { publicUser } from '../represent/user.ts';

/** The repository itself, its branches, who asks, and how often they may. */
export const repositoryRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: REPOSITORY,
    docs: 'repos/repos#get-a-repository',
    handle({ forge }) {
      const { methods, autoMerge = false } = forge.store.state.mergeSettings;
      return ok({
        ...thisRepository(forge),
        network_count: 0,
        subscribers_count: 0,
        allow_squash_merge: methods.includes('squash'),
        allow_merge_commit: methods.includes('merge'),
        allow_rebase_merge: methods.includes('rebase'),
        allow_auto_merge: autoMerge,
        delete_branch_on_merge: false,
        allow_update_branch: true,
        squash_merge_commit_title: 'COMMIT_OR_PR_TITLE',
        squash_merge_commit_message: 'COMMIT_MESSAGES',
        merge_commit_title: 'MERGE_MESSAGE',
        merge_commit_message: 'PR_TITLE',
      });
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/branches`,
    docs: 'branches/branches#list-branches',
    async handle(call) {
      const { forge } = call;
      const { items, headers } = paginate(call, await forge.git.refs('refs/heads/'));
      return ok(
        items.map(({ ref, sha }) => {
          const name = ref.slice('refs/heads/'.length);
          return {
            name,
            commit: { sha, url: `${forge.urls.api}/commits/${sha}` },
            protected: forge.store.state.protections[name] !== undefined,
          };
        }),
        headers,
      );
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/branches/{branch}`,
    docs: 'branches/branches#get-a-branch',
    wide: ['branch'],
    async handle({ forge, params }) {
      const name = params['branch'] ?? '';
      const sha = await forge.git.branchTip(name);
      if (!sha) throw new ApiError(404, 'Branch not found');
      const { urls } = forge;
      const self = `${urls.api}/branches/${urls.path(name)}`;
      return ok({
        name,
        commit: fullCommit(forge, await forge.git.commit(sha)),
        _links: { self, html: `${urls.html}/tree/${urls.path(name)}` },
        protected: forge.store.state.protections[name] !== undefined,
        protection: branchProtection(forge, name),
        protection_url: `${self}/protection`,
      });
    },
  },
  {
    method: 'GET',
    path: '/rate_limit',
    docs: 'rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user',
    handle({ forge, credential }) {
      const core = forge.site.limits.core(credential);
      return ok({ resources: { core, search: core, graphql: core }, rate: core });
    },
  },
  {
    method: 'GET',
    path: '/user',
    docs: 'users/users#get-the-authenticated-user',
    handle: ({ forge, user }) => ok(publicUser(forge.urls, user, forge.store.state.createdAt)),
  },
];

/** The summary of a classic protection that a branch carries; a ruleset does not show here. */
function branchProtection(forge: ForgeContext, branch: string): Record<string, unknown> {
  const protection = forge.store.state.protections[branch];
  const classic = protection?.as === 'protection' ? protection : undefined;
  const contexts = classic?.requiredChecks ?? [];
  return {
    enabled: classic !== undefined,
    required_status_checks: {
      enforcement_level: contexts.length > 0 ? 'everyone' : 'off',
      contexts,
      checks: contexts.map((context) => ({ context, app_id: null })),
    },
  };
}
