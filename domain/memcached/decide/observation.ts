import type { EpochMs } from '../../kernel/time.ts';
import type { ChildKind } from '../children/children.ts';

/** One thing that is not as specified: `update Deployment`, `scale Deployment to 3`, `status`. */
export interface Pending {
  readonly act: 'create' | 'update' | 'delete' | 'scale' | 'status';
  readonly child: ChildKind | null;
}

/** A Memcached compared with the cluster: what a decision needs of it. */
export interface MemcachedObservation {
  /** Null for one that is gone or is being deleted: the cluster's garbage collector deletes what it owns. */
  readonly memcached: { readonly uid: string; readonly generation: number } | null;
  readonly pending: readonly Pending[];
  /** Why nothing is written but the status. */
  readonly problems: readonly string[];
  readonly conflicts: readonly string[];
  readonly missingSecrets: readonly string[];
  /** What is not in Secrets that exist, each as `KEY of SECRET`. Absent in earlier observations. */
  readonly lackingKeys?: readonly string[];
  readonly awaited: readonly string[];
  readonly notes: readonly string[];
  /** Whether it is another operator that stands in the way, whose end nobody reports. Absent in earlier observations. */
  readonly isOtherOperatorAlive?: boolean;
  readonly isSettled: boolean;
  /** The message of the condition Progressing, while it is true, or else of Ready. */
  readonly progress: string;
  /** When the next pod goes, of those that go one by one after an autoscaler was switched off. Absent in earlier observations. */
  readonly nextStep?: EpochMs | null;
  /** What is set back again and again, and is written next; null without. Absent in earlier observations. */
  readonly setBack?: { readonly child: ChildKind; readonly count: number; readonly until: EpochMs } | null;
  readonly at: EpochMs;
}
