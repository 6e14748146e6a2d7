/** Requests that need GraphQL, because REST would take several. */
import type { NewCommit, OpenBranch, Reopening } from '../forge.ts';
import { blobSha } from '../git-blob.ts';
import type { GitHubClient, GraphQlAnswer } from './client.ts';
import { moment } from './responses.ts';

/** The input of a commit on a branch; the names are GitHub's. */
export interface CommitOnBranch {
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

/** The input of a commit of files that are written as ordinary ones: GraphQL knows no modes. */
export function commitInput(repository: string, { branch, parent, files, message }: NewCommit): CommitOnBranch {
  const [headline = '', ...body] = message.split('\n');
  return {
    branch: { repositoryNameWithOwner: repository, branchName: branch },
    expectedHeadOid: parent.sha,
    message: { headline, body: body.join('\n').trim() },
    fileChanges: {
      additions: files.map(({ path, text }) => ({ path, contents: Buffer.from(text, 'utf8').toString('base64') })),
    },
  };
}

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

/** A branch with its tip. */
export interface BranchTip {
  readonly name: string;
  readonly target: { readonly oid: string; readonly tree: { readonly oid: string } };
}

const BRANCH_TIP = '{ name target { oid ... on Commit { tree { oid } } } }';
const DEFAULT_BRANCH = `query ($owner: String!, $name: String!) { repository(owner: $owner, name: $name) { base: defaultBranchRef ${BRANCH_TIP} } }`;

/** With REST this takes two requests, one for the name and one for the tip; null for a repository without a commit. */
export async function readDefaultBranch(
  client: GitHubClient,
): Promise<GraphQlAnswer<{ readonly repository: { readonly base: BranchTip | null } }, 'NOT_FOUND'>> {
  return await client.graphqlAnswer(['NOT_FOUND'], DEFAULT_BRANCH, { owner: client.owner, name: client.repo });
}

interface BranchesWithPullRequests {
  readonly nodes: readonly {
    /** Of `refs/heads/headroom/a/b`, asked for below `refs/heads/headroom/`: that, and `a/b`. */
    readonly prefix: string;
    readonly name: string;
    readonly associatedPullRequests: {
      readonly nodes: readonly {
        readonly number: number;
        readonly headRefName: string;
        readonly viewerDidAuthor: boolean;
      }[];
    };
  }[];
}

type FirstBranches = BranchesWithPullRequests & { readonly pageInfo: { readonly hasNextPage: boolean } };

interface BaseAlongside {
  /** The repository's node id. */
  readonly id: string;
  /** Null where there is no such branch, or no commit yet. */
  readonly base: BranchTip | null;
  readonly ownOpen: readonly OpenBranch[];
  /** The names of all branches with that beginning; null where there are more than GitHub gives at once. */
  readonly branches: ReadonlySet<string> | null;
  /** Of the files that were asked for, as `readBlobTexts`. */
  readonly texts: readonly string[];
}

/** GitHub gives at most a hundred at once. One quota has one branch, and some that people keep. */
const OPEN_BRANCHES =
  'refs(refPrefix: $folder, query: $text, first: 100) { pageInfo { hasNextPage } nodes { prefix name associatedPullRequests(states: [OPEN], first: 10) { nodes { number headRefName viewerDidAuthor } } } }';

/**
 * A branch, or the default branch, and own pull requests that are open from other branches, with one request.
 *
 * @param beginning of the names of these branches; empty: none are asked for.
 * @param blobs files that may be needed next.
 */
export async function readBaseAlongside(
  client: GitHubClient,
  branch: string | undefined,
  { beginning, blobs }: { readonly beginning: string; readonly blobs: readonly string[] },
): Promise<GraphQlAnswer<BaseAlongside, 'NOT_FOUND' | 'FORBIDDEN'>> {
  const declared = [
    '$owner: String!, $name: String!',
    ...(beginning === '' ? [] : ['$folder: String!, $text: String']),
    ...(branch === undefined ? [] : ['$branch: String!']),
    ...blobs.map((_, index) => `$b${index}: GitObjectID!`),
  ];
  const asked = [
    `id base: ${branch === undefined ? 'defaultBranchRef' : 'ref(qualifiedName: $branch)'} ${BRANCH_TIP}`,
    ...(beginning === '' ? [] : [OPEN_BRANCHES]),
    ...blobs.map((_, index) => blobField(index)),
  ];
  interface Found extends Pick<BaseAlongside, 'id' | 'base'> {
    readonly refs?: FirstBranches | null;
  }
  const answer = await client.graphqlAnswer<{ readonly repository: Found & BlobFields }, 'NOT_FOUND' | 'FORBIDDEN'>(
    ['NOT_FOUND', 'FORBIDDEN'],
    `query (${declared.join(', ')}) { repository(owner: $owner, name: $name) { ${asked.join(' ')} } }`,
    {
      owner: client.owner,
      name: client.repo,
      ...(beginning === '' ? {} : searchedBy(beginning)),
      ...(branch === undefined ? {} : { branch: `refs/heads/${branch}` }),
      ...Object.fromEntries(blobs.map((sha, index) => [`b${index}`, sha])),
    },
  );
  if (!answer.ok) return answer;
  const { repository } = answer.data;
  const { id, base: tip, refs = null } = repository;
  const ownOpen = ownOf(refs, beginning).toSorted((a, b) => b.number - a.number);
  const texts = wholeTexts(repository, blobs).map(([, text]) => text);
  return { ok: true, data: { id, base: tip, ownOpen, branches: namesOf(refs), texts } };
}

function namesOf(refs: FirstBranches | null): BaseAlongside['branches'] {
  if (refs === null || refs.pageInfo.hasNextPage) return null;
  return new Set(refs.nodes.map(({ prefix, name }) => `${prefix}${name}`.replace(/^refs\/heads\//, '')));
}

const OWN_OPEN =
  'query ($owner: String!, $name: String!, $folder: String!, $text: String, $after: String) { repository(owner: $owner, name: $name) { refs(refPrefix: $folder, query: $text, first: 100, after: $after) { pageInfo { hasNextPage endCursor } nodes { prefix name associatedPullRequests(states: [OPEN], first: 10) { nodes { number headRefName viewerDidAuthor } } } } } }';

/**
 * Own pull requests that are open from branches of this beginning, newest first, with one request for every hundred branches.
 *
 * @returns none where the credential may not ask.
 */
export async function readOwnOpen(
  client: GitHubClient,
  beginning: string,
  maxPages: number,
): Promise<readonly OpenBranch[]> {
  const found: OpenBranch[] = [];
  let after: string | null = null;
  for (let page = 0; page < maxPages; page += 1) {
    const answer: GraphQlAnswer<{ readonly repository: { readonly refs: PageOfBranches | null } }, string> =
      await client.graphqlAnswer(['NOT_FOUND', 'FORBIDDEN'], OWN_OPEN, {
        owner: client.owner,
        name: client.repo,
        ...searchedBy(beginning),
        ...(after === null ? {} : { after }),
      });
    if (!answer.ok) return [];
    const refs: PageOfBranches | null = answer.data.repository.refs;
    found.push(...ownOf(refs, beginning));
    after = refs?.pageInfo.hasNextPage === true ? refs.pageInfo.endCursor : null;
    if (after === null) break;
  }
  return found.toSorted((a, b) => b.number - a.number);
}

interface PageOfBranches extends BranchesWithPullRequests {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** GitHub takes whole folders as a prefix; the rest of the beginning is a text that it searches for. */
function searchedBy(beginning: string): { readonly folder: string; readonly text?: string } {
  const slash = beginning.lastIndexOf('/') + 1;
  const text = beginning.slice(slash);
  return { folder: `refs/heads/${beginning.slice(0, slash)}`, ...(text === '' ? {} : { text }) };
}

function ownOf(refs: BranchesWithPullRequests | null, beginning: string): readonly OpenBranch[] {
  return (refs?.nodes ?? [])
    .flatMap(({ associatedPullRequests }) => associatedPullRequests.nodes)
    .filter(({ headRefName, viewerDidAuthor }) => viewerDidAuthor && headRefName.startsWith(beginning))
    .map(({ number, headRefName }) => ({ number, branch: headRefName }));
}

const LAST_REOPENING =
  'query ($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { timelineItems(itemTypes: [REOPENED_EVENT], last: 1) { nodes { ... on ReopenedEvent { id createdAt actor { login } } } } } } }';

/** Who reopened a pull request last; null where nobody did. */
export async function lastReopening(client: GitHubClient, number: number): Promise<Reopening | null> {
  interface ReopenedEvent {
    readonly id: string;
    readonly createdAt: string;
    /** Null for an account that was deleted. */
    readonly actor: { readonly login: string } | null;
  }
  const answer = await client.graphqlAnswer<
    {
      readonly repository: {
        readonly pullRequest: { readonly timelineItems: { readonly nodes: readonly ReopenedEvent[] } } | null;
      };
    },
    'NOT_FOUND' | 'FORBIDDEN'
  >(['NOT_FOUND', 'FORBIDDEN'], LAST_REOPENING, { owner: client.owner, name: client.repo, number });
  const last = answer.ok ? answer.data.repository.pullRequest?.timelineItems.nodes.at(-1) : undefined;
  return last === undefined ? null : { id: last.id, by: last.actor?.login ?? 'unknown', at: moment(last.createdAt) };
}

/** GitHub takes at most a hundred ids at once. */
const NODES_AT_ONCE = 100;

const COMMENTS = 'query ($ids: [ID!]!) { nodes(ids: $ids) { ... on IssueComment { id viewerDidAuthor } } }';

/** Which of these comments we wrote: with REST it would have to be known who we are. */
export async function ownComments(client: GitHubClient, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const own = new Set<string>();
  for (let start = 0; start < ids.length; start += NODES_AT_ONCE) {
    const answer = await client.graphqlAnswer<
      { readonly nodes: readonly ({ readonly id: string; readonly viewerDidAuthor: boolean } | null)[] },
      never
    >([], COMMENTS, { ids: ids.slice(start, start + NODES_AT_ONCE) });
    if (!answer.ok) continue;
    for (const comment of answer.data.nodes) if (comment?.viewerDidAuthor === true) own.add(comment.id);
  }
  return own;
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
  const blobs = shas.map((_, index) => blobField(index)).join(' ');
  const answer = await client.graphqlAnswer<{ readonly repository: BlobFields }, 'NOT_FOUND' | 'FORBIDDEN'>(
    ['NOT_FOUND', 'FORBIDDEN'],
    `query ($owner: String!, $name: String!, ${variables}) { repository(owner: $owner, name: $name) { ${blobs} } }`,
    {
      owner: client.owner,
      name: client.repo,
      ...Object.fromEntries(shas.map((sha, index) => [`b${index}`, sha])),
    },
  );
  return answer.ok ? { ok: true, data: new Map(wholeTexts(answer.data.repository, shas)) } : answer;
}

type BlobFields = Readonly<Record<`b${number}`, { readonly text?: string | null } | null>>;

function blobField(index: number): string {
  return `b${index}: object(oid: $b${index}) { ... on Blob { text } }`;
}

/** The texts that came whole, with their SHAs. */
function wholeTexts(fields: BlobFields, shas: readonly string[]): readonly (readonly [string, string])[] {
  return shas.flatMap((sha, index): readonly (readonly [string, string])[] => {
    const text = fields[`b${index}`]?.text;
    return typeof text === 'string' && blobSha(text) === sha ? [[sha, text]] : [];
  });
}
