import type { Accounts } from './accounts.ts';
import { ApiError } from './api-error.ts';
import { isoSeconds } from './git/objects.ts';
import { mergeableState } from './merge-rules.ts';
import type { AutoMergeEvent, MergeMethod, PullRequest } from './model.ts';
import type { Mutex } from './mutex.ts';
import type { PullRequests } from './pull-requests.ts';
import type { Store } from './store.ts';
import type { Events } from './webhooks/event.ts';

export interface AutoMergeRequest {
  readonly by: string;
  readonly method: MergeMethod;
  readonly title?: string;
  readonly message?: string;
  /** The head that the caller has seen. */
  readonly expectedHead?: string;
}

export interface AutoMergesOptions {
  readonly store: Store;
  readonly pulls: PullRequests;
  readonly accounts: Accounts;
  readonly events: Events;
  readonly lock: Mutex;
}

/**
 * GitHub's own auto-merge: it merges, in the name of whoever enabled it and by the method of then, as soon as the rules of the base
 * branch are met, and some time after whatever met them. It brings no branch up to date, and a check that is not required does not
 * hold it.
 */
export class AutoMerges {
  readonly #store: Store;
  readonly #pulls: PullRequests;
  readonly #accounts: Accounts;
  readonly #events: Events;
  readonly #lock: Mutex;
  #isHeld = false;
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  constructor({ store, pulls, accounts, events, lock }: AutoMergesOptions) {
    this.#store = store;
    this.#pulls = pulls;
    this.#accounts = accounts;
    this.#events = events;
    this.#lock = lock;
    pulls.on({
      ended: (pull, by) => {
        if (pull.mergedAt === null) this.#remove(pull, by, 'Pull request was closed');
        else delete pull.autoMerge;
      },
      moved: (pull, by) => {
        if (this.#accounts.mayWrite(by)) return;
        this.#remove(pull, by, 'Head branch was pushed to by a user without write access');
      },
    });
  }

  /** @throws ApiError 422 in GitHub's words */
  async enable(pull: PullRequest, { by, method, expectedHead, ...text }: AutoMergeRequest): Promise<void> {
    const reject = (message: string): ApiError => new ApiError(422, message);
    await this.#pulls.refresh(pull);
    const { mergeSettings } = this.#store.state;
    if (mergeSettings.autoMerge !== true) throw reject('Pull request Auto merge is not allowed for this repository');
    if (pull.state !== 'open') throw reject("Can't enable auto-merge for this pull request.");
    if (expectedHead !== undefined && expectedHead !== pull.headSha) {
      throw reject('Pull request head sha does not match the expected one');
    }
    if (!mergeSettings.methods.includes(method)) {
      throw reject(`Pull request Merge method ${method} merging is not allowed on this repository`);
    }
    const state = mergeableState(await this.#pulls.facts(pull, await this.#pulls.mergeable(pull)));
    if (state !== 'blocked' && state !== 'behind') throw reject(`Pull request Pull request is in ${state} status`);
    const at = isoSeconds(new Date());
    pull.autoMerge = { by, at, method, title: text.title ?? '', message: text.message ?? '' };
    this.#note(pull, { kind: 'enabled', by, at, method });
    this.#events.emit({ name: 'pull_request', pull, sender: by, action: 'auto_merge_enabled' });
  }

  /** @throws ApiError 422 where it is not enabled */
  disable(pull: PullRequest, by: string): void {
    if (!pull.autoMerge) throw new ApiError(422, "Can't disable auto-merge for this pull request.");
    this.#remove(pull, by, null);
  }

  /** GitHub takes its time while it is held. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    if (!isHeld) this.consider();
  }

  /** Merges what may be merged by now, after whoever holds the lock is through. */
  consider(): void {
    if (this.#isHeld || this.#isStopped || !this.#store.state.pulls.some(({ autoMerge }) => autoMerge)) return;
    this.#running = this.#lock.run(async () => {
      for (const pull of this.#store.state.pulls) {
        const { autoMerge } = pull;
        // Somebody may have disabled it, or holds it, while another one was merged.
        if (!autoMerge || pull.state !== 'open' || this.#isHeld || this.#isStopped) continue;
        // Whatever is missing, GitHub waits for it, and for a method that is no longer allowed as well.
        await this.#pulls.merge(pull, autoMerge).catch((cause: unknown) => {
          if (!(cause instanceof ApiError)) throw cause;
        });
      }
      await this.#store.save();
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  #remove(pull: PullRequest, by: string, reason: string | null): void {
    if (!pull.autoMerge) return;
    delete pull.autoMerge;
    this.#note(pull, { kind: 'disabled', by, at: isoSeconds(new Date()), reason });
    this.#events.emit({
      name: 'pull_request',
      pull,
      sender: by,
      action: 'auto_merge_disabled',
      reason: reason ?? 'Manually disabled by user',
    });
  }

  #note(pull: PullRequest, event: AutoMergeEvent): void {
    pull.queueEvents = [...(pull.queueEvents ?? []), event];
    pull.updatedAt = event.at;
  }
}
