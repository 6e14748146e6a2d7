import type { Checks } from './checks.ts';
import type { GitRepository } from './git/repository.ts';
import type { Mutex } from './mutex.ts';
import type { PullRequests } from './pull-requests.ts';
import type { RateLimits } from './http/rate-limits.ts';
import { repository } from './represent/repository.ts';
import type { Urls } from './represent/urls.ts';
import type { Store } from './store.ts';

/** What every route works with. */
export interface ForgeContext {
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string;
  readonly urls: Urls;
  readonly git: GitRepository;
  readonly store: Store;
  readonly checks: Checks;
  readonly pulls: PullRequests;
  readonly limits: RateLimits;
  readonly lock: Mutex;
  readonly treeLimit: { readonly entries: number; readonly bytes: number };
}

/** GitHub's `repository` for this one, with its counts of now. */
export function thisRepository({ urls, owner, repo, defaultBranch, store }: ForgeContext): Record<string, unknown> {
  return repository({ urls, owner, repo, defaultBranch, state: store.state });
}
