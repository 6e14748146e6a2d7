/**
 * How soon a reconcile request has to be served: a deferrable one may wait for what is under way, or for the end of a rest
 * that it cannot shorten usefully; an immediate one interrupts.
 */
export type Urgency = 'deferrable' | 'immediate';

/** The requests to reconcile that came since the last reconcile pass began. They carry no data: every pass observes afresh. */
export class ReconcileRequests {
  #pending: Urgency | null = null;
  readonly #listeners = new Set<() => void>();

  get isPending(): boolean {
    return this.#pending !== null;
  }

  get isImmediate(): boolean {
    return this.#pending === 'immediate';
  }

  add(urgency: Urgency): void {
    if (this.#pending !== 'immediate') this.#pending = urgency;
    for (const listener of this.#listeners) listener();
  }

  clear(): void {
    this.#pending = null;
  }

  /** Calls the listener with every request until the function that is returned is called. */
  onRequest(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
