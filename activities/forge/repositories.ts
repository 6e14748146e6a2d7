/**
 * The GitOps repositories that Headroom may change. All belong to one credential on one host, so they share its limits,
 * its pace and what is known of git's objects.
 */
import { failure } from '../kernel/failure.ts';
import { GitHub, GitObjects } from './github/github.ts';
import { GitHubClient, type GitHubOptions } from './github/client.ts';

export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | undefined;
}

export interface Repositories {
  /** `owner/name`, in the order of the configuration. */
  readonly names: readonly string[];
  /**
   * A repository by its name, in whatever case: GitHub does not tell them apart.
   *
   * @throws {ApplicationFailure} InvalidInput, with the configured names, for one that is not on the list.
   */
  of(repository: string): GitHub;
  /** The first one; null where none is configured. */
  default(): GitHub | null;
  /** The configured name of a repository; null for one that is not on the list. */
  nameOf(repository: string): string | null;
}

export interface RepositoriesOptions extends Omit<GitHubOptions, keyof RepositoryName> {
  readonly repositories: readonly RepositoryName[];
}

export function connectRepositories({ repositories, ...options }: RepositoriesOptions): Repositories {
  const [first] = repositories;
  if (first === undefined) return noRepositories;
  const client = new GitHubClient({ ...options, ...first });
  const objects = new GitObjects();
  const byName = new Map<string, GitHub>();
  for (const { owner, repo, baseBranch } of repositories) {
    const github = new GitHub({ client: client.forRepository(owner, repo), baseBranch }, objects);
    if (!byName.has(keyOf(github.repository))) byName.set(keyOf(github.repository), github);
  }
  const names = [...byName.values()].map((github) => github.repository);
  return {
    names,
    of(repository) {
      const github = byName.get(keyOf(repository));
      if (github === undefined) throw notOnTheList(repository, names);
      return github;
    },
    default: () => byName.get(keyOf(names[0] ?? '')) ?? null,
    nameOf: (repository) => byName.get(keyOf(repository))?.repository ?? null,
  };
}

/** Where nothing is configured, which is right for observing. */
export const noRepositories: Repositories = {
  names: [],
  of: (repository) => {
    throw notOnTheList(repository, []);
  },
  default: () => null,
  nameOf: () => null,
};

function keyOf(repository: string): string {
  return repository.toLowerCase();
}

function notOnTheList(repository: string, names: readonly string[]): Error {
  const configured =
    names.length === 0
      ? 'no GitOps repository is configured in this worker; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN'
      : `this worker is configured for ${names.join(', ')}; add it to GITHUB_REPOSITORIES, or finish there by hand and then unlock the Lease`;
  return failure({ type: 'InvalidInput', message: `${repository}: ${configured}`, nonRetryable: true });
}
