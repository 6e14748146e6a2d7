import type { Counter, Registry } from 'prom-client';
import { sharedMetrics } from '../../domain/kernel/monitoring/shared-metrics.ts';
import { collectNumber, createCounter } from './metrics.ts';

/** The metrics of the reconcile requests of all controllers. */
export class RequestMetrics {
  readonly #sent: Counter<'kind'>;
  readonly #depths: (() => number)[] = [];

  constructor(registry: Registry) {
    this.#sent = createCounter(registry, sharedMetrics.requests);
    collectNumber(registry, sharedMetrics.requestsWaiting, () => this.#depths.reduce((all, depth) => all + depth(), 0));
  }

  /** Counts a request that was sent. */
  sent(kind: string): void {
    this.#sent.inc({ kind });
  }

  /** Includes the requests that wait in a further work queue. */
  include(depth: () => number): void {
    this.#depths.push(depth);
  }
}
