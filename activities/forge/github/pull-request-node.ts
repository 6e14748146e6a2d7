/** A pull request as GraphQL gives it. */
import type { PullRequest } from '../forge.ts';
import { mergeabilityOf } from './mergeability.ts';
import { moment } from './responses.ts';

export interface ActorNode {
  readonly __typename: string;
  readonly login: string;
}

/** `PullRequest`, as far as `PULL_REQUEST_FIELDS` asks for it. */
export interface PullRequestNode {
  readonly number: number;
  readonly url: string;
  readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
  readonly title: string;
  readonly body: string;
  /** Null for an account that was deleted. */
  readonly author: ActorNode | null;
  readonly headRefOid: string;
  readonly headRefName: string;
  readonly baseRefName: string;
  readonly createdAt: string;
  readonly mergedAt: string | null;
  readonly mergedBy: ActorNode | null;
  readonly mergeCommit: { readonly oid: string } | null;
  readonly isDraft: boolean;
  readonly mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
  readonly mergeStateStatus: string;
  readonly commits: { readonly totalCount: number };
  readonly labels: { readonly nodes: readonly { readonly name: string }[] } | null;
  readonly reviewRequests: {
    readonly nodes: readonly { readonly requestedReviewer: { readonly login?: string } | null }[];
  } | null;
}

/** Without teams that are asked for a review: their names want a right that a token need not have. */
export const PULL_REQUEST_FIELDS =
  'number url state title body author { __typename login } headRefOid headRefName baseRefName createdAt mergedAt mergedBy { __typename login } mergeCommit { oid } isDraft mergeable mergeStateStatus commits(last: 1) { totalCount } labels(first: 100) { nodes { name } } reviewRequests(first: 100) { nodes { requestedReviewer { ... on User { login } } } }';

export function pullRequestOfNode(node: PullRequestNode): PullRequest {
  return {
    number: node.number,
    url: node.url,
    state: node.state === 'OPEN' ? 'open' : 'closed',
    title: node.title,
    body: node.body,
    user: accountOf(node.author),
    headSha: node.headRefOid,
    headRef: node.headRefName,
    baseRef: node.baseRefName,
    createdAt: moment(node.createdAt),
    mergedAt: node.mergedAt === null ? null : moment(node.mergedAt),
    mergedBy: accountOf(node.mergedBy),
    mergeSha: node.state === 'MERGED' ? (node.mergeCommit?.oid ?? null) : null,
    mergeability: mergeabilityOf({
      draft: node.isDraft,
      mergeable: node.mergeable === 'UNKNOWN' ? null : node.mergeable === 'MERGEABLE',
      mergeable_state: node.mergeStateStatus.toLowerCase(),
    }),
    commits: node.commits.totalCount,
    labels: node.labels?.nodes.map(({ name }) => name) ?? [],
    requestedReviewers:
      node.reviewRequests?.nodes.flatMap(({ requestedReviewer }) => requestedReviewer?.login ?? []) ?? [],
  };
}

/** The account's name as REST writes it: GraphQL leaves out the ending of an App's. */
export function accountOf(actor: ActorNode | null): string | null {
  if (actor === null) return null;
  return actor.__typename === 'Bot' ? `${actor.login}[bot]` : actor.login;
}
