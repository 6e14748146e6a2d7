/** A branch, its commit and its pull request with one request. */
import type { NewCommit, OpenAtOnceOutcome } from '../forge.ts';
import { graphQlFailure, isTrouble } from './failures.ts';
import { commitInput } from './graphql.ts';
import { PULL_REQUEST_FIELDS, type PullRequestNode, pullRequestOfNode } from './pull-request-node.ts';
import type { GitHubRepository } from './repository.ts';
import { moment } from './responses.ts';

interface OpenedAtOnce {
  readonly createRef: { readonly ref: { readonly target: { readonly oid: string } | null } | null } | null;
  readonly createCommitOnBranch: {
    readonly commit: { readonly oid: string; readonly committedDate: string } | null;
  } | null;
  readonly createPullRequest: { readonly pullRequest: PullRequestNode | null } | null;
}

const OPEN = `mutation ($ref: CreateRefInput!, $commit: CreateCommitOnBranchInput!, $pull: CreatePullRequestInput!) { createRef(input: $ref) { ref { target { oid } } } createCommitOnBranch(input: $commit) { commit { oid committedDate } } createPullRequest(input: $pull) { pullRequest { ${PULL_REQUEST_FIELDS} } } }`;

/**
 * Asks for all three. GitHub makes them in this order, each by itself: a later one is made although an earlier one failed.
 * So it counts only if all of them succeeded and the pull request has exactly this commit.
 *
 * @param nodeId of the repository.
 * @throws {ApplicationFailure} ForgeUnavailable when it is unknown what was made.
 */
export async function openAtOnce(
  { client, name, objects, ownChanges }: GitHubRepository,
  nodeId: string,
  input: NewCommit & { readonly base: string; readonly title: string; readonly body: string },
): Promise<OpenAtOnceOutcome> {
  const { branch, parent, base, title, body } = input;
  const response = await client.graphqlParts<OpenedAtOnce>(OPEN, {
    ref: { repositoryId: nodeId, name: `refs/heads/${branch}`, oid: parent.sha },
    commit: commitInput(name, input),
    pull: { repositoryId: nodeId, baseRefName: base, headRefName: branch, title, body },
  });
  if (response === null) return { kind: 'incomplete', message: 'the server has no GraphQL' };
  const { data, errors } = response;
  // It may still happen: the next attempt looks for it, a moment later.
  if (errors.some(isTrouble)) throw graphQlFailure(errors.filter(isTrouble), name);
  const made = data?.createRef?.ref?.target?.oid === parent.sha;
  const commit = data?.createCommitOnBranch?.commit ?? null;
  const pull = data?.createPullRequest?.pullRequest ?? null;
  const isWhole =
    errors.length === 0 &&
    made &&
    commit !== null &&
    pull !== null &&
    pull.headRefOid === commit.oid &&
    pull.headRefName === branch &&
    pull.baseRefName === base &&
    pull.commits.totalCount === 1;
  if (!isWhole) {
    const words = errors.map(({ message }) => message).join('; ');
    return { kind: 'incomplete', message: words === '' ? 'it is not as it was asked for' : words };
  }
  const { oid, committedDate } = commit;
  ownChanges.set(oid, input.files);
  for (const { text } of input.files) objects.noteText(text);
  return { kind: 'opened', pull: pullRequestOfNode(pull), commit: { sha: oid, at: moment(committedDate) } };
}
