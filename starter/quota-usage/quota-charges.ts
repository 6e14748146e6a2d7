import { maskList, type ResourceList, withoutZeros } from '../../domain/kernel/resource-list.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import {
  confirmableFrom,
  noCharges,
  noteArrival,
  noteStatus,
  noteVersion,
  type RecentCharges,
  unsettledCharges,
  withoutConfirmed,
} from '../../domain/quota-usage/recent-charges.ts';

/** The recent charges of each quota, as reported by the caches. */
export class QuotaCharges {
  /** By the quota's UID. */
  readonly #charges = new Map<string, RecentCharges>();

  /**
   * Replaces a quota; null: it did not exist, or is gone.
   *
   * @param isOwn whether this process has written it: then nothing was charged by that.
   */
  onQuota(quota: CachedQuota | null, previous: CachedQuota | null, isOwn: boolean): void {
    if (previous !== null && previous.uid !== quota?.uid) this.#charges.delete(previous.uid);
    if (quota === null) return;
    const { uid, resourceVersion: version } = quota;
    const recent = this.#of(quota);
    const before = previous?.uid === uid ? (previous.status.used ?? {}) : null;
    const moment = { at: performance.now(), version };
    const next = isOwn ? noteVersion(recent, version) : noteStatus(recent, before, quota.status.used ?? {}, moment);
    this.#replace(quota, next);
  }

  /** A new object with this charge, or one that has grown by it, was reported at its version. */
  onObject(quota: CachedQuota, charge: ResourceList, version: string): void {
    const { spec, resourceVersion: reportedUpTo } = quota;
    const limited = withoutZeros(maskList(charge, Object.keys(spec.hard ?? {})));
    if (Object.keys(limited).length === 0) return;
    const arrival = { at: performance.now(), version, reportedUpTo };
    this.#replace(quota, noteArrival(this.#of(quota), limited, arrival));
  }

  /** What is left of a quota's charges without those that its caches prove. */
  unsettled(quota: CachedQuota, currentAsOf: (resource: string) => MonotonicMs): ResourceList {
    const left = withoutConfirmed(this.#of(quota), currentAsOf);
    this.#replace(quota, left);
    return unsettledCharges(left);
  }

  /** When the first of its charges of these resources can be confirmed; null without any. */
  confirmableFrom(quota: CachedQuota, resources: readonly string[]): MonotonicMs | null {
    return confirmableFrom(this.#of(quota), resources);
  }

  #of({ uid }: CachedQuota): RecentCharges {
    return this.#charges.get(uid) ?? noCharges;
  }

  /** A quota without any costs nothing. */
  #replace({ uid }: CachedQuota, recent: RecentCharges): void {
    if (recent.charges.length === 0 && recent.early.length === 0) this.#charges.delete(uid);
    else this.#charges.set(uid, recent);
  }
}
