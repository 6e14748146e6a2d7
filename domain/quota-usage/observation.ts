/** What a usage episode looks at: a quota as a cache has it, and what was counted for it. */
import type { ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { UsageCount } from './calculate.ts';
import type { UsageMode } from './mode.ts';
import type { CountingQuota } from './usage.ts';

/** How far a cache must have come: a resourceVersion by the resource's name (`pods`, `deployments.apps`). */
export type ObservedVersions = Readonly<Record<string, string>>;

/** The part of a ResourceQuota that says what it counts and what it says it counted. */
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

/** One number of a quota's status that is not what the objects are charged. */
export interface StaleValue {
  readonly resource: string;
  /** The number that the status has; null where it has none. */
  readonly shown: string | null;
  /** The number that was counted last. */
  readonly counted: string;
  /**
   * When its number was last true, or when it was first seen where it never was. A status that goes from one stale number
   * to the next has the latest such moment of them all.
   */
  readonly since: EpochMs;
}

export interface UsagePolicy {
  readonly mode: Exclude<UsageMode, 'off'>;
  /** Milliseconds: how long a status must be wrong before it is told. */
  readonly auditAfterMs: number;
}

export interface UsageObservation {
  /** Null when the quota does not exist or is being deleted. */
  readonly quota: CachedQuota | null;
  /** What the status should say: in mode `own` with what was charged too recently to be counted. Empty without a quota. */
  readonly count: UsageCount;
  /** In mode `audit`: what is wrong, and since when. */
  readonly staleValues: readonly StaleValue[];
  /** Of the starter that counted: who counts says what for, also after it was started in another mode. */
  readonly policy: UsagePolicy;
  readonly at: EpochMs;
}
