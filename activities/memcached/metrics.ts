import { ApplicationFailure } from '@temporalio/common';
import type { ChildKind } from '../../domain/memcached/children/children.ts';
import { memcachedMetrics } from '../../domain/memcached/metrics.ts';
import type { WriteResult } from '../../domain/memcached/plan/events.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';
import { count, record } from '../kernel/metrics.ts';

/** Counts what became of an object. */
export function countWrite(child: ChildKind, result: WriteResult | 'error'): void {
  count(memcachedMetrics.writes, { resource_kind: child, result });
}

/**
 * Counts a reconcile of one Memcached, and how long it took; without effect outside of an activity, and for one that a pause ended.
 *
 * @param isOver whether nothing follows: what is found to be written is a reconcile together with the writes.
 */
export async function measuredReconcile<Result>(
  { name, namespace }: MemcachedTarget,
  reconcile: () => Promise<Result>,
  isOver: (result: Result) => boolean = () => true,
): Promise<Result> {
  const from = performance.now();
  const measure = (result: 'success' | 'error'): void => {
    count(memcachedMetrics.reconciles, { name, namespace, result });
    record(memcachedMetrics.duration, { name, namespace }, performance.now() - from);
  };
  try {
    const result = await reconcile();
    if (isOver(result)) measure('success');
    return result;
  } catch (error) {
    if (!isPaused(error)) measure('error');
    throw error;
  }
}

function isPaused(error: unknown): boolean {
  return error instanceof ApplicationFailure && (error.type === 'Paused' || error.type === 'GloballyPaused');
}
