import { maskList, type ResourceList, withoutZeros } from '../../domain/kernel/resource-list.ts';
import type { WatchConnection } from '../../domain/kernel/watch-connection.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import {
  CHARGE_GRACE_MS,
  noCharges,
  noteArrival,
  noteStatus,
  noteVersion,
  type RecentCharges,
  type UnsettledCharges,
  unsettledCharges,
  unsettledSince,
} from '../../domain/quota-usage/recent-charges.ts';

/** The recent charges of each quota, as reported by the caches. */
export class QuotaCharges {
  readonly #keepMs: number;
  /** By the quota's UID. */
  readonly #charges = new Map<string, RecentCharges>();

  /** @param staleAfterMs nothing is counted from a watch that was interrupted for longer. */
  constructor(staleAfterMs: number) {
    // A reconnected watch gets its grace time too.
    this.#keepMs = staleAfterMs + 2 * CHARGE_GRACE_MS;
  }

  /**
   * Replaces a quota; null: it did not exist, or is gone.
   *
   * @param isOwn whether this process has written it: then nothing was charged by that.
   */
  onQuota(quota: CachedQuota | null, previous: CachedQuota | null, isOwn: boolean): void {
    if (previous !== null && previous.uid !== quota?.uid) this.#charges.delete(previous.uid);
    if (quota === null) return;
    const { uid, resourceVersion: version } = quota;
    const recent = this.#charges.get(uid) ?? noCharges;
    const before = previous?.uid === uid ? (previous.status.used ?? {}) : null;
    const times = { at: Date.now(), version, keepMs: this.#keepMs };
    const next = isOwn ? noteVersion(recent, version) : noteStatus(recent, before, quota.status.used ?? {}, times);
    this.#replace(uid, next);
  }

  /** A new object with this charge, or one that has grown by it, was reported at its version. */
  onObject({ uid, spec, resourceVersion }: CachedQuota, charge: ResourceList, version: string): void {
    const limited = withoutZeros(maskList(charge, Object.keys(spec.hard ?? {})));
    if (Object.keys(limited).length === 0) return;
    const arrival = { at: Date.now(), version, reportedUpTo: resourceVersion };
    this.#replace(uid, noteArrival(this.#charges.get(uid) ?? noCharges, limited, arrival));
  }

  /** @param connections the watches of what the quota counts. */
  unsettled({ uid }: CachedQuota, connections: readonly WatchConnection[]): UnsettledCharges {
    const now = Date.now();
    return unsettledCharges(this.#charges.get(uid) ?? noCharges, unsettledSince(connections, now), now);
  }

  /** A quota without any costs nothing. */
  #replace(uid: string, recent: RecentCharges): void {
    if (recent.charges.length === 0 && recent.early.length === 0) this.#charges.delete(uid);
    else this.#charges.set(uid, recent);
  }
}
