import type { GroupResource } from '../../domain/kernel/group-resource.ts';
import type { CountedObject } from '../../domain/quota-usage/evaluator.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';

/** What the caches tell of; every call is a change that they already hold. */
export interface UsageListener {
  /** Whether this version of a quota is what this process has made of it. Asked before `onQuota`. */
  readonly isOwnWrite: (quota: CachedQuota) => boolean;
  readonly onObject: (resource: GroupResource, object: CountedObject, previous: CountedObject | undefined) => void;
  readonly onObjectGone: (resource: GroupResource, object: CountedObject) => void;
  readonly onQuota: (quota: CachedQuota, previous: CachedQuota | undefined) => void;
  readonly onQuotaGone: (quota: CachedQuota) => void;
  /** A cache was filled, or is no longer behind: what counts this resource can be counted now. */
  readonly onFilled: (resource: GroupResource) => void;
  /** Whether the caches are current in a namespace was checked, for charges that may be taken back then. */
  readonly onChecked: (namespace: string) => void;
}
