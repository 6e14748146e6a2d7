/** What knows how the objects of one resource are charged to a quota, as Kubernetes' quota evaluators do. */
import type { GroupResource } from '../kernel/group-resource.ts';
import type { ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { Pod } from './pod.ts';
import type { ScopeRequirement } from './scopes.ts';

/** What a charge depends on besides the object itself. */
export interface UsageContext {
  readonly now: EpochMs;
  /** The extended resource that each device class stands for, by the class's name; null where it stands for none. */
  readonly deviceClasses: ReadonlyMap<string, string | null>;
  /**
   * Whether the cluster counts the devices of claims as extended resources too: the API server's feature gate
   * DRAExtendedResource. Absent when nobody knows: then a device class that stands for one is the proof, because without
   * the gate the API server drops that field.
   */
  readonly extendedClaims?: boolean | undefined;
  /** A pod of the object's own namespace. */
  readonly podNamed: (name: string) => Pod | undefined;
}

/** What decides which names an evaluator counts. */
export type MatchContext = Pick<UsageContext, 'deviceClasses' | 'extendedClaims'>;

/** An object of any kind in the shape of Kubernetes' JSON; an evaluator knows the kind of its own. */
export interface CountedObject {
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly resourceVersion?: string | undefined;
      }
    | undefined;
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface Evaluator {
  readonly resource: GroupResource;
  /** What its charges are computed from besides its own objects: deviceclasses, and pods, for resource claims. */
  readonly reads: readonly GroupResource[];
  /** Whether what it reads has a part in this name; absent: in every name. */
  readonly needsReads?: (name: string, context: MatchContext) => boolean;
  /** Those of the names of a quota's `hard` that it counts. */
  readonly matchingResources: (names: readonly string[], context: MatchContext) => readonly string[];
  readonly matchesScope: (requirement: ScopeRequirement, object: CountedObject) => boolean;
  /**
   * What one object is charged, under every name. The answer is kept for as long as the object is, so an object must not
   * be changed but replaced, as informers do.
   */
  readonly usage: (object: CountedObject, context: UsageContext) => ResourceList;
}
