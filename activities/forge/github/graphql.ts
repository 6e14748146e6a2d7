/** Requests that need GraphQL, because REST would take several. */
import { blobSha } from '../git-blob.ts';
import type { GitHubClient, GraphQlAnswer } from './client.ts';

/** The input of a commit on a branch; the names are GitHub's. */
interface CommitOnBranch {
  readonly branch: { readonly repositoryNameWithOwner: string; readonly branchName: string };
  /** The commit is rejected (STALE_DATA) when the branch points to another commit. */
  readonly expectedHeadOid: string;
  readonly message: { readonly headline: string; readonly body: string };
  /** Contents in base64. */
  readonly fileChanges: { readonly additions: readonly { readonly path: string; readonly contents: string }[] };
}

interface CommittedOnBranch {
  readonly createCommitOnBranch: { readonly commit: { readonly oid: string; readonly committedDate: string } };
}

const COMMIT =
  'mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid committedDate } } }';

/**
 * Several files in one commit.
 * https://docs.github.com/en/graphql/reference/mutations#createcommitonbranch
 */
export async function commitOnBranch(
  client: GitHubClient,
  input: CommitOnBranch,
): Promise<GraphQlAnswer<CommittedOnBranch, 'STALE_DATA' | 'NOT_FOUND'>> {
  return await client.graphqlAnswer(['STALE_DATA', 'NOT_FOUND'], COMMIT, { input });
}

/** The default branch with its tip; null for a repository without a commit. */
export interface DefaultBranch {
  readonly name: string;
  readonly target: { readonly oid: string; readonly tree: { readonly oid: string } };
}

const DEFAULT_BRANCH =
  'query ($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { defaultBranchRef { name target { oid ... on Commit { tree { oid } } } } } }';

/** With REST this takes two requests, one for the name and one for the tip. */
export async function readDefaultBranch(
  client: GitHubClient,
): Promise<GraphQlAnswer<{ readonly repository: { readonly defaultBranchRef: DefaultBranch | null } }, 'NOT_FOUND'>> {
  return await client.graphqlAnswer(['NOT_FOUND'], DEFAULT_BRANCH, { owner: client.owner, name: client.repo });
}

/**
 * The texts of files by their blobs. With REST each takes a request.
 *
 * @returns only complete texts: GraphQL truncates long ones, omits those it considers binary, and converts other
 *   encodings to UTF-8.
 */
export async function readBlobTexts(
  client: GitHubClient,
  shas: readonly string[],
): Promise<GraphQlAnswer<ReadonlyMap<string, string>, 'NOT_FOUND' | 'FORBIDDEN'>> {
  const variables = shas.map((_, index) => `$b${index}: GitObjectID!`).join(', ');
  const blobs = shas.map((_, index) => `b${index}: object(oid: $b${index}) { ... on Blob { text } }`).join(' ');
  const answer = await client.graphqlAnswer<
    { readonly repository: Readonly<Record<string, { readonly text?: string | null } | null>> },
    'NOT_FOUND' | 'FORBIDDEN'
  >(
    ['NOT_FOUND', 'FORBIDDEN'],
    `query ($owner: String!, $name: String!, ${variables}) { repository(owner: $owner, name: $name) { ${blobs} } }`,
    {
      owner: client.owner,
      name: client.repo,
      ...Object.fromEntries(shas.map((sha, index) => [`b${index}`, sha])),
    },
  );
  if (!answer.ok) return answer;
  const { repository } = answer.data;
  const texts = shas.flatMap((sha, index): readonly (readonly [string, string])[] => {
    const text = repository[`b${index}`]?.text;
    return typeof text === 'string' && blobSha(text) === sha ? [[sha, text]] : [];
  });
  return { ok: true, data: new Map(texts) };
}
