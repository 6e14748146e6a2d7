import type { EpochMs } from '../../kernel/time.ts';
import type { ReadMemcached } from '../api/read-memcached.ts';
import type { ChildKind } from '../children/children.ts';
import type { LiveObject } from './live.ts';

/** The objects of a Memcached as they are; null for one that does not exist. */
export type LiveChildren = Readonly<Record<ChildKind, LiveObject | null>>;

/** What the cluster has of a Memcached. */
export interface Seen {
  readonly memcached: ReadMemcached;
  readonly children: LiveChildren;
  /** When it was read. */
  readonly at: EpochMs;
  /** The Lease of another operator that runs Memcacheds and is alive, as `namespace/name`; null where none is known. */
  readonly otherOperator: string | null;
  /** Kinds that the cluster does not serve. */
  readonly unserved: readonly ChildKind[];
  /** Those of its Service, and maybe others. */
  readonly endpointSlices: readonly LiveObject[];
  /** The Secrets that its pods mount. */
  readonly secrets: {
    /** A hash of the values that the pods are to mount; empty without Secrets. */
    readonly hash: string;
    readonly missing: readonly string[];
    /** What there is none of in those that are there, each as `KEY of SECRET`. */
    readonly lacking: readonly string[];
    /** Those that the worker may not read. */
    readonly unreadable: readonly string[];
  };
}
