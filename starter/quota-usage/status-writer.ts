/** Writes the status of quotas where this starter owns them: each as it was counted, one write at a time for each quota. */
import type { ApplicationFailure } from '@temporalio/common';
import { kubernetesFailure } from '../../activities/kubernetes/failure.ts';
import { type PauseInForce, pauseSentence } from '../../domain/kernel/pause.ts';
import { equalLists } from '../../domain/kernel/resource-list.ts';
import { isAtLeast } from '../../domain/kernel/resource-version.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import type { DesiredStatus } from '../../domain/quota-usage/status.ts';
import type { Log } from '../../platform/log/log.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';
import type { UsageMetrics } from './metrics.ts';
import type { patchStatus } from './status-patch.ts';

/** A status to write, as it was counted for this version of the quota. */
export interface WantedStatus {
  readonly quota: CachedQuota;
  readonly status: DesiredStatus;
  /** One of `priorities`; a smaller number is written first. */
  readonly priority: number;
}

/** Why a write is not made, which a person has to know. */
export interface WriteProblem {
  readonly kind: 'paused' | 'refused';
  readonly message: string;
}

export interface StatusWriterOptions {
  readonly isOwner: () => boolean;
  /** The pause that holds for a quota; null where there is none. */
  readonly pauseOf: (quota: CachedQuota) => Promise<PauseInForce | null>;
  /** The quota as the cache has it. */
  readonly cached: (quota: CachedQuota) => CachedQuota | null;
  readonly patch: (quota: CachedQuota, status: DesiredStatus) => ReturnType<typeof patchStatus>;
  /** The status that was wanted is written. */
  readonly onWritten: (wanted: WantedStatus) => void;
  readonly onProblem: (quota: CachedQuota, problem: WriteProblem) => void;
  /** The namespace is to be counted again at this moment; null: now. */
  readonly countAgain: (namespace: string, at: MonotonicMs | null) => void;
  readonly metrics: Pick<UsageMetrics, 'writes'>;
  readonly log: Log;
}

/** How many writes are in flight at once. */
const IN_FLIGHT = 10;
/** Milliseconds after a failed write, doubled each time. Nothing is given up. */
const FIRST_RETRY_MS = 200;
/** Of an API server that fails or does not answer: it may be back at any moment, and statuses are wrong until then. */
const LONGEST_OUTAGE_RETRY_MS = 5_000;
/** Where a person has to act, or during a pause. */
const LONGEST_RETRY_MS = 30_000;
/** Milliseconds: where a conflict comes from something that changes no quota, such as a webhook. */
const CONFLICT_RETRY_MS = 1_000;
/** Milliseconds for which a write is waited for in the cache, whose watch may be broken. */
const ECHO_MS = 5_000;
/** After so many conflicts in a row, whoever else writes is given a moment, in milliseconds. */
const CONFLICTS_AT_ONCE = 3;
const CONFLICT_REST_MS = 100;
/** Failures in a row from which on a missing right is told: an API server that has just started denies everything. */
const TOLD_FROM = 3;

/** What is known of one quota's writes. */
interface Writes {
  /** What is being written. */
  writing: WantedStatus | null;
  /** The version that the last write made, or at which it met a conflict, until the cache has come past it. */
  behind: Behind | null;
  /** Something was counted while nothing could be written: it is counted again then. */
  isLate: boolean;
  /** In a row. */
  failures: number;
  conflicts: number;
  notBefore: MonotonicMs;
}

interface Behind {
  readonly version: string;
  readonly isWritten: boolean;
  /** Until when the cache is waited for. */
  readonly until: MonotonicMs;
}

export class StatusWriter {
  readonly #options: StatusWriterOptions;
  /** By priority, and by UID. */
  readonly #waiting = new Map<number, Map<string, WantedStatus>>();
  /** By UID. */
  readonly #writes = new Map<string, Writes>();
  #inFlight = 0;

  constructor(options: StatusWriterOptions) {
    this.#options = options;
  }

  /**
   * Writes a status as soon as possible. While another write of the quota is not in the cache yet, the quota is counted
   * again instead, once it is. Returns false where another starter writes.
   */
  add(wanted: WantedStatus): boolean {
    const { quota, priority } = wanted;
    const { countAgain, isOwner } = this.#options;
    const writes = this.#writesOf(quota.uid);
    const now = performance.now();
    if (!isOwner()) return false;
    if (writes.notBefore > now) return true;
    if (writes.behind !== null && writes.behind.until <= now) writes.behind = null;
    if (writes.writing !== null || writes.behind !== null) {
      writes.isLate = true;
      if (writes.behind !== null) countAgain(quota.namespace, writes.behind.until);
      return true;
    }
    this.#takeBack(quota.uid);
    const queue = this.#waiting.get(priority) ?? new Map<string, WantedStatus>();
    this.#waiting.set(priority, queue.set(quota.uid, wanted));
    this.#next();
    return true;
  }

  /** What was paused may be written again. */
  resume(): void {
    for (const writes of this.#writes.values()) writes.notBefore = 0;
  }

  /** Whether this version of a quota is what this writer has made of it. */
  isEcho({ uid, resourceVersion, status }: CachedQuota): boolean {
    const { writing = null, behind = null } = this.#writes.get(uid) ?? {};
    if (behind !== null) return behind.isWritten && behind.version === resourceVersion;
    if (writing === null) return false;
    // The watch may be faster than the answer.
    const { used, hard } = writing.status;
    return equalLists(status.used ?? {}, used) && equalLists(status.hard ?? {}, hard);
  }

  /** The cache has another version of a quota. */
  onQuota({ uid, namespace, resourceVersion }: CachedQuota): void {
    const writes = this.#writes.get(uid);
    if (writes?.behind != null && isPast(writes.behind, resourceVersion)) this.#catchUp(writes, namespace);
    // What waits was counted for an earlier version, and would be a conflict.
    if (this.#takeBack(uid)) this.#options.countAgain(namespace, null);
  }

  forget({ uid }: CachedQuota): void {
    this.#takeBack(uid);
    this.#writes.delete(uid);
  }

  #takeBack(uid: string): boolean {
    return [...this.#waiting.values()].some((queue) => queue.delete(uid));
  }

  #catchUp(writes: Writes, namespace: string): void {
    const isConflict = writes.behind?.isWritten === false;
    writes.behind = null;
    const at = writes.conflicts > CONFLICTS_AT_ONCE ? performance.now() + CONFLICT_REST_MS : null;
    if (writes.isLate || isConflict) this.#options.countAgain(namespace, at);
    writes.isLate = false;
  }

  #next(): void {
    while (this.#inFlight < IN_FLIGHT) {
      const priorities = [...this.#waiting].flatMap(([priority, { size }]) => (size > 0 ? [priority] : []));
      const [first] = this.#waiting.get(Math.min(...priorities))?.values() ?? [];
      if (first === undefined) return;
      this.#takeBack(first.quota.uid);
      this.#inFlight += 1;
      void this.#write(first).finally(() => {
        this.#inFlight -= 1;
        this.#next();
      });
    }
  }

  async #write(wanted: WantedStatus): Promise<void> {
    const { isOwner, pauseOf, patch, onProblem, countAgain } = this.#options;
    const { quota } = wanted;
    const writes = this.#writesOf(quota.uid);
    writes.writing = wanted;
    try {
      const pause = await pauseOf(quota);
      if (pause !== null) {
        countAgain(quota.namespace, this.#rest(writes, LONGEST_RETRY_MS));
        return onProblem(quota, { kind: 'paused', message: pauseSentence(pause) });
      }
      if (!isOwner()) return;
      this.#done(wanted, writes, await patch(quota, wanted.status));
    } catch (error) {
      this.#failed(wanted, writes, error);
    } finally {
      writes.writing = null;
    }
  }

  #done(wanted: WantedStatus, writes: Writes, outcome: Awaited<ReturnType<typeof patchStatus>>): void {
    const { cached, countAgain, metrics, onWritten } = this.#options;
    const { quota } = wanted;
    metrics.writes.inc({ outcome: typeof outcome === 'string' ? outcome : 'written' });
    writes.failures = 0;
    if (outcome === 'gone') return;
    if (outcome === 'conflict') {
      const until = performance.now() + CONFLICT_RETRY_MS;
      writes.behind = { version: quota.resourceVersion, isWritten: false, until };
      writes.conflicts += 1;
      countAgain(quota.namespace, until);
    } else {
      writes.behind = { version: outcome.resourceVersion, isWritten: true, until: performance.now() + ECHO_MS };
      writes.conflicts = 0;
      onWritten(wanted);
    }
    // The watch may have been faster than the answer.
    const present = cached(quota);
    if (present !== null && isPast(writes.behind, present.resourceVersion)) this.#catchUp(writes, quota.namespace);
  }

  #failed({ quota }: WantedStatus, writes: Writes, error: unknown): void {
    const { log, metrics, onProblem, countAgain } = this.#options;
    const { namespace, name } = quota;
    metrics.writes.inc({ outcome: 'failed' });
    const { reason, code } = failureOf(error);
    if (writes.failures === 0)
      log.warn({ namespace, quota: name, reason }, 'the status of a quota could not be written');
    writes.failures += 1;
    const failed = kubernetesFailure(error) as Partial<ApplicationFailure>;
    // A person has to grant a right, or to look at what the API server does not take.
    const isRefused = code === 403 ? writes.failures >= TOLD_FROM : failed.nonRetryable === true;
    const longest = isRefused ? LONGEST_RETRY_MS : LONGEST_OUTAGE_RETRY_MS;
    countAgain(namespace, this.#rest(writes, Math.min(FIRST_RETRY_MS * 2 ** writes.failures, longest)));
    if (isRefused) onProblem(quota, { kind: 'refused', message: reason });
  }

  /** Nothing is written for so long; returns the moment at which that is over. */
  #rest(writes: Writes, ms: number): MonotonicMs {
    writes.notBefore = performance.now() + ms;
    return writes.notBefore;
  }

  #writesOf(uid: string): Writes {
    const existing = this.#writes.get(uid);
    if (existing !== undefined) return existing;
    const fresh: Writes = { writing: null, behind: null, isLate: false, failures: 0, conflicts: 0, notBefore: 0 };
    this.#writes.set(uid, fresh);
    return fresh;
  }
}

/** Whether a cache has come past a write: to what it made, or from where it met a conflict. */
function isPast({ version, isWritten }: Behind, seen: string): boolean {
  return isWritten ? isAtLeast(seen, version) : seen !== version;
}
