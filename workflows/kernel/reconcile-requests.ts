import type { EpochMs } from '../../domain/kernel/time.ts';

/**
 * How soon a reconcile request has to be served. An immediate request interrupts a wait; a deferrable request may be
 * served later, after the current step or at the end of a backoff that the request cannot usefully shorten.
 */
export type Urgency = 'deferrable' | 'immediate';

/**
 * The reconcile requests since the last pass began. They carry no data, because every pass observes everything again.
 */
export class ReconcileRequests {
  #pending: Urgency | null = null;
  #lastAt: EpochMs = 0;
  readonly #listeners = new Set<() => void>();

  get isPending(): boolean {
    return this.#pending !== null;
  }

  get isImmediate(): boolean {
    return this.#pending === 'immediate';
  }

  /** When the last one came, whether or not it is pending; 0 before the first. */
  get lastAt(): EpochMs {
    return this.#lastAt;
  }

  add(urgency: Urgency): void {
    this.#lastAt = Date.now();
    if (this.#pending !== 'immediate') this.#pending = urgency;
    for (const listener of this.#listeners) listener();
  }

  clear(): void {
    this.#pending = null;
  }

  /** Calls the listener with every request, until the returned function is called. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
