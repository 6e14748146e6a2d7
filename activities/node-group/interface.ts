/** What the workflows of node groups call, besides the activities of a drain. */
import type { NodeGroupObservation } from '../../domain/node-group/decide/observation.ts';
import type { DisruptionReason } from '../../domain/node-group/model/node-group.ts';
import type { NewNodes, ScaleUpReason } from '../../domain/node-group/model/plan.ts';
import type { BoundNodes, GoneNodes, Wishes } from '../../domain/node-group/plan-wishes.ts';
import type { InVainChange } from '../../domain/node-group/status/in-vain-change.ts';
import type { DrainTarget, NodeGroupTarget } from '../../domain/node-group/target.ts';

export interface GroupInput {
  readonly target: NodeGroupTarget;
  /** Of the NodeGroup that this is about: one that was created again under the same name is another one. */
  readonly uid: string;
}

interface MachineInput extends GroupInput {
  /** The VPSieNode. */
  readonly machine: string;
}

export interface ObserveInput {
  readonly target: NodeGroupTarget;
  /** What the workflow knows; it is compared with what is written down, which is what plans go by. */
  readonly wishes: Wishes;
}

export interface WishesInput extends GroupInput {
  readonly wishes: Wishes;
  /** That the caller forgets what is said of nodes that are gone, as it is told to. Absent: an older workflow, which would write it again. */
  readonly forgetsGone?: true;
  /** That the caller remembers which node a request was bound to. Absent: an older workflow, which would write the name alone again. */
  readonly bindsNodes?: true;
}

export interface KeptWishes extends GoneNodes {
  /** Absent in histories of older versions. */
  readonly bound?: BoundNodes;
}

export interface ScaleUpInput extends GroupInput {
  /** The plan that says so, as it was observed. */
  readonly fence: string;
  readonly newNodes: readonly NewNodes[];
  /** Nodes that the machines replace, by their UIDs: once these are claimed, they count as leaving. Absent: none. */
  readonly replaces?: readonly string[];
  /** Whether the machines of the group are driven on in the same activity, which saves events. Absent: they are not. */
  readonly drives?: boolean;
}

export interface GroupStatusInput extends GroupInput {
  /** What changes of nodes that came in vain. Absent: nothing. */
  readonly inVain?: InVainChange;
}

export interface ClaimRemovalsInput extends GroupInput {
  /** The plan that says so, as it was observed. */
  readonly fence: string;
  /** The nodes that are to go, by their UIDs. */
  readonly nodes: readonly string[];
}

/** A node whose drain is over. */
export interface DrainedNode extends DrainTarget {
  /** Why it was drained; absent where an older version of the workflow does not say. */
  readonly reason?: DisruptionReason;
}

export interface CreatedMachine {
  readonly name: string;
  readonly instanceType: string;
  readonly reason: ScaleUpReason;
  /** The UID of the node in whose place it comes, as its VPSieNode says; absent where it says none, and where an older version does not tell. */
  readonly replaces?: string;
}

export type ScaledUp =
  /** The VPSieNodes exist, and with `drives` each is settled. */
  | { readonly kind: 'created'; readonly machines: readonly CreatedMachine[]; readonly failed: Driven['failed'] }
  /** Somebody acted on a later plan, or on another one: nothing was written. */
  | { readonly kind: 'superseded'; readonly detail: string };

/** What came of driving machines. */
export interface Driven {
  /** Machines that failed and were given up, each a sentence. */
  readonly failed: readonly string[];
}

/** Of the starter, which has the caches. */
export interface NodeGroupCacheActivities {
  /**
   * The group with its part of the plan for the cluster.
   * @throws NotYet, retried, while the caches are not as fresh as the API server.
   */
  observeNodeGroup(input: ObserveInput): Promise<NodeGroupObservation>;
}

export interface NodeGroupActivities {
  /**
   * Claims the plan, and creates a VPSieNode for each new node; asks no provider. With `drives` it goes on as `ensureMachinesSettled`.
   * @throws NotYet, retried, while machines are on their way that it drives.
   */
  ensureScaledUp(input: ScaleUpInput): Promise<ScaledUp>;
  /**
   * Claims nodes of the plan before they are drained: from then on they count as leaving in every plan.
   * @returns false where somebody acted on another plan: nothing was written, and nothing may be drained.
   */
  ensureRemovalsClaimed(input: ClaimRemovalsInput): Promise<boolean>;
  /**
   * One look at each machine of the group that is not settled: asks the provider for it, waits for its node, gives the node
   * its labels and taints, gives up what is overdue, deletes what is to be deleted. Each attempt is one look.
   * @throws NotYet, retried, while machines are on their way.
   */
  ensureMachinesSettled(input: GroupInput): Promise<Driven>;
  /**
   * Deletes the VPSieNode of a machine, and drives its deletion. Once its deletion was asked for there is no way back.
   * @param input `drained`: the node that was drained, and why. What else has to be so is read: its Node has the marks of its drain, the
   *   cordon and no pods that a drain takes off, while enough other nodes are ready; or it is gone.
   * @returns whether the node has to be looked at again, so that nothing was deleted; otherwise the object is gone.
   * @throws NotYet, retried, until then.
   */
  ensureMachineDeleted(input: MachineInput & { readonly drained?: DrainedNode }): Promise<boolean>;
  /**
   * Writes down what people have said of the group's nodes and which drains have failed, for whoever plans.
   * @returns nodes that are not there any more, of which nothing was written, where the caller forgets them too; undefined in histories of older versions.
   */
  ensureWishesKept(input: WishesInput): Promise<KeptWishes | undefined>;
  /** Writes the instance types of the group into its status, as the provider has them. */
  ensureInstanceTypes(input: GroupInput): Promise<void>;
  /** Writes what the status of the group should say. */
  ensureGroupStatus(input: GroupStatusInput): Promise<void>;
  /** Takes the finalizer off a group of which no machine is left, or whose nodes are to stay: those are let go of first. */
  ensureGroupReleased(input: GroupInput): Promise<void>;
}
