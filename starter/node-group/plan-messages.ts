/** What the starter and the thread that plans say to one another. All of it can be cloned. */
import type { Outlook } from '../../domain/kernel/outlook.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type {
  AttachLimits,
  Claim,
  DaemonSet,
  DisruptionBudget,
  LimitRange,
  PersistentVolume,
  RuntimeClass,
  StorageClass,
} from '../../domain/node-group/model/cluster-state.ts';
import type { Machine, NodeGroup } from '../../domain/node-group/model/node-group.ts';
import type { Node } from '../../domain/node-group/model/node.ts';
import type { Labels, Pod } from '../../domain/node-group/model/pod.ts';
import type { ClusterPlan, UnhelpedPod } from '../../domain/node-group/model/plan.ts';
import type { Blocked } from '../../domain/node-group/plan/offers.ts';
import type { PlanClaim } from '../../domain/node-group/plan-claim.ts';
import type { GroupWishes } from '../../domain/node-group/plan-wishes.ts';

/** The parts of a cluster's state that are watched, each as the model has an object of it. */
export interface WatchedParts {
  readonly pods: Pod;
  readonly nodes: Node;
  readonly namespaces: Labels;
  readonly claims: Claim;
  readonly volumes: PersistentVolume;
  readonly daemonSets: DaemonSet;
  readonly limitRanges: LimitRange;
  readonly runtimeClasses: RuntimeClass;
  readonly budgets: DisruptionBudget;
  readonly storageClasses: StorageClass;
  readonly attachLimits: AttachLimits;
  readonly machines: Machine;
  /** What is foreseen for workloads, by whoever puts them to sleep and wakes them. */
  readonly outlooks: Outlook;
}

export type PlanPart = keyof WatchedParts;

/** Those that are watched at the API server. */
export type ApiPart = Exclude<PlanPart, 'outlooks'>;

/** Objects by their keys, as the part's model has them; null for one that is gone. */
export type PlanParts = Partial<Readonly<Record<PlanPart, readonly (readonly [key: string, read: unknown])[]>>>;

/** What nodes use, in percent of what they have for pods, by the node's name. */
export interface UsageSample {
  readonly at: EpochMs;
  readonly nodes: Readonly<Record<string, readonly [cpu: number, memory: number]>>;
}

export interface PlanRequest {
  readonly id: number;
  /** Whether the thread begins with these parts, or changes those that it has. */
  readonly isWhole: boolean;
  readonly parts: PlanParts;
  readonly samples: readonly UsageSample[];
  readonly at: EpochMs;
  readonly groups: readonly NodeGroup[];
  readonly blocked: Readonly<Record<string, Blocked>>;
  /** Machines and removals that were claimed, and may not be seen yet. */
  readonly claims: readonly PlanClaim[];
  /** What people and failed drains want of the nodes of those groups, and of groups that have gone. */
  readonly wishes: readonly GroupWishes[];
}

/** A node with the marks of a drain, and whose it is. */
export interface MarkedNode {
  readonly node: string;
  readonly uid: string;
  readonly drain: string;
  readonly group: string;
}

/** A plan, with what observations need besides. */
export interface PlanResult extends Omit<ClusterPlan, 'unhelped'> {
  readonly unhelped: { readonly total: number; readonly first: readonly UnhelpedPod[] };
  readonly marked: readonly MarkedNode[];
  /** How many machines are claimed by each group whose objects are not seen yet. */
  readonly claimed: ReadonlyMap<string, number>;
}

export type PlanResponse =
  | { readonly id: number; readonly plan: PlanResult }
  | { readonly id: number; readonly error: string };
