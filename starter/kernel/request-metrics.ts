import { Counter, Gauge, type Registry } from 'prom-client';

/** The metrics of the reconcile requests of all controllers. */
export class RequestMetrics {
  readonly #sent: Counter<'kind'>;
  readonly #depths: (() => number)[] = [];

  constructor(registry: Registry) {
    this.#sent = new Counter({
      name: 'headroom_starter_reconcile_requests_total',
      help: 'Reconcile requests sent to workflows, by what they do.',
      labelNames: ['kind'],
      registers: [registry],
    });
    const depths = this.#depths;
    registry.registerMetric(
      new Gauge({
        name: 'headroom_starter_reconcile_requests_waiting',
        help: 'Reconcile requests that wait to be sent.',
        registers: [],
        collect() {
          this.set(depths.reduce((all, depth) => all + depth(), 0));
        },
      }),
    );
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
