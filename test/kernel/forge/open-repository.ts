import { resolve } from 'node:path';
import { Accounts, type AccountsOptions } from './accounts.ts';
import { AutoMerges } from './auto-merge.ts';
import { Checks } from './checks.ts';
import type { ForgeContext } from './context.ts';
import { GitRepository } from './git/repository.ts';
import { MergeQueue } from './merge-queue.ts';
import { Mutex } from './mutex.ts';
import type { ForgeOptions } from './options.ts';
import { PullRequests } from './pull-requests.ts';
import { Urls } from './represent/urls.ts';
import { Reviews } from './reviews.ts';
import type { Site } from './site.ts';
import { Store } from './store.ts';
import { Events } from './webhooks/event.ts';

/** A bare git repository and the name under which the forge serves it. */
export interface RepositoryOptions extends AccountsOptions {
  /** Its pull requests, checks, protections and hooks are kept in it as `headroom-forge.json`. */
  gitDir: string;
  owner: string;
  repo: string;
}

// Ids are unique in a forge, as they are on GitHub: each repository has its own range.
const IDS_EACH = 10_000_000;

/** Opens a repository on a forge. @throws Error in one sentence when it cannot be used */
export async function openRepository(
  site: Site,
  { gitDir, owner, repo, ...people }: RepositoryOptions,
  options: ForgeOptions,
): Promise<ForgeContext> {
  const git = await GitRepository.open(resolve(gitDir));
  try {
    const store = await Store.open(git.gitDir, site.repositories.length * IDS_EACH);
    if (options.mergeMethods !== undefined) store.state.mergeSettings = { methods: options.mergeMethods };
    const lock = new Mutex();
    const events = new Events();
    const accounts = new Accounts(people);
    const checks = new Checks(store, events, options.checks ?? 'none', options.checkDelayMs ?? 200);
    const reviews = new Reviews({ git, store, events, accounts, owner, repo });
    const pulls = new PullRequests({
      git,
      store,
      checks,
      reviews,
      events,
      owner,
      mergeableDelayMs: options.mergeableDelayMs ?? 50,
    });
    const repository: ForgeContext = {
      owner,
      repo,
      defaultBranch: await git.defaultBranch(),
      urls: new Urls(site.urls, owner, repo),
      git,
      store,
      accounts,
      checks,
      reviews,
      pulls,
      queue: new MergeQueue({ store, pulls, events }),
      autoMerges: new AutoMerges({ store, pulls, accounts, events, lock }),
      lock,
      site,
    };
    site.add(repository);
    events.listen((event) => {
      site.webhooks.dispatch(repository, event);
      repository.autoMerges.consider();
    });
    checks.resume();
    return repository;
  } catch (cause) {
    await git.close();
    throw cause;
  }
}

/** Lets nothing happen by itself any more, so that the webhooks hear of no more. */
export async function quietRepository({ autoMerges, checks, pulls }: ForgeContext): Promise<void> {
  checks.stop();
  await autoMerges.stop();
  await pulls.stop();
}

/** Lets what is under way finish, so that the repository and the state on disk are whole. */
export async function closeRepository(repository: ForgeContext): Promise<void> {
  const { store, git } = repository;
  await quietRepository(repository);
  await store.save();
  await git.close();
}
