import type { Forge } from '../forge.ts';
import { GitHubBranches } from './branches.ts';
import { GitHubFiles } from './files.ts';
import { GitHubPullRequests } from './pull-requests.ts';
import { type GitHubRepositoryOptions, type GitObjects, gitHubRepository } from './repository.ts';

/**
 * One repository on GitHub.
 *
 * @param shared the git objects of another repository of the same credential.
 */
export function createGitHubForge(options: GitHubRepositoryOptions, shared?: GitObjects): Forge {
  const repository = gitHubRepository(options, shared);
  const files = new GitHubFiles(repository);
  const branches = new GitHubBranches(repository, () => files.forgetBase());
  return {
    service: 'GitHub',
    repository: repository.name,
    files,
    branches,
    pullRequests: new GitHubPullRequests(repository, files, branches),
  };
}
