import type { Caller } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import { type Commit, entryType, type Signature } from '../git/objects.ts';
import { mergeableState } from '../merge-rules.ts';
import type { IssueComment, PullRequest } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId } from '../represent/urls.ts';
import { simpleUser } from '../represent/user.ts';
import { GraphQLFailure } from './errors.ts';
import { refNodeId, repositoryNodeId } from './node-ids.ts';

/** GitHub cuts a blob's text off after this many bytes. */
const MAX_TEXT_BYTES = 512_000;

/** A value that the GraphQL executor reads fields from; a function is called with the field's arguments. */
export type GraphQLObject = Readonly<Record<string, unknown>>;

/** `Repository` of GitHub's schema, as far as the forge knows it. */
export function repositoryObject(forge: ForgeContext, caller: Caller): GraphQLObject {
  const { owner, repo, urls, git, defaultBranch } = forge;
  return {
    __typename: 'Repository',
    id: repositoryNodeId(forge),
    databaseId: idOf(`${owner}/${repo}`),
    name: repo,
    nameWithOwner: `${owner}/${repo}`,
    url: urls.html,
    isPrivate: false,
    isArchived: false,
    isEmpty: async () => (await git.refs('refs/heads/')).length === 0,
    owner: { ...actor(forge, owner), __typename: 'Organization' },
    defaultBranchRef: () => refObject(forge, `refs/heads/${defaultBranch}`, caller),
    ref: ({ qualifiedName }: { qualifiedName: string }) =>
      refObject(forge, qualifiedName.startsWith('refs/') ? qualifiedName : `refs/heads/${qualifiedName}`, caller),
    refs: (asked: RefsArguments) => refsBelow(forge, asked, caller),
    object: ({ oid, expression }: { oid?: string; expression?: string }) =>
      oid === undefined ? expressionObject(forge, expression ?? '') : objectOf(forge, oid),
    pullRequest: async ({ number }: { number: number }) => pullRequestObject(forge, await found(forge, number), caller),
  };
}

async function found(forge: ForgeContext, number: number): Promise<PullRequest> {
  const pull = forge.pulls.find(number);
  await forge.pulls.refresh(pull);
  return pull;
}

/** `Ref`; null when there is none of that name. */
export async function refObject(forge: ForgeContext, ref: string, caller: Caller): Promise<GraphQLObject | null> {
  const target = await forge.git.resolve(ref);
  if (!target) return null;
  const [, prefix = '', name = ''] = /^(refs\/[^/]+\/)(.+)$/.exec(ref) ?? [];
  return {
    __typename: 'Ref',
    id: refNodeId(forge, ref),
    name,
    prefix,
    target: () => objectOf(forge, target.sha),
    associatedPullRequests: async ({ states = null, ...page }: PageArguments & { states?: readonly string[] | null }) =>
      connection(
        'associatedPullRequests',
        (await Promise.all(pullsOf(forge, ref).map((pull) => pullRequestObject(forge, pull, caller)))).filter(
          ({ state }) => states === null || states.includes(String(state)),
        ),
        page,
      ),
  };
}

function pullsOf(forge: ForgeContext, ref: string): readonly PullRequest[] {
  return forge.store.state.pulls.filter(({ headRef }) => `refs/heads/${headRef}` === ref);
}

interface PageArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  /** The cursor of the page before: how many nodes came so far. */
  readonly after?: string | null;
}

interface RefsArguments extends PageArguments {
  readonly refPrefix: string;
  readonly query?: string | null;
}

/** `Repository.refs`: GitHub takes a folder of any depth as the prefix, and leaves it out of the names. */
async function refsBelow(
  forge: ForgeContext,
  { refPrefix, query, ...page }: RefsArguments,
  caller: Caller,
): Promise<GraphQLObject> {
  const folder = refPrefix.endsWith('/') ? refPrefix : `${refPrefix}/`;
  const named = (await forge.git.refs(folder))
    .map(({ ref }) => ({ ref, name: ref.slice(folder.length) }))
    .filter(({ name }) => name.toLowerCase().includes((query ?? '').toLowerCase()));
  const nodes = named.map(async ({ ref, name }) => ({
    ...(await refObject(forge, ref, caller)),
    name,
    prefix: folder,
  }));
  return connection('refs', await Promise.all(nodes), page);
}

/** GitHub gives no connection of any length, and no page of more than a hundred. */
function connection(name: string, all: readonly GraphQLObject[], { first, last, after }: PageArguments): GraphQLObject {
  const length = first ?? last ?? null;
  if (length === null) {
    const message = `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`;
    throw new GraphQLFailure('MISSING_PAGINATION_BOUNDARIES', message);
  }
  if (length > 100) {
    const message = `Requesting ${length} records on the \`${name}\` connection exceeds the \`first\` limit of 100 records.`;
    throw new GraphQLFailure('EXCESSIVE_PAGINATION', message);
  }
  const start = first == null ? Math.max(0, all.length - length) : Number(after ?? 0);
  const end = Math.min(start + length, all.length);
  return {
    totalCount: all.length,
    nodes: all.slice(start, end),
    pageInfo: {
      hasNextPage: end < all.length,
      hasPreviousPage: start > 0,
      startCursor: String(start),
      endCursor: String(end),
    },
  };
}

/** What `main:path/to/file` or `main` names. */
async function expressionObject(forge: ForgeContext, expression: string): Promise<GraphQLObject | null> {
  const [, revision = '', path] = /^([^:]*)(?::(.*))?$/.exec(expression) ?? [];
  const sha = await forge.git.commitSha(revision);
  if (!sha) return null;
  if (path === undefined) return objectOf(forge, sha);
  const entry = await forge.git.entryAt((await forge.git.commit(sha)).tree, path);
  return entry ? objectOf(forge, entry.sha) : null;
}

async function objectOf(forge: ForgeContext, sha: string): Promise<GraphQLObject | null> {
  const existing = /^[0-9a-f]{40}$/.test(sha) ? await forge.git.resolve(sha) : undefined;
  switch (existing?.type) {
    case 'commit':
      return commitObject(forge, await forge.git.commit(sha));
    case 'tree':
      return treeObject(forge, sha);
    case 'blob':
      return blobObject(forge, sha, existing.size);
    default:
      return null;
  }
}

/** `Commit`. */
export function commitObject(forge: ForgeContext, commit: Commit): GraphQLObject {
  const [headline = '', ...body] = commit.message.split('\n');
  const signed = forge.store.isSigned(commit.sha);
  return {
    ...gitObject('Commit', commit.sha),
    message: commit.message,
    messageHeadline: headline,
    messageBody: body.join('\n').trim(),
    authoredDate: commit.author.date,
    committedDate: commit.committer.date,
    committedViaWeb: signed,
    url: `${forge.urls.html}/commit/${commit.sha}`,
    author: gitActor(forge, commit.author),
    committer: gitActor(forge, commit.committer),
    signature: signed ? { __typename: 'GpgSignature', isValid: true, state: 'VALID', wasSignedByGitHub: true } : null,
    tree: () => treeObject(forge, commit.tree),
    parents: async () => ({
      totalCount: commit.parents.length,
      nodes: await Promise.all(commit.parents.map(async (sha) => commitObject(forge, await forge.git.commit(sha)))),
    }),
    file: async ({ path }: { path: string }) => {
      const entry = await forge.git.entryAt(commit.tree, path);
      return entry ? { name: entry.name, path, oid: entry.sha, object: () => objectOf(forge, entry.sha) } : null;
    },
  };
}

function treeObject(forge: ForgeContext, sha: string): GraphQLObject {
  return {
    ...gitObject('Tree', sha),
    entries: async () =>
      (await forge.git.tree(sha)).map((entry) => ({
        name: entry.name,
        oid: entry.sha,
        mode: Number.parseInt(entry.mode, 8),
        type: entryType(entry.mode),
        object: () => objectOf(forge, entry.sha),
      })),
  };
}

function blobObject(forge: ForgeContext, sha: string, byteSize: number): GraphQLObject {
  return {
    ...gitObject('Blob', sha),
    byteSize,
    isTruncated: byteSize > MAX_TEXT_BYTES,
    isBinary: async () => (await forge.git.object(sha))?.content.includes(0) ?? false,
    text: async () => {
      const content = (await forge.git.object(sha))?.content;
      return content === undefined || content.includes(0) ? null : content.subarray(0, MAX_TEXT_BYTES).toString();
    },
  };
}

function gitObject(type: string, sha: string): GraphQLObject {
  return { __typename: type, id: nodeId(type, sha), oid: sha, abbreviatedOid: sha.slice(0, 7) };
}

/** `PullRequest`. */
export async function pullRequestObject(
  forge: ForgeContext,
  pull: PullRequest,
  caller: Caller,
): Promise<GraphQLObject> {
  const mergeable = await forge.pulls.mergeable(pull);
  return {
    __typename: 'PullRequest',
    id: nodeId('PullRequest', pull.id),
    databaseId: pull.id,
    number: pull.number,
    title: pull.title,
    body: pull.body ?? '',
    state: pull.mergedAt === null ? pull.state.toUpperCase() : 'MERGED',
    url: `${forge.urls.html}/pull/${pull.number}`,
    isDraft: pull.draft,
    closed: pull.state === 'closed',
    merged: pull.mergedAt !== null,
    createdAt: pull.createdAt,
    updatedAt: pull.updatedAt,
    headRefName: pull.headRef,
    headRefOid: pull.headSha,
    baseRefName: pull.baseRef,
    baseRefOid: pull.baseSha,
    author: actor(forge, pull.user),
    mergeable: mergeable === null ? 'UNKNOWN' : mergeable ? 'MERGEABLE' : 'CONFLICTING',
    mergeStateStatus: async () => mergeableState(await forge.pulls.facts(pull, mergeable)).toUpperCase(),
    viewerDidAuthor: pull.user === caller.user,
    timelineItems: ({ itemTypes, ...page }: PageArguments & { readonly itemTypes?: readonly string[] | null }) =>
      connection('timelineItems', timelineOf(forge, pull, itemTypes ?? null), page),
  };
}

/** Of what happened to a pull request: that it was reopened, and only the last time. */
function timelineOf(
  forge: ForgeContext,
  { id, reopened }: PullRequest,
  types: readonly string[] | null,
): readonly GraphQLObject[] {
  if (reopened === undefined || types?.includes('REOPENED_EVENT') === false) return [];
  const { by, at, times } = reopened;
  const event = nodeId('ReopenedEvent', `${id}-${times}`);
  return [{ __typename: 'ReopenedEvent', id: event, createdAt: at, actor: actor(forge, by) }];
}

/** `IssueComment`. */
export function commentObject(forge: ForgeContext, comment: IssueComment, caller: Caller): GraphQLObject {
  return {
    __typename: 'IssueComment',
    id: nodeId('IssueComment', comment.id),
    databaseId: comment.id,
    url: `${forge.urls.html}/pull/${comment.issue}#issuecomment-${comment.id}`,
    body: comment.body,
    createdAt: comment.createdAt,
    updatedAt: comment.updatedAt,
    author: actor(forge, comment.user),
    viewerDidAuthor: comment.user === caller.user,
  };
}

/** `Actor`: a user, or an app's bot. */
export function actor({ urls }: ForgeContext, login: string): GraphQLObject {
  const shown = simpleUser(urls, login);
  return {
    __typename: shown.type === 'Bot' ? 'Bot' : 'User',
    id: shown['node_id'],
    databaseId: shown.id,
    // GraphQL leaves out the ending that tells an app's login in the REST API.
    login: login.replace(/\[bot\]$/, ''),
    url: shown['html_url'],
  };
}

function gitActor(forge: ForgeContext, { name, email, date }: Signature): GraphQLObject {
  const login = /^\d+\+(.+)@users\.noreply\.github\.com$/.exec(email)?.[1];
  const user = login === undefined || login.endsWith('[bot]') ? null : actor(forge, login);
  return { __typename: 'GitActor', name, email, date, user };
}
