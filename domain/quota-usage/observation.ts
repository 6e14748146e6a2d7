/** What a usage episode looks at: a quota as a cache has it, and what was counted for it. */
import type { ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { Untruth } from './audit.ts';
import type { UsageCount } from './calculate.ts';
import type { UsageMode } from './mode.ts';
import type { CountingQuota } from './usage.ts';

/** How far a cache must have come: a resourceVersion by the resource's name (`pods`, `deployments.apps`). */
export type Reached = Readonly<Record<string, string>>;

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
  readonly untruths: readonly Untruth[];
  /** Of the starter that counted: who counts says what for, also after it was started in another mode. */
  readonly policy: UsagePolicy;
  readonly at: EpochMs;
}
