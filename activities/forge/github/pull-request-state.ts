/** A pull request with what decides about its merge, in one query where there is GraphQL. */
import type {
  BranchRules,
  Checks,
  Commit,
  FileAtCommit,
  ForgeApproval,
  ForgeBranches,
  ForgeFiles,
  ForgePullRequests,
  PullRequest,
  PullRequestState,
} from '../forge.ts';
import { blobSha } from '../git-blob.ts';
import type { ChangeRequests } from '../../../domain/kernel/forge.ts';
import { checksOf } from './checks.ts';
import { approvingReviews, type GivenReview, requestingReviews } from './last-words.ts';
import { mergerOf, QUEUE_FIELDS, type QueueNode, queueOfNode } from './merge-queue.ts';
import { allowedMethods, methodsLeftBy } from './merge-methods.ts';
import {
  type ActorNode,
  accountOf,
  PULL_REQUEST_FIELDS,
  type PullRequestNode,
  pullRequestOfNode,
} from './pull-request-node.ts';
import type { GitHubRepository } from './repository.ts';
import { moment } from './responses.ts';

interface Page<Node> {
  readonly pageInfo: { readonly hasNextPage: boolean };
  readonly nodes: readonly Node[];
}

interface CommitNode {
  readonly oid: string;
  readonly message: string;
  readonly committedDate: string;
  readonly committer: {
    readonly name: string | null;
    readonly email: string | null;
    readonly user: { readonly login: string } | null;
  } | null;
  readonly tree: { readonly oid: string };
  readonly parents: { readonly nodes: readonly { readonly oid: string }[] };
}

interface ReviewNode {
  readonly state: string;
  /** Null while it is being written. */
  readonly submittedAt: string | null;
  readonly author: ActorNode | null;
  readonly authorCanPushToRepository: boolean;
  readonly commit: { readonly oid: string } | null;
}

type CheckNode =
  | {
      readonly __typename: 'CheckRun';
      readonly databaseId: number | null;
      readonly name: string;
      readonly status: string;
      readonly conclusion: string | null;
      readonly checkSuite: { readonly id: string };
    }
  | { readonly __typename: 'StatusContext'; readonly context: string; readonly state: string };

interface RuleNode {
  readonly type: string;
  /** Of the rules that are asked for theirs. */
  readonly parameters: {
    readonly requiredApprovingReviewCount?: number;
    readonly requiredStatusChecks?: readonly { readonly context: string }[];
    readonly allowedMergeMethods?: readonly string[] | null;
  } | null;
}

interface StateNode extends PullRequestNode, QueueNode {
  readonly id: string;
  readonly isMergeQueueEnabled: boolean;
  readonly headRef: { readonly target: { readonly oid: string } | null } | null;
  readonly baseRef: {
    readonly refUpdateRule: {
      readonly requiredStatusCheckContexts: readonly (string | null)[] | null;
      readonly requiredApprovingReviewCount: number | null;
      readonly requiresLinearHistory: boolean;
    } | null;
    readonly rules: Page<RuleNode> | null;
  } | null;
  /** Null when nothing checks the head. */
  readonly statusCheckRollup: { readonly contexts: Page<CheckNode> } | null;
  readonly timelineItems: { readonly nodes: readonly { readonly actor?: ActorNode | null }[] };
  readonly newest: {
    readonly nodes: readonly {
      readonly commit: CommitNode & { readonly parents: { readonly nodes: readonly CommitNode[] } };
    }[];
  };
  /** Absent where they were not asked for. */
  readonly reviews?: Page<ReviewNode> | null;
  /** Of each account the last review that says more than a comment does. */
  readonly latestOpinionatedReviews: Page<ReviewNode> | null;
  readonly merge?: {
    readonly oid: string;
    readonly tree: { readonly oid: string };
    readonly parents: { readonly nodes: readonly { readonly tree: { readonly oid: string } }[] };
    readonly file: {
      readonly object: {
        readonly oid?: string;
        readonly text?: string | null;
      } | null;
    } | null;
  } | null;
}

interface RepositoryNode {
  readonly squashMergeAllowed: boolean;
  readonly rebaseMergeAllowed: boolean;
  readonly mergeCommitAllowed: boolean;
  readonly autoMergeAllowed: boolean;
  readonly pullRequest: StateNode;
}

const COMMIT_FIELDS = 'oid message committedDate committer { name email user { login } } tree { oid }';

const REVIEW_FIELDS = 'state submittedAt author { __typename login } authorCanPushToRepository commit { oid }';

const STATE = `query ($owner: String!, $name: String!, $number: Int!, $reviews: Boolean!, $merged: Boolean!, $path: String! = "") { repository(owner: $owner, name: $name) { squashMergeAllowed rebaseMergeAllowed mergeCommitAllowed autoMergeAllowed pullRequest(number: $number) { ${PULL_REQUEST_FIELDS} id ${QUEUE_FIELDS} isMergeQueueEnabled headRef { target { oid } } baseRef { refUpdateRule { requiredStatusCheckContexts requiredApprovingReviewCount requiresLinearHistory } rules(first: 100) { pageInfo { hasNextPage } nodes { type parameters { ... on PullRequestParameters { requiredApprovingReviewCount allowedMergeMethods } ... on RequiredStatusChecksParameters { requiredStatusChecks { context } } } } } } statusCheckRollup { contexts(first: 100) { pageInfo { hasNextPage } nodes { __typename ... on CheckRun { databaseId name status conclusion checkSuite { id } } ... on StatusContext { context state } } } } timelineItems(itemTypes: [CLOSED_EVENT], last: 1) { nodes { ... on ClosedEvent { actor { __typename login } } } } newest: commits(last: 1) { nodes { commit { ${COMMIT_FIELDS} parents(first: 2) { nodes { ${COMMIT_FIELDS} parents(first: 2) { nodes { oid } } } } } } } reviews(first: 100) @include(if: $reviews) { pageInfo { hasNextPage } nodes { ${REVIEW_FIELDS} } } latestOpinionatedReviews(first: 100) { pageInfo { hasNextPage } nodes { ${REVIEW_FIELDS} } } merge: mergeCommit @include(if: $merged) { oid tree { oid } parents(first: 1) { nodes { tree { oid } } } file(path: $path) { object { ... on Blob { oid text } } } } } } }`;

/** By REST, one request for each; what a query did not bring is asked for here. */
interface OneByOne {
  readonly files: Pick<ForgeFiles, 'fileAt'>;
  readonly branches: Pick<ForgeBranches, 'rules' | 'head'>;
  readonly pullRequests: Pick<
    ForgePullRequests,
    'get' | 'checks' | 'mergeMethods' | 'approvals' | 'changeRequests' | 'closedBy'
  >;
}

/** Reads the state; with REST the pull request alone. */
export async function readState(
  repository: GitHubRepository,
  oneByOne: OneByOne,
  number: number,
  ahead: Parameters<ForgePullRequests['state']>[1] = {},
): Promise<PullRequestState> {
  const { client, where } = repository;
  const { approvals = false, mergedFile: path } = ahead;
  const answer = await client.graphqlAnswer<{ readonly repository: RepositoryNode }, 'NOT_FOUND' | 'FORBIDDEN'>(
    ['NOT_FOUND', 'FORBIDDEN'],
    STATE,
    {
      owner: where.owner,
      name: where.repo,
      number,
      reviews: approvals,
      merged: path !== undefined,
      ...(path === undefined ? {} : { path }),
    },
  );
  // REST says what is missing, or which right.
  if (!answer.ok) return restState(oneByOne, await oneByOne.pullRequests.get(number));
  const { pullRequest: node, ...settings } = answer.data.repository;
  repository.pullIds.set(String(number), node.id);
  for (const commit of commitsOf(node)) repository.commits.set(commit.sha, commit);
  noteMerge(repository, node);
  return queriedState(node, settings, oneByOne, path);
}

/** Whoever merged what this process wrote: the base branch is known without being asked for. */
function noteMerge({ objects, ownChanges }: GitHubRepository, { merge, headRefOid }: StateNode): void {
  const before = merge?.parents.nodes[0]?.tree.oid;
  const files = ownChanges.get(headRefOid);
  if (merge && before !== undefined && files !== undefined) objects.noteTree(merge.tree.oid, before, files);
}

function restState({ files, branches, pullRequests }: OneByOne, pull: PullRequest): PullRequestState {
  const { number, headSha, headRef, baseRef, mergeSha, autoMerge, createdAt } = pull;
  // Since when it is enabled REST does not tell, nor of a merge queue.
  const how = { at: createdAt, state: 'waiting', position: null } as const;
  const entry = autoMerge && { autoMerge: autoMerge.method, by: autoMerge.by, ...how };
  return {
    pull,
    queue: entry === undefined ? null : { entry, removal: null },
    autoMergeIsAllowed: false,
    checks: async () => await pullRequests.checks(headSha),
    rules: async () => await branches.rules(baseRef),
    mergeMethods: async () => await pullRequests.mergeMethods(),
    approvals: async () => await pullRequests.approvals(number),
    changeRequests: async () => await pullRequests.changeRequests(number),
    closedBy: async () => (pull.state === 'closed' ? await pullRequests.closedBy(number) : null),
    branchHead: async () => await branches.head(headRef),
    mergedFile: async (path) => (mergeSha === null ? null : await files.fileAt(path, mergeSha)),
  };
}

/** @param path of the file that was asked for. */
function queriedState(
  node: StateNode,
  settings: Omit<RepositoryNode, 'pullRequest'>,
  oneByOne: OneByOne,
  path: string | undefined,
): PullRequestState {
  const { mergedBy, ...shown } = pullRequestOfNode(node);
  const pull = { ...shown, mergedBy: mergerOf(mergedBy, node, shown.user) };
  const otherwise = restState(oneByOne, pull);
  const known = {
    checks: checksOfNode(node),
    rules: rulesOfNode(node),
    approvals: approvalsOfNode(node, pull.user),
    changeRequests: changeRequestsOfNode(node),
    file: mergedFileOfNode(node),
  };
  return {
    pull,
    queue: queueOfNode(node),
    autoMergeIsAllowed: settings.autoMergeAllowed,
    checks: async () => known.checks ?? (await otherwise.checks()),
    rules: async () => known.rules ?? (await otherwise.rules()),
    mergeMethods: () =>
      Promise.resolve(
        allowedMethods({
          allow_squash_merge: settings.squashMergeAllowed,
          allow_rebase_merge: settings.rebaseMergeAllowed,
          allow_merge_commit: settings.mergeCommitAllowed,
        }),
      ),
    approvals: async () => known.approvals ?? (await otherwise.approvals()),
    changeRequests: async () => known.changeRequests ?? (await otherwise.changeRequests()),
    closedBy: () => Promise.resolve(accountOf(node.timelineItems.nodes.at(-1)?.actor ?? null)),
    branchHead: () => Promise.resolve(node.headRef?.target?.oid ?? null),
    mergedFile: async (asked) =>
      asked === path && known.file !== undefined ? known.file : await otherwise.mergedFile(asked),
  };
}

/** Undefined when there are more than the query gives. */
function checksOfNode({ statusCheckRollup }: StateNode): Checks | undefined {
  const contexts = statusCheckRollup?.contexts;
  if (contexts?.pageInfo.hasNextPage === true) return undefined;
  const latest = new Map<string, CheckNode>();
  for (const check of contexts?.nodes ?? []) {
    // A run that was repeated is in the list beside the one that repeats it.
    const key = check.__typename === 'CheckRun' ? `${check.checkSuite.id} ${check.name}` : `status ${check.context}`;
    const before = latest.get(key);
    const isNewer =
      before?.__typename !== 'CheckRun' || check.__typename !== 'CheckRun' || numberOf(check) > numberOf(before);
    if (isNewer) latest.set(key, check);
  }
  return checksOf(
    [...latest.values()].map((check) =>
      check.__typename === 'CheckRun'
        ? {
            kind: 'run',
            name: check.name,
            status: check.status.toLowerCase(),
            conclusion: check.conclusion?.toLowerCase() ?? null,
          }
        : { kind: 'status', name: check.context, state: check.state.toLowerCase() },
    ),
  );
}

function numberOf({ databaseId }: Extract<CheckNode, { __typename: 'CheckRun' }>): number {
  return databaseId ?? 0;
}

/** Undefined when there are more than the query gives, or the base branch is gone. */
function rulesOfNode({ baseRef, isMergeQueueEnabled }: StateNode): BranchRules | undefined {
  if (baseRef === null || baseRef.rules?.pageInfo.hasNextPage === true) return undefined;
  const { refUpdateRule } = baseRef;
  const rules = baseRef.rules?.nodes ?? [];
  const contexts = refUpdateRule?.requiredStatusCheckContexts ?? [];
  const requiresChecks =
    contexts.length > 0 || rules.some(({ parameters }) => (parameters?.requiredStatusChecks?.length ?? 0) > 0);
  const approvals = [refUpdateRule, ...rules.map(({ parameters }) => parameters)].map(
    (rule) => rule?.requiredApprovingReviewCount ?? 0,
  );
  return {
    requiresChecks,
    mergeQueue: isMergeQueueEnabled || rules.some(({ type }) => type === 'MERGE_QUEUE'),
    isProtected: requiresChecks || approvals.some((count) => count > 0),
    mergeMethods: methodsLeftBy({
      linear:
        refUpdateRule?.requiresLinearHistory === true || rules.some(({ type }) => type === 'REQUIRED_LINEAR_HISTORY'),
      allowed: rules.flatMap(({ parameters }) =>
        parameters?.allowedMergeMethods ? [parameters.allowedMergeMethods] : [],
      ),
    }),
  };
}

/** Undefined when they were not asked for, or there are more than the query gives. */
function approvalsOfNode({ reviews }: StateNode, author: string | null): readonly ForgeApproval[] | undefined {
  if (reviews === undefined || reviews === null || reviews.pageInfo.hasNextPage) return undefined;
  return approvingReviews(givenReviews(reviews), author).flatMap(({ by, headSha, at, mayWrite }) =>
    headSha !== null && mayWrite ? [{ by, headSha, at }] : [],
  );
}

/** Undefined when more accounts have reviewed than the query gives. */
function changeRequestsOfNode({ latestOpinionatedReviews: latest }: StateNode): ChangeRequests | undefined {
  if (latest === null || latest.pageInfo.hasNextPage) return undefined;
  return requestingReviews(givenReviews(latest)).flatMap(({ by, type, headSha, at, mayWrite }) =>
    type === 'Bot' || mayWrite ? [{ by, headSha, at }] : [],
  );
}

function givenReviews({ nodes }: Page<ReviewNode>): readonly (GivenReview & { readonly mayWrite: boolean })[] {
  return nodes.flatMap(({ author, state, submittedAt, commit, authorCanPushToRepository: mayWrite }) => {
    const by = accountOf(author);
    // A deleted account has no author.
    if (author === null || by === null) return [];
    const at = moment(submittedAt ?? undefined);
    return [{ by, type: author.__typename, state, headSha: commit?.oid ?? null, at, mayWrite }];
  });
}

/** Undefined when it was not asked for, or its text did not come whole: GraphQL cuts long ones and converts encodings. */
function mergedFileOfNode({ merge }: StateNode): FileAtCommit | null | undefined {
  if (merge === undefined || merge === null) return merge;
  const blob = merge.file?.object ?? null;
  if (blob?.oid === undefined) return null;
  return typeof blob.text === 'string' && blobSha(blob.text) === blob.oid
    ? { sha: blob.oid, text: blob.text }
    : undefined;
}

/** The head's commit and those below it. */
function commitsOf({ headRefOid, newest }: StateNode): readonly Commit[] {
  const head = newest.nodes.at(-1)?.commit;
  if (head?.oid !== headRefOid) return [];
  return [head, ...head.parents.nodes].map((commit) => ({
    sha: commit.oid,
    message: commit.message,
    parents: commit.parents.nodes.map(({ oid }) => oid),
    treeSha: commit.tree.oid,
    committedAt: moment(commit.committedDate),
    committer: committerOf(commit),
  }));
}

/** As REST names the account: GitHub's own commits are by `web-flow`. */
function committerOf({ committer }: CommitNode): string | null {
  if (committer?.user) return committer.user.login;
  return committer?.email === 'noreply@github.com' ? 'web-flow' : null;
}
