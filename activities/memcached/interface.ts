import type { MemcachedObservation } from '../../domain/memcached/decide/observation.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';

export interface MemcachedActivities {
  /** Compares a Memcached with the objects that it owns. */
  observeMemcached(input: { readonly target: MemcachedTarget }): Promise<MemcachedObservation>;
  /**
   * Writes what is not as specified, in order, and then the status. Compares afresh before it does.
   *
   * @param input `uid`: that of the observation; a Memcached with another one is left alone.
   * @returns what is not as specified by what the API server answered.
   * @throws InvalidInput, not retried, for an object that the API server rejects; the others are written all the same.
   */
  ensureMemcached(input: { readonly target: MemcachedTarget; readonly uid: string }): Promise<MemcachedObservation>;
}
