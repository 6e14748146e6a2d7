import type { Caller } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import { mergeableState } from '../merge-rules.ts';
import type { AutoMergeEvent, MergeQueueEvent, PullRequest, QueueEntry, Review } from '../model.ts';
import { labelsOf } from '../pull-request-shown.ts';
import { nodeId } from '../represent/urls.ts';
import { checkRollupObject } from './check-rollup.ts';
import { connection, type PageArguments } from './connection.ts';
import { actor, commitObject, type GraphQLObject, objectOf } from './git-objects.ts';
import { refNodeId } from './node-ids.ts';
import { refRules } from './ref-rules.ts';

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
    ...refRules(forge, ref),
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
    mergedAt: pull.mergedAt,
    mergedBy: pull.mergedBy === null ? null : actor(forge, pull.mergedBy),
    // Of an open one GitHub shows here, other than in REST, no commit that merging would make.
    mergeCommit: async () =>
      pull.mergeCommitSha === null ? null : commitObject(forge, await forge.git.commit(pull.mergeCommitSha)),
    headRef: () => refObject(forge, `refs/heads/${pull.headRef}`, caller),
    baseRef: () => refObject(forge, `refs/heads/${pull.baseRef}`, caller),
    isInMergeQueue: pull.queueEntry !== undefined,
    mergeQueueEntry: pull.queueEntry ? queueEntryObject(forge, pull, pull.queueEntry) : null,
    autoMergeRequest: pull.autoMerge
      ? {
          enabledAt: pull.autoMerge.at,
          enabledBy: actor(forge, pull.autoMerge.by),
          mergeMethod: pull.autoMerge.method.toUpperCase(),
          commitHeadline: pull.autoMerge.title,
          commitBody: pull.autoMerge.message,
        }
      : null,
    isMergeQueueEnabled: forge.store.state.protections[pull.baseRef]?.mergeQueue === true,
    statusCheckRollup: () => checkRollupObject(forge, pull.headSha),
    commits: async (page: PageArguments) =>
      connection(
        'commits',
        (await forge.pulls.commits(pull)).map((sha) => ({
          id: nodeId('PullRequestCommit', sha),
          commit: async () => commitObject(forge, await forge.git.commit(sha)),
        })),
        page,
      ),
    labels: (page: PageArguments) =>
      connection(
        'labels',
        labelsOf(forge, pull).map(({ id, name, color }) => ({ id: nodeId('Label', id), name, color })),
        page,
      ),
    reviewRequests: (page: PageArguments) => connection('reviewRequests', reviewRequestsOf(forge, pull), page),
    reviews: (page: PageArguments) =>
      connection(
        'reviews',
        forge.reviews
          .of(pull)
          .filter(({ state, user }) => state !== 'PENDING' || user === caller.user)
          .map((review) => reviewObject(forge, review)),
        page,
      ),
    latestOpinionatedReviews: ({ writersOnly = false, ...page }: PageArguments & { readonly writersOnly?: boolean }) =>
      connection(
        'latestOpinionatedReviews',
        forge.reviews
          .latest(pull)
          .filter(({ user }) => !writersOnly || forge.accounts.mayWrite(user))
          .map((review) => reviewObject(forge, review)),
        page,
      ),
    timelineItems: ({ itemTypes, ...page }: PageArguments & { readonly itemTypes?: readonly string[] | null }) =>
      connection('timelineItems', timelineOf(forge, pull, itemTypes ?? null), page),
  };
}

/** Of what happened to a pull request: its merge queue, its auto-merge, and that it was closed and reopened, the last time only. */
function timelineOf(
  forge: ForgeContext,
  { id, reopened, closedAt, closedBy, queueEvents = [] }: PullRequest,
  types: readonly string[] | null,
): readonly GraphQLObject[] {
  const events: GraphQLObject[] = [];
  const asksFor = (type: string): boolean => types === null || types.includes(type);
  if (reopened !== undefined && asksFor('REOPENED_EVENT')) {
    const { by, at, times } = reopened;
    const event = nodeId('ReopenedEvent', `${id}-${times}`);
    events.push({ __typename: 'ReopenedEvent', id: event, createdAt: at, actor: actor(forge, by) });
  }
  if (closedAt !== null && asksFor('CLOSED_EVENT')) {
    const by = closedBy === null || forge.accounts.isDeleted(closedBy) ? null : actor(forge, closedBy);
    events.push({ __typename: 'ClosedEvent', id: nodeId('ClosedEvent', id), createdAt: closedAt, actor: by });
  }
  for (const [index, event] of queueEvents.entries()) {
    const { name, type } = eventType(event);
    if (!asksFor(type)) continue;
    events.push({
      __typename: name,
      id: nodeId(name, `${id}-${index}`),
      createdAt: event.at,
      actor: actor(forge, event.by),
      ...('reason' in event ? { reason: event.reason } : {}),
    });
  }
  return events;
}

function eventType(event: MergeQueueEvent | AutoMergeEvent): { readonly name: string; readonly type: string } {
  switch (event.kind) {
    case 'added':
      return { name: 'AddedToMergeQueueEvent', type: 'ADDED_TO_MERGE_QUEUE_EVENT' };
    case 'removed':
      return { name: 'RemovedFromMergeQueueEvent', type: 'REMOVED_FROM_MERGE_QUEUE_EVENT' };
    case 'disabled':
      return { name: 'AutoMergeDisabledEvent', type: 'AUTO_MERGE_DISABLED_EVENT' };
    case 'enabled':
      return {
        merge: { name: 'AutoMergeEnabledEvent', type: 'AUTO_MERGE_ENABLED_EVENT' },
        squash: { name: 'AutoSquashEnabledEvent', type: 'AUTO_SQUASH_ENABLED_EVENT' },
        rebase: { name: 'AutoRebaseEnabledEvent', type: 'AUTO_REBASE_ENABLED_EVENT' },
      }[event.method];
  }
}

/** `MergeQueueEntry`. */
export function queueEntryObject(forge: ForgeContext, pull: PullRequest, entry: QueueEntry): GraphQLObject {
  return {
    __typename: 'MergeQueueEntry',
    id: nodeId('MergeQueueEntry', entry.id),
    state: entry.state,
    position: forge.queue.position(pull),
    enqueuedAt: entry.at,
    enqueuer: actor(forge, entry.by),
    jump: false,
    solo: false,
    estimatedTimeToMerge: null,
  };
}

function reviewRequestsOf(
  forge: ForgeContext,
  { requestedReviewers, requestedTeams }: PullRequest,
): readonly GraphQLObject[] {
  return [
    ...requestedReviewers.map((login) => ({
      __typename: 'ReviewRequest',
      id: nodeId('ReviewRequest', login),
      requestedReviewer: actor(forge, login),
    })),
    ...requestedTeams.map((slug) => ({
      __typename: 'ReviewRequest',
      id: nodeId('ReviewRequest', `team/${slug}`),
      requestedReviewer: { __typename: 'Team', id: nodeId('Team', slug), slug, name: slug },
    })),
  ];
}

/** `PullRequestReview`. */
function reviewObject(forge: ForgeContext, review: Review): GraphQLObject {
  return {
    __typename: 'PullRequestReview',
    id: nodeId('PullRequestReview', review.id),
    state: review.state,
    body: review.body,
    submittedAt: review.state === 'PENDING' ? null : review.submittedAt,
    author: forge.accounts.isDeleted(review.user) ? null : actor(forge, review.user),
    authorCanPushToRepository: forge.accounts.mayWrite(review.user),
    commit: async () => {
      const sha = await forge.git.commitSha(review.commitId);
      return sha === undefined ? null : commitObject(forge, await forge.git.commit(sha));
    },
  };
}
