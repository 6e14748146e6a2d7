import { asyncLocalStorage } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { ChildKind } from '../../domain/memcached/children/children.ts';
import type { WriteResult } from '../../domain/memcached/plan/events.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';

/** Histogram buckets for the duration of a reconcile: those that Prometheus clients have by default. */
const RECONCILE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const DURATION = 'memcached_operator_reconcile_duration';

/** Histogram buckets for the metrics endpoint of the process. */
export const reconcileBuckets = { [DURATION]: RECONCILE_SECONDS };

/** Counts what became of an object, under the name that the first implementation has for it; the worker's endpoint adds `_total`. */
export function countWrite(child: ChildKind, result: WriteResult | 'error'): void {
  counter('memcached_operator_reconcile_resource', 'Writes of objects that Memcacheds own.')?.add(1, {
    resource_kind: child,
    result,
  });
}

/**
 * Counts a reconcile of one Memcached, and how long it took; without effect outside of an activity, and for one that a pause ended.
 * The label `namespace` is the Memcached's, and replaces Temporal's label of that name.
 *
 * @param isOver whether nothing follows: what is found to be written is a reconcile together with the writes.
 */
export async function measuredReconcile<Result>(
  { name, namespace }: MemcachedTarget,
  reconcile: () => Promise<Result>,
  isOver: (result: Result) => boolean = () => true,
): Promise<Result> {
  const from = performance.now();
  const count = (result: 'success' | 'error'): void => {
    counter('memcached_operator_reconcile', 'Reconciles of a Memcached.')?.add(1, { name, namespace, result });
    asyncLocalStorage
      .getStore()
      ?.metricMeter.createHistogram(DURATION, 'float', 'seconds', 'How long a reconcile of a Memcached took.')
      .record((performance.now() - from) / 1000, { name, namespace });
  };
  try {
    const result = await reconcile();
    if (isOver(result)) count('success');
    return result;
  } catch (error) {
    if (!isPaused(error)) count('error');
    throw error;
  }
}

function isPaused(error: unknown): boolean {
  return error instanceof ApplicationFailure && (error.type === 'Paused' || error.type === 'GloballyPaused');
}

function counter(name: string, description: string) {
  return asyncLocalStorage.getStore()?.metricMeter.createCounter(name, undefined, description);
}
