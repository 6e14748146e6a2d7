/** What GitHub merges by itself: what is in the merge queue of a branch. REST knows nothing of it, so that takes GraphQL. */
import type { QueueEntry, QueueRemoval } from '../../../domain/kernel/forge.ts';
import type { EnqueueOutcome, QueueState } from '../forge.ts';
import {
  AUTO_MERGE_EVENT_FIELDS,
  AUTO_MERGE_EVENTS,
  AUTO_MERGE_FIELDS,
  type AutoMergeNode,
  entryOfAutoMerge,
  isDisabledByGitHub,
  kindOfDisabling,
} from './auto-merge.ts';
import type { GitHubClient } from './client.ts';
import { handOver, takeBack } from './handed-over.ts';
import { type ActorNode, accountOf } from './pull-request-node.ts';
import { moment } from './responses.ts';

/** The account in whose name a queue merges, and takes out what it does not merge. */
export const QUEUE_ACCOUNT = 'github-merge-queue[bot]';

export interface QueueNode extends AutoMergeNode {
  readonly mergeQueueEntry: {
    readonly state: string;
    readonly position: number;
    readonly enqueuedAt: string;
    readonly enqueuer: ActorNode;
  } | null;
  readonly queueEvents: {
    readonly nodes: readonly {
      readonly __typename: string;
      readonly createdAt: string;
      /** Null for an account that was deleted. */
      readonly actor: ActorNode | null;
      readonly reason?: string | null;
    }[];
  };
}

const EVENTS = `queueEvents: timelineItems(itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT, ${AUTO_MERGE_EVENTS}], last: 10) { nodes { __typename ... on AddedToMergeQueueEvent { createdAt actor { __typename login } } ... on RemovedFromMergeQueueEvent { createdAt reason actor { __typename login } } ${AUTO_MERGE_EVENT_FIELDS} } }`;

/** Of a `PullRequest`. */
export const QUEUE_FIELDS = `mergeQueueEntry { state position enqueuedAt enqueuer { __typename login } } ${AUTO_MERGE_FIELDS} ${EVENTS}`;

const STATES: Readonly<Record<string, QueueEntry['state']>> = {
  AWAITING_CHECKS: 'checking',
  LOCKED: 'mergeable',
  MERGEABLE: 'mergeable',
  UNMERGEABLE: 'unmergeable',
};

export function queueOfNode(node: QueueNode): QueueState {
  const { mergeQueueEntry: entry, queueEvents } = node;
  if (entry !== null) {
    const { enqueuer, enqueuedAt, state, position } = entry;
    const by = accountOf(enqueuer) ?? 'unknown';
    return { entry: { by, at: moment(enqueuedAt), state: STATES[state] ?? 'waiting', position }, removal: null };
  }
  const autoMerge = entryOfAutoMerge(node);
  if (autoMerge !== null) return { entry: autoMerge, removal: null };
  const last = queueEvents.nodes.at(-1);
  if (last?.__typename === 'AutoMergeDisabledEvent') return { entry: null, removal: disablingOf(last, queueEvents) };
  // A merge is a removal too; who asks for one has a pull request that is open.
  if (last?.__typename !== 'RemovedFromMergeQueueEvent') return { entry: null, removal: null };
  const { createdAt, actor, reason } = last;
  const by = accountOf(actor);
  const entered = queueEvents.nodes.findLast(({ __typename }) => __typename === 'AddedToMergeQueueEvent');
  const removal: QueueRemoval = {
    by: by === QUEUE_ACCOUNT ? null : by,
    at: moment(createdAt),
    enteredAt: entered === undefined ? null : moment(entered.createdAt),
    kind: kindOf(reason ?? ''),
    reason: (reason ?? '').replaceAll('_', ' '),
  };
  return { entry: null, removal };
}

type Events = QueueNode['queueEvents'];

function disablingOf({ createdAt, actor, reason }: Events['nodes'][number], { nodes }: Events): QueueRemoval {
  const enabled = nodes.findLast(({ __typename }) => /^Auto\w+EnabledEvent$/.test(__typename));
  const words = reason ?? '';
  return {
    autoMerge: true,
    // Who is not known any more has disabled it all the same.
    by: isDisabledByGitHub(words) ? null : (accountOf(actor) ?? 'unknown'),
    at: moment(createdAt),
    enteredAt: enabled === undefined ? null : moment(enabled.createdAt),
    kind: kindOfDisabling(words),
    reason: words,
  };
}

/** GitHub documents no list of reasons: `failed_checks` and `merge_conflict` are what it is seen to say, and timeouts. */
function kindOf(reason: string): QueueRemoval['kind'] {
  if (/conflict/i.test(reason)) return 'conflict';
  return /check|ci_|timeout|timed/i.test(reason) ? 'checks' : 'other';
}

/**
 * On whose behalf it was merged: a queue merges in its own name what somebody has put there.
 *
 * @param author where the forge does not say who did: whatever is not known to be a person's merge counts as one of the account
 *   that opened it.
 */
export function mergerOf(
  mergedBy: string | null,
  { queueEvents }: Pick<QueueNode, 'queueEvents'>,
  author: string | null,
): string | null {
  if (mergedBy !== QUEUE_ACCOUNT) return mergedBy;
  const added = queueEvents.nodes.findLast(({ __typename }) => __typename === 'AddedToMergeQueueEvent');
  return accountOf(added?.actor ?? null) ?? author;
}

const MERGER = `query ($owner: String!, $name: String!, $number: Int!) { repository(owner: $owner, name: $name) { pullRequest(number: $number) { ${EVENTS} } } }`;

/** Who put into the queue what it has merged; `author` as above, also where there is no GraphQL. */
export async function readMerger(client: GitHubClient, number: number, author: string | null): Promise<string | null> {
  const answer = await client.graphqlAnswer<
    { readonly repository: { readonly pullRequest: Pick<QueueNode, 'queueEvents'> } },
    'NOT_FOUND' | 'FORBIDDEN'
  >(['NOT_FOUND', 'FORBIDDEN'], MERGER, { owner: client.owner, name: client.repo, number });
  return answer.ok ? mergerOf(QUEUE_ACCOUNT, answer.data.repository.pullRequest, author) : author;
}

const ENQUEUE =
  'mutation ($input: EnqueuePullRequestInput!) { enqueuePullRequest(input: $input) { mergeQueueEntry { state } } }';

/** https://docs.github.com/en/graphql/reference/mutations#enqueuepullrequest */
export async function enqueue(client: GitHubClient, pullRequestId: string, headSha: string): Promise<EnqueueOutcome> {
  return await handOver(client, ENQUEUE, { pullRequestId, expectedHeadOid: headSha });
}

const DEQUEUE =
  'mutation ($input: DequeuePullRequestInput!) { dequeuePullRequest(input: $input) { clientMutationId } }';

/** GitHub may say that it failed and have done it all the same. */
export async function dequeue(client: GitHubClient, pullRequestId: string): Promise<void> {
  await takeBack(client, DEQUEUE, { id: pullRequestId });
}
