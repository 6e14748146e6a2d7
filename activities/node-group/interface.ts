/** What the workflows of node groups call, and what they give and get. */
import type { NodeGroupObservation, LeavingNode } from '../../domain/node-group/decide/observation.ts';
import type { MachinePhase } from '../../domain/node-group/model/node-group.ts';
import type { NewNodes } from '../../domain/node-group/model/plan.ts';
import type { WantedGroupStatus } from '../../domain/node-group/status/group-status.ts';
import type { NodeGroupTarget } from '../../domain/node-group/target.ts';

export interface ObserveInput {
  readonly target: NodeGroupTarget;
  /** Nodes that the workflow has begun to drain, whose marks a cache may not show yet. */
  readonly draining: readonly string[];
  /** Nodes that people want to be drained. */
  readonly requested: readonly string[];
}

/** On the task queue of the plan, which starters poll. */
export interface PlanActivities {
  /** The group and its part of a plan that is made now. */
  observeNodeGroup(input: ObserveInput): Promise<NodeGroupObservation>;
}

export interface GroupInput {
  readonly target: NodeGroupTarget;
  /** Of the NodeGroup that this is about: one that was created again under the same name is another one. */
  readonly uid: string;
}

export interface ScaleUpOrder extends GroupInput {
  /** Part of the names of the machines: a decision that is tried again finds its own. */
  readonly decision: string;
  /** The version of the plan that the decision was made by. */
  readonly fence: string;
  readonly newNodes: readonly NewNodes[];
  /** One sentence for the Event. */
  readonly detail: string;
}

/** A machine that did not become a node. */
export interface MachineFailure {
  readonly machine: string;
  /** One sentence. */
  readonly reason: string;
  /** Whether the provider will say the same until a person changes something, such as a quota. */
  readonly isTerminal: boolean;
}

export interface MachinesResult {
  readonly machines: Readonly<Record<MachinePhase, number>>;
  readonly failures: readonly MachineFailure[];
}

export type ScaledUp =
  | ({ readonly kind: 'driven' } & MachinesResult)
  /** Somebody else has acted on a plan since this one was made: nothing was created. */
  | { readonly kind: 'superseded' };

export interface NodeGroupActivities {
  /** Creates the machines of a decision, once, and drives all of the group until each is ready or has failed. */
  ensureScaledUp(order: ScaleUpOrder): Promise<ScaledUp>;
  /** Drives the machines of the group until each is ready or has failed. */
  driveMachines(input: GroupInput): Promise<MachinesResult>;
  /** Writes the status of the NodeGroup if it differs. */
  ensureGroupStatus(input: GroupInput & { readonly status: WantedGroupStatus }): Promise<void>;
  /** Takes the finalizer off a NodeGroup that is being deleted. */
  ensureGroupReleased(input: GroupInput): Promise<void>;
  /**
   * Takes back the marks on nodes whose drain does not run.
   *
   * @returns the workflow ids of those drains, of `drains` and of the owners of marks, that run.
   */
  ensureStaleDrainsEnded(input: {
    readonly target: NodeGroupTarget;
    readonly leaving: readonly LeavingNode[];
    readonly drains: readonly string[];
  }): Promise<{ readonly running: readonly string[] }>;
  /** Deletes a machine at the provider, its Node and its VPSieNode. Once this was called there is no way back. */
  ensureMachineDeleted(input: GroupInput & { readonly machine: string }): Promise<void>;
}
