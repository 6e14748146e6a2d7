import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { WatchConnection } from '../../domain/kernel/watch-connection.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import {
  CHARGE_GRACE_MS,
  noteArrival,
  noteStatus,
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

  /** Replaces a quota; null: it did not exist, or is gone. */
  onQuota(quota: CachedQuota | null, previous: CachedQuota | null): void {
    if (previous !== null && previous.uid !== quota?.uid) this.#charges.delete(previous.uid);
    if (quota === null) return;
    const before = previous?.uid === quota.uid ? (previous.status.used ?? {}) : null;
    const times = { at: Date.now(), keepMs: this.#keepMs };
    this.#charges.set(
      quota.uid,
      noteStatus(this.#charges.get(quota.uid) ?? [], before, quota.status.used ?? {}, times),
    );
  }

  /** Whether a new object may settle a charge of the quota. */
  isCharged({ uid }: CachedQuota): boolean {
    return (this.#charges.get(uid)?.length ?? 0) > 0;
  }

  /** A new object with this charge arrived. */
  onObject({ uid }: CachedQuota, charge: ResourceList): void {
    this.#charges.set(uid, noteArrival(this.#charges.get(uid) ?? [], charge));
  }

  /** @param connections the watches of what the quota counts. */
  unsettled({ uid }: CachedQuota, connections: readonly WatchConnection[]): UnsettledCharges {
    const now = Date.now();
    return unsettledCharges(this.#charges.get(uid) ?? [], unsettledSince(connections, now), now);
  }
}
