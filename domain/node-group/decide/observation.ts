import type { EpochMs } from '../../kernel/time.ts';
import type { MachinePhase, Mode, NodeGroup, Provider } from '../model/node-group.ts';
import type { Wishes } from '../plan-wishes.ts';
import type { KeptNode, NewNodes, Removal, UnhelpedPod } from '../model/plan.ts';
import type { InVainChange } from '../status/in-vain-change.ts';

/** What a pass needs to know of a NodeGroup, as its object and its settings say it. */
export interface SeenGroup
  extends Pick<
    NodeGroup,
    | 'name'
    | 'uid'
    | 'generation'
    | 'isDeleting'
    | 'minNodes'
    | 'maxNodes'
    | 'deletionPolicy'
    | 'approval'
    | 'desiredNodes'
    | 'backoff'
  > {
  readonly mode: Mode;
  readonly provider: Provider;
}

/** A list of which only the first entries are shown: what a workflow sees must stay small. */
export interface Excerpt<T> {
  readonly total: number;
  readonly first: readonly T[];
}

/** A node that has the marks of a drain. */
export interface LeavingNode {
  readonly node: string;
  readonly uid: string;
  /** The drain that owns the marks, by its workflow id. */
  readonly drain: string;
}

/**
 * A NodeGroup and its part of the plan for the cluster, as of one moment. At most 16 KB as JSON, whatever the size of the
 * cluster.
 */
export interface NodeGroupObservation {
  readonly at: EpochMs;
  /** Null for one that is gone. */
  readonly group: SeenGroup | null;
  /** What is wrong with the object, each a sentence; nothing is done for such a group. */
  readonly problems: readonly string[];
  /** Who else acts on NodeGroups, or why nobody may; null where nothing stands in the way. */
  readonly heldBy: string | null;
  /** The version of the plan: machines are created for it only while nobody else has acted on a plan since. */
  readonly fence: string;
  readonly machines: Readonly<Record<MachinePhase, number>>;
  /** Machines that are not Ready and not being taken away: they are driven on. */
  readonly unsettled: number;
  /** How many of them were claimed, and have no object yet. */
  readonly claimed: number;
  /** How many of them are being deleted. */
  readonly going: number;
  /** Machines that the group does not hold by its label yet. */
  readonly free: number;
  readonly newNodes: readonly NewNodes[];
  readonly unhelped: Excerpt<UnhelpedPod>;
  readonly removals: readonly Removal[];
  /** How many stay for now although their VPSieNode was deleted. */
  readonly asked: number;
  /** Of these, what stands for the whole group comes first, then what was asked for. */
  readonly kept: Excerpt<KeptNode>;
  readonly leaving: readonly LeavingNode[];
  /** What is written down of people's wishes and failed drains; absent where it is what the workflow knows. */
  readonly otherWishes?: Wishes;
  /** Whether the status of the object is not as it should be. */
  readonly isStatusDue: boolean;
  /** What of nodes that came in vain is to be written into the status; absent for nothing. */
  readonly inVain?: InVainChange;
  /** Whether the provider is to be asked for the group's instance types: they are missing, or too old for what is to be decided. */
  readonly areTypesDue: boolean;
}
