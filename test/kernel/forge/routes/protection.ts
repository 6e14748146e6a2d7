import { ApiError } from '../api-error.ts';
import { rulesOf } from '../branch-rules.ts';
import type { ForgeContext } from '../context.ts';
import { noContent, ok, REPOSITORY, type Route } from '../http/route.ts';
import type { Protection } from '../model.ts';

// The forge has one ruleset, so it has one id.
const RULESET_ID = 1;

/** Branch protection and the rules of rulesets. */
export const protectionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: `${REPOSITORY}/branches/{branch}/protection`,
    docs: 'branches/branch-protection#get-branch-protection',
    wide: ['branch'],
    async handle({ forge, params }) {
      const { branch, protection } = await classicOf(forge, params['branch'] ?? '');
      if (!protection) throw new ApiError(404, 'Branch not protected');
      return ok(shown(forge, branch, protection));
    },
  },
  {
    method: 'PUT',
    path: `${REPOSITORY}/branches/{branch}/protection`,
    docs: 'branches/branch-protection#update-branch-protection',
    wide: ['branch'],
    async handle({ forge, params, body }) {
      const { branch } = await classicOf(forge, params['branch'] ?? '');
      const checks = body.object('required_status_checks');
      const reviews = body.object('required_pull_request_reviews');
      const count = reviews?.fields['required_approving_review_count'];
      const protection: Protection = {
        requiredChecks: checks?.texts('contexts') ?? [],
        requireUpToDate: checks?.flag('strict') ?? false,
        requiredReviews: reviews ? (typeof count === 'number' ? count : 1) : 0,
        dismissStaleReviews: reviews?.flag('dismiss_stale_reviews') ?? false,
        requireCodeOwnerReviews: reviews?.flag('require_code_owner_reviews') ?? false,
        mergeQueue: forge.store.state.protections[branch]?.mergeQueue ?? false,
        requireLinearHistory: body.flag('required_linear_history') ?? false,
        as: 'protection',
      };
      forge.store.state.protections[branch] = protection;
      return ok(shown(forge, branch, protection));
    },
  },
  {
    method: 'DELETE',
    path: `${REPOSITORY}/branches/{branch}/protection`,
    docs: 'branches/branch-protection#delete-branch-protection',
    wide: ['branch'],
    async handle({ forge, params }) {
      const { branch, protection } = await classicOf(forge, params['branch'] ?? '');
      if (!protection) throw new ApiError(404, 'Branch not protected');
      delete forge.store.state.protections[branch];
      return noContent();
    },
  },
  {
    method: 'GET',
    path: `${REPOSITORY}/rules/branches/{branch}`,
    docs: 'repos/rules#get-rules-for-a-branch',
    wide: ['branch'],
    handle({ forge, params }) {
      const protection = forge.store.state.protections[params['branch'] ?? ''];
      const source = {
        ruleset_source_type: 'Repository',
        ruleset_source: `${forge.owner}/${forge.repo}`,
        ruleset_id: RULESET_ID,
      };
      return ok(protection ? rulesOf(protection).map((rule) => ({ ...rule, ...source })) : []);
    },
  },
];

async function classicOf(
  forge: ForgeContext,
  branch: string,
): Promise<{ branch: string; protection: Protection | undefined }> {
  if (!(await forge.git.branchTip(branch))) throw new ApiError(404, 'Branch not found');
  const protection = forge.store.state.protections[branch];
  return { branch, protection: protection?.as === 'protection' ? protection : undefined };
}

/** Both GitHub's `branch-protection` and, what the answer to PUT is, its `protected-branch`. */
function shown({ urls }: ForgeContext, branch: string, protection: Protection): Record<string, unknown> {
  const url = `${urls.api}/branches/${urls.path(branch)}/protection`;
  return {
    url,
    ...(protection.requiredChecks.length > 0 || protection.requireUpToDate
      ? {
          required_status_checks: {
            url: `${url}/required_status_checks`,
            strict: protection.requireUpToDate,
            contexts: protection.requiredChecks,
            contexts_url: `${url}/required_status_checks/contexts`,
            checks: protection.requiredChecks.map((context) => ({ context, app_id: null })),
          },
        }
      : {}),
    ...(protection.requiredReviews > 0 || protection.requireCodeOwnerReviews
      ? {
          required_pull_request_reviews: {
            url: `${url}/required_pull_request_reviews`,
            dismiss_stale_reviews: protection.dismissStaleReviews,
            require_code_owner_reviews: protection.requireCodeOwnerReviews,
            require_last_push_approval: false,
            required_approving_review_count: protection.requiredReviews,
          },
        }
      : {}),
    required_signatures: { url: `${url}/required_signatures`, enabled: false },
    enforce_admins: { url: `${url}/enforce_admins`, enabled: true },
    required_linear_history: { enabled: protection.requireLinearHistory },
    allow_force_pushes: { enabled: false },
    allow_deletions: { enabled: false },
    block_creations: { enabled: false },
    required_conversation_resolution: { enabled: false },
    lock_branch: { enabled: false },
    allow_fork_syncing: { enabled: false },
  };
}
