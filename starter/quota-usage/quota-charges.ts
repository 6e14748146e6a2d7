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

/** What each quota was charged lately, by what the caches were told. */
export class QuotaCharges {
  readonly #keepMs: number;
  /** By the quota's UID. */
  readonly #charges = new Map<string, RecentCharges>();

  /** @param staleAfterMs nothing is counted from a watch that has been interrupted for longer. */
  constructor(staleAfterMs: number) {
    // It gets its time when it is back.
    this.#keepMs = staleAfterMs + 2 * CHARGE_GRACE_MS;
  }

  /** A quota takes the place of another version of it, or comes or goes. */
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

  /** Whether an object that comes now may settle a charge of the quota. */
  isCharged({ uid }: CachedQuota): boolean {
    return (this.#charges.get(uid)?.length ?? 0) > 0;
  }

  /** An object came that the quota is charged so much for. */
  onObject({ uid }: CachedQuota, charge: ResourceList): void {
    this.#charges.set(uid, noteArrival(this.#charges.get(uid) ?? [], charge));
  }

  /** @param connections the watches of what the quota counts. */
  unsettled({ uid }: CachedQuota, connections: readonly WatchConnection[]): UnsettledCharges {
    const now = Date.now();
    return unsettledCharges(this.#charges.get(uid) ?? [], unsettledSince(connections, now), now);
  }
}
