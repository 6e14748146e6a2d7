import type { Caller } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import type { IssueComment, PullRequest } from '../model.ts';
import { idOf } from '../people.ts';
import { nodeId } from '../represent/urls.ts';
import { connection, type PageArguments } from './connection.ts';
import { actor, expressionObject, type GraphQLObject, objectOf } from './git-objects.ts';
import { repositoryNodeId } from './node-ids.ts';
import { pullRequestObject, refObject } from './pull-request.ts';

/** `Repository` of GitHub's schema, as far as the forge knows it. */
export function repositoryObject(forge: ForgeContext, caller: Caller): GraphQLObject {
  const { owner, repo, urls, git, defaultBranch } = forge;
  const { mergeSettings } = forge.store.state;
  return {
    __typename: 'Repository',
    id: repositoryNodeId(forge),
    databaseId: idOf(`${owner}/${repo}`),
    name: repo,
    nameWithOwner: `${owner}/${repo}`,
    url: urls.html,
    isPrivate: false,
    isArchived: false,
    squashMergeAllowed: mergeSettings.methods.includes('squash'),
    mergeCommitAllowed: mergeSettings.methods.includes('merge'),
    rebaseMergeAllowed: mergeSettings.methods.includes('rebase'),
    autoMergeAllowed: mergeSettings.autoMerge === true,
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
