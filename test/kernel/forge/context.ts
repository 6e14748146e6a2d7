import type { Accounts } from './accounts.ts';
import type { AutoMerges } from './auto-merge.ts';
import type { Checks } from './checks.ts';
import type { GitRepository } from './git/repository.ts';
import type { MergeQueue } from './merge-queue.ts';
import type { Mutex } from './mutex.ts';
import type { PullRequests } from './pull-requests.ts';
import { repository } from './represent/repository.ts';
import type { Urls } from './represent/urls.ts';
import type { Reviews } from './reviews.ts';
import type { Site } from './site.ts';
import type { Store } from './store.ts';

/** One repository of a forge: what every route works with. */
export interface ForgeContext {
  readonly owner: string;
  readonly repo: string;
  readonly defaultBranch: string;
  readonly urls: Urls;
  readonly git: GitRepository;
  readonly store: Store;
  readonly accounts: Accounts;
  readonly checks: Checks;
  readonly reviews: Reviews;
  readonly pulls: PullRequests;
  readonly queue: MergeQueue;
  readonly autoMerges: AutoMerges;
  readonly lock: Mutex;
  /** What all repositories of the forge share. */
  readonly site: Site;
}

/** GitHub's `repository` for this one, with its counts of now. */
export function thisRepository({ urls, owner, repo, defaultBranch, store }: ForgeContext): Record<string, unknown> {
  return repository({ urls, owner, repo, defaultBranch, state: store.state });
}
