import type { SettingSources, ValuesOf } from '../../kernel/settings/setting.ts';
import type { MergeMethod, RepositoryName } from '../../kernel/forge.ts';
import type { githubSettings } from './github.ts';
import { type GitHubCredential, namesCredential, readGitHubCredential } from './github-credential.ts';

/** The GitOps repository and the credential for it. */
export interface GitHubTarget {
  readonly apiUrl: string;
  /** `off`: GraphQL is never asked. */
  readonly graphQl: 'auto' | 'off';
  readonly owner: string;
  readonly repo: string;
  /** The repository's default branch when absent. */
  readonly baseBranch: string | undefined;
  /** All repositories that may be changed; the first one is that of owner and repo. */
  readonly repositories: readonly RepositoryName[];
  readonly credential: GitHubCredential;
  /** Absent: the first that a repository allows. */
  readonly mergeMethod: MergeMethod | undefined;
}

/** All repositories that may be changed; the first one is that of owner and repo, if they are set. */
export function repositoriesOf({
  owner,
  repo,
  baseBranch,
  repositories = [],
}: ValuesOf<typeof githubSettings>): readonly RepositoryName[] {
  return owner === undefined || repo === undefined ? repositories : [{ owner, repo, baseBranch }, ...repositories];
}

/** Only a worker that resizes quotas writes to GitHub; it needs a repository and a credential as soon as it may propose. */
export function resolveGitHub(
  github: ValuesOf<typeof githubSettings>,
  isProposing: boolean,
  sources: SettingSources,
): GitHubTarget | undefined {
  const isWriting = sources.runs.has('quota-resize') && ['worker', 'all-in-one'].includes(sources.program);
  if (!isWriting) return undefined;
  const { written, problems, notices } = sources;
  const credential = readGitHubCredential(github, sources);
  const repositories = repositoriesOf(github);
  const [first] = repositories;
  // A value that is present and invalid already has its own problem.
  const unnamed = [
    ...(written.has('github.owner') ? [] : ['GITHUB_OWNER']),
    ...(written.has('github.repo') ? [] : ['GITHUB_REPO']),
  ];
  // The list alone is sufficient, but only half of the first repository's name is a mistake.
  const isNamed = unnamed.length === 0 || (unnamed.length === 2 && written.has('github.repositories'));
  if (first !== undefined && isNamed && credential !== undefined) {
    const { owner, repo, baseBranch } = first;
    const { apiUrl, graphQl, mergeMethod } = github;
    return { apiUrl, graphQl, owner, repo, baseBranch, repositories, credential, mergeMethod };
  }
  const missing = [
    ...(isNamed ? [] : unnamed),
    ...(namesCredential(written) ? [] : ['GITHUB_TOKEN, GITHUB_TOKEN_FILE or GITHUB_APP_ID']),
  ];
  if (isProposing) {
    for (const where of missing) problems.push({ where, message: 'is required in mode "propose"' });
  } else if (missing.length > 0) {
    notices.push(
      `Without ${missing.join(', ')} Headroom can only observe, also where an annotation asks it to propose.`,
    );
  }
  return undefined;
}
