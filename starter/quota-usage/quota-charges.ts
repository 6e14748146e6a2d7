import type { GroupResource } from '../../domain/kernel/group-resource.ts';
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
import type { CacheChecks } from './cache-checks.ts';

interface QuotaChargesOptions {
  readonly checks: Pick<CacheChecks, 'currentAsOf' | 'isOutdated' | 'check'>;
  /** What these resources of a quota are counted from. */
  readonly countedFrom: (resources: readonly string[]) => readonly GroupResource[];
}

/** How a version of a quota has come: this process has written it, a watch has told of it, or a list, which skips versions. */
type QuotaOrigin = 'written' | 'watched' | 'listed';

/** The recent charges of each quota, as reported by the caches, and as far as these are not known to have their objects. */
export class QuotaCharges {
  readonly #options: QuotaChargesOptions;
  /** By the quota's UID. */
  readonly #charges = new Map<string, RecentCharges>();

  constructor(options: QuotaChargesOptions) {
    this.#options = options;
  }

  /**
   * Replaces a quota; null: it did not exist, or is gone. What this process has written charges nothing. In a list the status may
   * have been lowered, by whomever, and charged again since the previous version: any part of it may be charged just now.
   */
  onQuota(quota: CachedQuota | null, previous: CachedQuota | null, origin: QuotaOrigin): void {
    if (previous !== null && previous.uid !== quota?.uid) this.#charges.delete(previous.uid);
    if (quota === null) return;
    const { uid, resourceVersion: version } = quota;
    const recent = this.#of(quota);
    const before = origin === 'watched' && previous?.uid === uid ? (previous.status.used ?? {}) : null;
    const moment = { at: performance.now(), version };
    this.#replace(
      quota,
      origin === 'written' ? noteVersion(recent, version) : noteStatus(recent, before, quota.status.used ?? {}, moment),
    );
  }

  /**
   * A new object of a resource with this charge, or one that has grown by it, was reported at its version. What was gone before a
   * list by which charges were confirmed settles none: its own may be among these, and the others are for other objects.
   */
  onObject(resource: GroupResource, version: string, quota: CachedQuota, charge: ResourceList): void {
    const { spec, namespace, resourceVersion: reportedUpTo } = quota;
    const limited = withoutZeros(maskList(charge, Object.keys(spec.hard ?? {})));
    if (Object.keys(limited).length === 0 || this.#options.checks.isOutdated(resource, namespace, version)) return;
    const arrival = { at: performance.now(), version, reportedUpTo };
    this.#replace(quota, noteArrival(this.#of(quota), limited, arrival));
  }

  /** Charges of the quota whose objects the caches may not have yet. */
  unsettled(quota: CachedQuota): ResourceList {
    const { checks, countedFrom } = this.#options;
    const left = withoutConfirmed(this.#of(quota), (resource) => {
      return Math.min(...countedFrom([resource]).map((from) => checks.currentAsOf(from, quota.namespace)));
    });
    this.#replace(quota, left);
    return unsettledCharges(left);
  }

  /**
   * Has it checked whether the caches have the objects of these resources. Returns the moment at which that is to be asked again;
   * null: the checks will tell.
   */
  confirm(quota: CachedQuota, resources: readonly string[]): MonotonicMs | null {
    const { checks, countedFrom } = this.#options;
    const from = confirmableFrom(this.#of(quota), resources) ?? 0;
    if (from > performance.now()) return from;
    return checks.check(quota.namespace, { resources: countedFrom(resources), from });
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
