import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../worker/kernel/log.ts';

/** One workflow to be woken, or started if need be. */
export interface QueuedHint {
  /** The workflow id; hints for the same id become one. */
  readonly id: string;
  /** Starts the workflow when none runs; otherwise a workflow that does not run is left alone. */
  readonly starts: boolean;
  readonly cause: string;
  readonly resourceVersion: string;
}

export interface HintQueueOptions<H extends QueuedHint> {
  readonly send: (hint: H) => Promise<void>;
  /** Hints a second, at most; after a restart every quota under pressure is hinted at once. */
  readonly perSecond: number;
  /** A workflow that was hinted is not hinted again for this long, in milliseconds; the last hint of the span is kept. */
  readonly gapMs: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** How many hints are under way at once: a single client sends about 200 a second, one at a time it would be 30. */
const CONCURRENCY = 8;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 15_000;

/**
 * Sends hints, coalesced by workflow, rate-limited, and kept while Temporal is away. Losing one would do no harm (a resync
 * hints again), but a burst must not become a stampede.
 */
export class HintQueue<H extends QueuedHint> {
  readonly #options: HintQueueOptions<H>;
  readonly #waiting = new Map<string, H>();
  readonly #notBefore = new Map<string, number>();
  #wake: (() => void) | null = null;
  #sent = 0;
  #failingSince: number | null = null;
  #lastReason = '';

  constructor(options: HintQueueOptions<H>) {
    this.#options = options;
  }

  /** Notes a hint. Of several for one workflow the newest cause counts, and one that starts it wins over one that does not. */
  add(hint: H): void {
    const known = this.#waiting.get(hint.id);
    this.#waiting.set(hint.id, known?.starts ? { ...hint, starts: true } : hint);
    this.#wake?.();
  }

  get depth(): number {
    return this.#waiting.size;
  }

  get sent(): number {
    return this.#sent;
  }

  /** Why hints are not getting through, while they are not. */
  get trouble(): string | null {
    return this.#failingSince === null ? null : this.#lastReason;
  }

  /** Sends until the signal; then returns when what is under way has ended. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    const slot = 1000 / this.#options.perSecond;
    const underWay = new Set<Promise<void>>();
    let next = Date.now();
    while (!signal.aborted) {
      const hint = this.#takeDue();
      if (hint === null) {
        await Promise.race([this.#idle(), stopped]);
        continue;
      }
      const now = Date.now();
      next = Math.max(next + slot, now);
      if (next > now) await Promise.race([sleep(next - now), stopped]);
      const sending = this.#sendOne(hint).finally(() => underWay.delete(sending));
      underWay.add(sending);
      if (underWay.size >= CONCURRENCY) await Promise.race([...underWay, stopped]);
    }
    await Promise.allSettled(underWay);
  }

  #takeDue(): H | null {
    const now = Date.now();
    for (const [id, hint] of this.#waiting) {
      if ((this.#notBefore.get(id) ?? 0) > now) continue;
      this.#waiting.delete(id);
      return hint;
    }
    for (const [id, at] of this.#notBefore) {
      if (at <= now && !this.#waiting.has(id)) this.#notBefore.delete(id);
    }
    return null;
  }

  /** Until a hint is added, or one that waits for its gap is due. */
  async #idle(): Promise<void> {
    const now = Date.now();
    const due = [...this.#waiting.keys()].map((id) => this.#notBefore.get(id) ?? now);
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const timers = new AbortController();
    const timed =
      due.length === 0 ? [] : [sleep(Math.max(1, Math.min(...due) - now), undefined, { signal: timers.signal })];
    await Promise.race([woken, ...timed]).finally(() => timers.abort());
    this.#wake = null;
  }

  async #sendOne(hint: H): Promise<void> {
    const { log, signal, send, gapMs } = this.#options;
    this.#notBefore.set(hint.id, Date.now() + gapMs);
    for (let pause = FIRST_RETRY_MS; ; pause = Math.min(pause * 2, LONGEST_RETRY_MS)) {
      try {
        await send(hint);
        this.#sent += 1;
        if (this.#failingSince !== null) log.info('Temporal takes hints again');
        this.#failingSince = null;
        return;
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        if (this.#failingSince === null || reason !== this.#lastReason) {
          log.warn({ reason, waiting: this.#waiting.size }, `waiting for Temporal to take hints: ${reason}`);
        }
        this.#failingSince ??= Date.now();
        this.#lastReason = reason;
        await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
        if (signal.aborted) return;
      }
    }
  }
}
