import type { Logger } from 'pino';
import type { GitHub } from '../ports/github.ts';
import { failure } from '../kernel/failure.ts';
import type { QuotaResizeActivities } from './interface.ts';
import type { GitHubActivityDependencies, Guard } from './own-work.ts';
import { createPullRequestActivities } from './pull-request.ts';
import { createPullRequestEndActivities } from './pull-request-end.ts';
import { createPullRequestStateActivities } from './pull-request-state.ts';
import { createSourceActivities } from './source.ts';

/** The activities of the quota resizer that touch the GitOps repository. */
export type QuotaResizeGitHubActivities = Pick<
  QuotaResizeActivities,
  | 'observeSource'
  | 'observePullRequest'
  | 'awaitPullRequestChange'
  | 'ensurePullRequest'
  | 'ensurePullRequestRebuilt'
  | 'ensureMerged'
  | 'ensurePullRequestClosed'
  | 'ensureBranchDeleted'
>;

export interface QuotaResizeGitHubOptions {
  /** Null where no repository is configured: then only `observeSource` answers, with that reason. */
  readonly github: GitHub | null;
  readonly config: GitHubActivityDependencies['config'];
  readonly guard: Guard;
  readonly log: Logger;
}

export function createQuotaResizeGitHubActivities(options: QuotaResizeGitHubOptions): QuotaResizeGitHubActivities {
  const { github, config, guard, log } = options;
  if (github === null) return { ...createSourceActivities(null, config), ...withoutGitHub() };
  const dependencies = { github, config, guard, log };
  return {
    ...createSourceActivities(github, config),
    ...createPullRequestStateActivities(dependencies),
    ...createPullRequestActivities(dependencies),
    ...createPullRequestEndActivities(dependencies),
  };
}

/** A decision of a worker that had a repository, on one that has none. */
function withoutGitHub(): Omit<QuotaResizeGitHubActivities, 'observeSource'> {
  const refuse = (): Promise<never> =>
    Promise.reject(
      failure({
        type: 'InvalidInput',
        message: 'no GitOps repository is configured in this worker; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN',
        nonRetryable: true,
      }),
    );
  return {
    observePullRequest: refuse,
    awaitPullRequestChange: refuse,
    ensurePullRequest: refuse,
    ensurePullRequestRebuilt: refuse,
    ensureMerged: refuse,
    ensurePullRequestClosed: refuse,
    ensureBranchDeleted: refuse,
  };
}
