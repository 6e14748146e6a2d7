import type { Forge } from '../forge.ts';
import type { ReadLimits, RepositoryName } from '../../../domain/kernel/forge.ts';
import { noRepositories, notOnTheList, type Repositories } from '../repositories.ts';
import { GitHubClient } from './client.ts';
import type { GitHubOptions } from './connection.ts';
import { createGitHubForge } from './forge.ts';
import { GitObjects } from './repository.ts';
import { hostOfRepositories, parseRepositoryUrl } from './repository-url.ts';

export interface RepositoriesOptions extends Omit<GitHubOptions, keyof RepositoryName> {
  readonly repositories: readonly RepositoryName[];
  /** The most bytes that are read; absent: the defaults. */
  readonly limits?: ReadLimits | undefined;
}

export function connectRepositories({ repositories, limits, ...options }: RepositoriesOptions): Repositories {
  const [first] = repositories;
  if (first === undefined) return noRepositories;
  const client = new GitHubClient({ ...options, ...first });
  const objects = new GitObjects();
  const byName = new Map<string, Forge>();
  for (const { owner, repo, baseBranch } of repositories) {
    const forge = createGitHubForge({ client: client.forRepository(owner, repo), baseBranch, limits }, objects);
    if (!byName.has(keyOf(forge.repository))) byName.set(keyOf(forge.repository), forge);
  }
  const names = [...byName.values()].map((forge) => forge.repository);
  return {
    host: hostOfRepositories(options.apiUrl),
    addressOf: parseRepositoryUrl,
    names,
    of(repository) {
      const forge = byName.get(keyOf(repository));
      if (forge === undefined) throw notOnTheList(repository, names);
      return forge;
    },
    default: () => byName.get(keyOf(names[0] ?? '')) ?? null,
    nameOf: (repository) => byName.get(keyOf(repository))?.repository ?? null,
  };
}

function keyOf(repository: string): string {
  return repository.toLowerCase();
}
