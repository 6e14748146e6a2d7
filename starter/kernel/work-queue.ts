import { setTimeout as sleep } from 'node:timers/promises';
import { priorities } from '../../domain/kernel/priority.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';
import { type AllowanceOptions, Allowances } from './allowance.ts';

/** A request to wake one workflow, or to start it. */
export interface QueuedRequest {
  /**
   * Requests with the same key are coalesced into one. It is the workflow's id, with the kind of request where the
   * workflow has several.
   */
  readonly coalescingKey: string;
  /** Whether to start the workflow when none runs; otherwise nothing happens then. */
  readonly starts: boolean;
  /** Whether to wake a running workflow. A mere start does not; a request without `starts` always does. */
  readonly signals?: boolean;
  /** What it is about: its cluster, namespace and name. */
  readonly target?: object;
  /** What the watcher saw, for people. */
  readonly cause: string;
  /** Milliseconds in which the request need not be sent; of several for one workflow the first that is due counts. Absent: at once. */
  readonly afterMs?: number;
  /** Whether it need not wait for the gap after the request before: it says something else. It goes behind all that wait for none. */
  readonly skipsGap?: boolean;
  /** A longer minimum interval than the queue's own after this request, in milliseconds. */
  readonly gapMs?: number;
  /**
   * Whether the request may use the reserve of its workflow's allowance: what a person changed is not to wait because
   * the workflow gets many other requests.
   */
  readonly usesReserve?: boolean;
  /** One of `priorities`, by default routine; those of a smaller number go first. */
  readonly priority?: number;
  /**
   * Asked when the request is about to be sent, which may be long after it was added: whether there is still a reason for it.
   * Absent: there is.
   */
  readonly isStillNeeded?: (() => boolean) | undefined;
}

export interface WorkQueueOptions<H extends QueuedRequest> {
  /** Sends a request; the moment is that of the first one for the workflow that was not sent yet. */
  readonly send: (request: H, seenAt: EpochMs) => Promise<void>;
  /** Whether sending the request again would always fail: it is then dropped, so that it does not delay others. */
  readonly isHopeless?: (error: unknown) => boolean;
  /** Maximum of requests per second; after a restart all quotas under pressure need a request at once. */
  readonly perSecond: number;
  /** Minimum milliseconds between two requests to the same workflow; later ones are delayed and coalesced. */
  readonly gapMs: number;
  /** How many requests one workflow may get. Absent: as many as the gap allows. */
  readonly allowance?: AllowanceOptions | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** The time; a test brings its own. */
  readonly clock?: Clock;
}

/** A request in the queue, which may be sent from a moment of the clock on. */
type Waiting<H> = H & { readonly from: number; readonly seenAt: EpochMs };

export interface Clock {
  /** Milliseconds since some moment that stays the same. */
  now(): number;
  /** Resolves after so many milliseconds, or as soon as the signal is aborted; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

const realClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => await sleep(ms, undefined, { signal }).catch(() => {}),
};

/** How many requests are sent in parallel: a client sends about 200 a second, but one at a time only 30. */
const CONCURRENCY = 8;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;

/**
 * Sends reconcile requests, coalesced by workflow, rate-limited, and retained while Temporal is unavailable. A lost
 * request does no harm, because a resync makes it again; a burst would.
 */
export class WorkQueue<H extends QueuedRequest> {
  readonly #options: WorkQueueOptions<H>;
  /** By priority, smaller numbers first; within one, the oldest first. */
  readonly #waiting = new Map<number, Map<string, Waiting<H>>>();
  readonly #notBefore = new Map<string, number>();
  readonly #allowances: Allowances | null;
  /** Workflows whose request is being sent: a further request waits and is coalesced until then. */
  readonly #sending = new Set<string>();
  readonly #clock: Clock;
  #wake: (() => void) | null = null;
  #sent = 0;
  #failing = false;
  #lastReason = '';

  constructor(options: WorkQueueOptions<H>) {
    this.#options = options;
    this.#allowances = options.allowance === undefined ? null : new Allowances(options.allowance);
    this.#clock = options.clock ?? realClock;
  }

  /**
   * Adds a request. Of several for one workflow the newest cause counts; the workflow is started or woken if one of
   * them says so, with the most urgent priority of them.
   */
  add(request: H): void {
    const pending = this.#waitingFor(request.coalescingKey);
    const both = pending === undefined ? [request] : [pending, request];
    const from = this.#clock.now() + (request.afterMs ?? 0);
    const starts = both.some((each) => each.starts);
    const priority = Math.min(...both.map((each) => each.priority ?? priorities.routine));
    if (pending !== undefined && (pending.priority ?? priorities.routine) !== priority) this.#remove(pending);
    this.#queueOf(priority).set(request.coalescingKey, {
      ...request,
      // They are about the same workflow, so the newest knows; one that is needed in any case stays so.
      isStillNeeded: both.every((each) => each.isStillNeeded !== undefined) ? request.isStillNeeded : undefined,
      starts,
      signals: both.some(wakes),
      usesReserve: both.some((each) => each.usesReserve === true),
      skipsGap: both.some((each) => each.skipsGap === true),
      priority,
      from: Math.min(from, pending?.from ?? from),
      seenAt: pending?.seenAt ?? Date.now(),
    });
    this.#wake?.();
  }

  get depth(): number {
    return [...this.#waiting.values()].reduce((sum, queue) => sum + queue.size, 0);
  }

  /** Those that wait, and those that Temporal did not accept and that are tried again. */
  get unsent(): number {
    return this.depth + (this.#failing ? this.#sending.size : 0);
  }

  get sent(): number {
    return this.#sent;
  }

  /** Why requests cannot be sent at the moment. */
  get trouble(): string | null {
    return this.#failing ? this.#lastReason : null;
  }

  /** Sends until the signal is aborted; then returns when running sends have ended. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const slot = 1000 / this.#options.perSecond;
    const underWay = new Set<Promise<void>>();
    let next = this.#clock.now();
    while (!signal.aborted) {
      if (underWay.size >= CONCURRENCY) {
        await Promise.race([...underWay, stopped]);
        continue;
      }
      const request = this.#nextDue();
      if (request === null) {
        await this.#idle();
        continue;
      }
      const now = this.#clock.now();
      next = Math.max(next, now);
      if (next > now) await this.#clock.sleep(next - now, signal);
      next += slot;
      const sending = this.#sendNext(request).finally(() => {
        underWay.delete(sending);
        this.#sending.delete(request.coalescingKey);
        this.#wake?.();
      });
      underWay.add(sending);
    }
    await Promise.allSettled(underWay);
  }

  #nextDue(): Waiting<H> | null {
    const now = this.#clock.now();
    const next = this.#takeDue(now, (key) => (this.#notBefore.get(key) ?? 0) <= now) ?? this.#takeDue(now);
    if (next !== null) return next;
    for (const [key, at] of this.#notBefore) {
      if (at <= now && this.#waitingFor(key) === undefined) this.#notBefore.delete(key);
    }
    this.#allowances?.forgetFull(now);
    return null;
  }

  #takeDue(now: number, isTaken: (key: string) => boolean = () => true): Waiting<H> | null {
    for (const queue of this.#waiting.values()) {
      for (const [key, request] of queue) {
        if (this.#sending.has(key) || this.#dueAt(request, now) > now || !isTaken(key)) continue;
        queue.delete(key);
        if (request.isStillNeeded?.() === false) continue;
        this.#sending.add(key);
        return request;
      }
    }
    return null;
  }

  /** From when on a request may be sent: not right after the one before, and not beyond the allowance. */
  #dueAt({ coalescingKey: key, usesReserve = false, skipsGap = false, from }: Waiting<H>, now: number): number {
    const gapEndsAt = skipsGap ? 0 : (this.#notBefore.get(key) ?? 0);
    return Math.max(from, gapEndsAt, this.#allowances?.dueAt(key, usesReserve, now) ?? 0);
  }

  #waitingFor(key: string): Waiting<H> | undefined {
    for (const queue of this.#waiting.values()) {
      const request = queue.get(key);
      if (request !== undefined) return request;
    }
    return undefined;
  }

  #remove(request: H): void {
    this.#waiting.get(request.priority ?? priorities.routine)?.delete(request.coalescingKey);
  }

  #queueOf(priority: number): Map<string, Waiting<H>> {
    const pending = this.#waiting.get(priority);
    if (pending !== undefined) return pending;
    const queues = [...this.#waiting, [priority, new Map<string, Waiting<H>>()] as const].toSorted(([a], [b]) => a - b);
    this.#waiting.clear();
    for (const [key, queue] of queues) this.#waiting.set(key, queue);
    return this.#queueOf(priority);
  }

  /** Waits until a request is added or was sent, a delayed one is due, or the signal is aborted. */
  async #idle(): Promise<void> {
    const { signal } = this.#options;
    const now = this.#clock.now();
    const due = [...this.#waiting.values()]
      .flatMap((queue) => [...queue.values()])
      .filter(({ coalescingKey }) => !this.#sending.has(coalescingKey))
      .map((request) => this.#dueAt(request, now));
    const over = new AbortController();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
      signal.addEventListener('abort', () => resolve(), { signal: over.signal });
    });
    const timed = due.length === 0 ? [] : [this.#clock.sleep(Math.max(1, Math.min(...due) - now), over.signal)];
    await Promise.race([woken, ...timed]);
    over.abort();
    this.#wake = null;
  }

  async #sendNext(request: Waiting<H>): Promise<void> {
    const { log, signal, send, gapMs } = this.#options;
    this.#allowances?.spend(request.coalescingKey, this.#clock.now());
    for (let pause = FIRST_RETRY_MS; !signal.aborted; pause = Math.min(pause * 2, LONGEST_RETRY_MS)) {
      this.#notBefore.set(request.coalescingKey, this.#clock.now() + (request.gapMs ?? gapMs));
      try {
        await send(request, request.seenAt);
        this.#sent += 1;
        if (this.#failing) log.info('Temporal accepts reconcile requests again');
        this.#failing = false;
        return;
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        if (this.#options.isHopeless?.(error)) {
          log.error(
            { request: request.coalescingKey, reason },
            `Temporal does not accept the reconcile request for ${request.coalescingKey}: ${reason}`,
          );
          return;
        }
        if (!this.#failing || reason !== this.#lastReason) {
          log.warn({ reason, waiting: this.depth }, `waiting for Temporal to accept reconcile requests: ${reason}`);
        }
        this.#failing = true;
        this.#lastReason = reason;
        await this.#clock.sleep(pause * (0.5 + Math.random() / 2), signal);
      }
    }
  }
}

/** Whether the request wakes a workflow that runs already. */
export function wakes({ starts, signals }: Pick<QueuedRequest, 'starts' | 'signals'>): boolean {
  return signals ?? !starts;
}
