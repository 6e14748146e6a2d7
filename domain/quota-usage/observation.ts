/** The observation of a usage episode: a quota from a cache, and its count. */
import type { ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { UsageCount } from './calculate.ts';
import type { UsageMode } from './mode.ts';
import type { CountingQuota } from './usage.ts';

/** The parts of a ResourceQuota that define what it counts, and its present status. */
export interface CachedQuota {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** `scopes`, `scopeSelector` and `hard`, as written. */
  readonly spec: CountingQuota;
  /** Absent parts were never written. */
  readonly status: { readonly hard?: ResourceList | undefined; readonly used?: ResourceList | undefined };
}

/** A value of a quota's status that differs from the charge of its objects. */
export interface StaleValue {
  readonly resource: string;
  /** The value in the status; null when there is none. */
  readonly shown: string | null;
  /** The number that was counted last. */
  readonly counted: string;
  /**
   * When the value was last right, or first seen if it never was. If a status changes from one stale value to another,
   * the latest such moment counts.
   */
  readonly since: EpochMs;
}

export interface UsagePolicy {
  readonly mode: Exclude<UsageMode, 'off'>;
  /** Milliseconds that a status must be wrong before it is reported. */
  readonly auditAfterMs: number;
}

export interface UsageObservation {
  /** Null when the quota does not exist or is being deleted. */
  readonly quota: CachedQuota | null;
  /** What was counted; empty without a quota. */
  readonly count: UsageCount;
  /** The wrong values, and since when. */
  readonly staleValues: readonly StaleValue[];
  /** The policy of the starter that counted, even if the episode began under another mode. */
  readonly policy: UsagePolicy;
  readonly at: EpochMs;
}
