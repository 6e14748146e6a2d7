/** How the objects of one resource are charged to a quota, as by Kubernetes' quota evaluators. */
import type { GroupResource } from '../kernel/group-resource.ts';
import type { ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { Pod } from './pod.ts';
import type { UnreadableAmount } from './readable-part.ts';
import type { ScopeRequirement } from './scopes.ts';

/** What a charge depends on besides the object itself. */
export interface UsageContext {
  readonly now: EpochMs;
  /** The extended resource that each device class stands for, by the class's name; null where it stands for none. */
  readonly deviceClasses: ReadonlyMap<string, string | null>;
  /**
   * Whether the cluster also counts devices of claims as extended resources: the API server's feature gate
   * DRAExtendedResource. Absent when unknown, because no API says it: then it is taken to be on. A device class with an
   * extended resource proves that, as without the gate the API server drops the field; a limit on the implicit name of a
   * class (`requests.deviceclass.resource.kubernetes.io/CLASS`) is of no use without it.
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
  /** Other resources that its charges depend on: for resource claims, device classes and pods. */
  readonly reads: readonly GroupResource[];
  /** Whether a name depends on the resources in `reads`; absent: every name does. */
  readonly needsReads?: (name: string, context: MatchContext) => boolean;
  /** Which of the names in a quota's `hard` it counts. */
  readonly matchingResources: (names: readonly string[], context: MatchContext) => readonly string[];
  readonly matchesScope: (requirement: ScopeRequirement, object: CountedObject) => boolean;
  /**
   * The charge of one object under every name. Results are cached per object, so objects must not be changed but
   * replaced, as informers do.
   *
   * @throws {QuantityError} when an amount of the object cannot be read.
   */
  readonly usage: (object: CountedObject, context: UsageContext) => ResourceList;
  /** The names under which an amount would be charged; absent where charges have no amounts of their own. */
  readonly namesOfAmount?: (object: CountedObject, amount: UnreadableAmount) => readonly string[];
}
