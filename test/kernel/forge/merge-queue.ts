import { ApiError } from './api-error.ts';
import { isoSeconds } from './git/objects.ts';
import type { MergeQueueEvent, PullRequest, QueueEntry } from './model.ts';
import type { PullRequests } from './pull-requests.ts';
import type { Store } from './store.ts';
import type { Events } from './webhooks/event.ts';

/** Who merges, and takes out what it does not merge. */
const QUEUE_BOT = 'github-merge-queue[bot]';

/** Why a pull request left the queue, as its timeline says it, with what the webhook says of the same. */
const REASONS = {
  merged: { timeline: 'merged', webhook: 'MERGE' },
  failed_checks: { timeline: 'failed_checks', webhook: 'CI_FAILURE' },
  merge_conflict: { timeline: 'merge_conflict', webhook: 'MERGE_CONFLICT' },
  manual: { timeline: 'manual', webhook: 'MANUAL' },
  moved: { timeline: 'branch_updated', webhook: 'UNKNOWN_REMOVAL_REASON' },
  closed: { timeline: 'pull_request_closed', webhook: 'UNKNOWN_REMOVAL_REASON' },
} as const;

export type RemovalReason = keyof typeof REASONS;

/** What becomes of the checks of a group. */
export type QueueVerdict = 'passed' | 'failed';

/**
 * The merge queues of a repository's branches. An entry waits until somebody says what became of its checks; what is in the
 * way of a merge by hand stops it no more, and neither does a conversion to a draft.
 */
export class MergeQueue {
  readonly #store: Store;
  readonly #pulls: PullRequests;
  readonly #events: Events;

  constructor({ store, pulls, events }: { store: Store; pulls: PullRequests; events: Events }) {
    this.#store = store;
    this.#pulls = pulls;
    this.#events = events;
    pulls.on({
      ended: (pull) => this.remove(pull, QUEUE_BOT, pull.mergedAt === null ? 'closed' : 'merged'),
      moved: (pull) => this.remove(pull, QUEUE_BOT, 'moved'),
    });
  }

  /** @throws ApiError 422 in the words after "Pull request" where GitHub's are not known */
  async add(pull: PullRequest, by: string, expectedHead?: string): Promise<QueueEntry> {
    const reject = (message: string): ApiError => new ApiError(422, message);
    await this.#pulls.refresh(pull);
    if (pull.state !== 'open') throw reject('Pull request is closed');
    if (!this.#store.state.protections[pull.baseRef]?.mergeQueue) {
      throw reject('Merge queue is not enabled for the base branch');
    }
    if (pull.queueEntry) throw reject('Pull request is already in the queue');
    if (pull.draft) throw reject('Pull request is a draft');
    if (expectedHead !== undefined && expectedHead !== pull.headSha) {
      throw reject('Pull request head sha does not match the expected one');
    }
    const objection = await this.#pulls.queueObjection(pull);
    if (objection !== undefined) throw reject(`Pull request ${objection}`);
    const at = isoSeconds(new Date());
    pull.queueEntry = { id: this.#store.nextId(), by, at, state: 'AWAITING_CHECKS' };
    this.#note(pull, { kind: 'added', by, at });
    this.#events.emit({ name: 'pull_request', pull, sender: by, action: 'enqueued' });
    return pull.queueEntry;
  }

  /** @throws ApiError 422 where it is in no queue, or is being merged */
  take(pull: PullRequest, by: string): void {
    const refused = new ApiError(422, `Failed to remove PR #${pull.number} from the merge queue.`);
    if (!pull.queueEntry || pull.queueEntry.state === 'LOCKED') throw refused;
    this.remove(pull, by, 'manual');
  }

  /** Takes an entry out, for whatever reason. */
  remove(pull: PullRequest, by: string, reason: RemovalReason): void {
    if (!pull.queueEntry) return;
    delete pull.queueEntry;
    const { timeline, webhook } = REASONS[reason];
    this.#note(pull, { kind: 'removed', by, at: isoSeconds(new Date()), reason: timeline });
    this.#events.emit({ name: 'pull_request', pull, sender: by, action: 'dequeued', reason: webhook });
  }

  /** The position of an entry, from 1. */
  position({ number, baseRef }: PullRequest): number {
    const waiting = this.#store.state.pulls
      .filter((pull) => pull.queueEntry && pull.baseRef === baseRef)
      .toSorted((a, b) => (a.queueEntry?.id ?? 0) - (b.queueEntry?.id ?? 0));
    return waiting.findIndex((pull) => pull.number === number) + 1;
  }

  /** Why a branch may not be moved while its pull request is queued; undefined when it may. */
  updateObjection(branch: string): string | undefined {
    const isQueued = this.#store.state.pulls.some((pull) => pull.queueEntry && pull.headRef === branch);
    return isQueued
      ? 'Branches that are queued for merging cannot be updated. To modify this branch, dequeue the associated pull request.'
      : undefined;
  }

  /** The checks of its group have ended: it is merged, or taken out. Returns the merge commit. */
  async finish(pull: PullRequest, verdict: QueueVerdict): Promise<string | undefined> {
    if (!pull.queueEntry) throw new Error(`pull request #${pull.number} is in no merge queue`);
    if (verdict === 'failed') {
      this.remove(pull, QUEUE_BOT, 'failed_checks');
      return undefined;
    }
    const method = this.#store.state.protections[pull.baseRef]?.queueMethod ?? 'squash';
    try {
      return await this.#pulls.mergeInQueue(pull, { by: QUEUE_BOT, method });
    } catch (cause) {
      if (!(cause instanceof ApiError)) throw cause;
      this.remove(pull, QUEUE_BOT, 'merge_conflict');
      return undefined;
    }
  }

  #note(pull: PullRequest, event: MergeQueueEvent): void {
    pull.queueEvents = [...(pull.queueEvents ?? []), event];
    pull.updatedAt = event.at;
  }
}
