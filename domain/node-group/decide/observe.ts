/** What a group's workflow is told of the plan for the cluster: its own part, kept small. */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ReadNodeGroup } from '../api/read-node-group.ts';
import { isOrphaning } from '../machine/hold.ts';
import { type Machine, type MachinePhase, machinePhases } from '../model/node-group.ts';
import type { ClusterPlan, KeptNode, UnhelpedPod } from '../model/plan.ts';
import { inVainChange } from '../status/in-vain-change.ts';
import type { Excerpt, LeavingNode, NodeGroupObservation } from './observation.ts';

// A plan can name thousands of nodes and pods; what does not fit comes with the next pass.
const MOST_NEW_NODES = 10;
const MOST_REMOVALS = 10;
const MOST_LEAVING = 10;
const MOST_NAMED = 5;
const LONGEST_DETAIL = 190;

/** The group, and everything about it, as of one moment. */
export interface GroupView {
  readonly at: EpochMs;
  /** Null for one that is gone. */
  readonly read: ReadNodeGroup | null;
  readonly heldBy: string | null;
  readonly fence: string;
  /** All machines of the group. */
  readonly machines: readonly Machine[];
  /** Machines that were claimed, and whose objects are not seen yet. */
  readonly claimed: number;
  /** Whether the Node that a machine names is there, and may be its own. */
  readonly hasNode: (machine: Machine) => boolean;
  /** Whether its Node still says that it is to be filled later than others, for no reason any more. */
  readonly isLaterOver: (machine: Machine) => boolean;
  readonly plan: Pick<ClusterPlan, 'newNodes' | 'removals' | 'kept' | 'inVain'> & {
    readonly unhelped: Excerpt<UnhelpedPod>;
  };
  /** Nodes of the group with the marks of a drain whose machine is not being deleted yet. */
  readonly leaving: readonly LeavingNode[];
  readonly isStatusDue: boolean;
  readonly areTypesDue: boolean;
}

export function observationOf(view: GroupView): NodeGroupObservation {
  const { at, read, heldBy, fence, machines, plan, leaving, isStatusDue, areTypesDue } = view;
  const name = read?.name;
  const deleted = new Set(machines.flatMap((machine) => (machine.isDrainRequested ? [machine.node] : [])));
  const rank = ({ reason, node }: KeptNode): number => (reason === 'TooFewReady' ? 2 : Number(deleted.has(node)));
  // What stands for the whole group comes first, then what somebody waits for: there is no room for all.
  const kept = plan.kept.filter(({ group }) => group === name).toSorted((a, b) => rank(b) - rank(a));
  const unsettled = unsettledMachines(view);
  return {
    at,
    group: read === null ? null : seenGroup(read),
    // A group that is being deleted is given back by what can be read of it.
    problems: read?.group === null ? read.problems.slice(0, MOST_NAMED).map(shortened) : [],
    heldBy,
    fence,
    machines: countsOf(machines),
    unsettled: unsettled.length + view.claimed,
    claimed: view.claimed,
    free: freeMachines(view).length,
    going: unsettled.filter(({ isDeleting }) => isDeleting).length,
    newNodes: plan.newNodes.filter(({ group }) => group === name).slice(0, MOST_NEW_NODES),
    unhelped: { total: plan.unhelped.total, first: plan.unhelped.first.slice(0, MOST_NAMED).map(withShortDetail) },
    removals: plan.removals
      .filter(({ group }) => group === name)
      .slice(0, MOST_REMOVALS)
      .map(withShortDetail),
    asked: kept.filter(({ node }) => deleted.has(node)).length,
    kept: { total: kept.length, first: kept.slice(0, MOST_NAMED).map((each): KeptNode => withShortDetail(each)) },
    leaving: leaving.slice(0, MOST_LEAVING),
    isStatusDue,
    ...inVainDue(view),
    areTypesDue,
  };
}

/** Written when no node is to come: until then what came of machines is on them. */
function inVainDue({ read, plan }: GroupView): Pick<NodeGroupObservation, 'inVain'> {
  const group = read?.group ?? null;
  const wanted = group === null ? undefined : ownValue(plan.inVain, group.name);
  if (group === null || wanted === undefined || plan.newNodes.some((line) => line.group === group.name)) return {};
  const inVain = inVainChange(group.inVain, wanted);
  return inVain === null ? {} : { inVain };
}

/** Machines that somebody has to drive on. Those of nodes that are drained belong to the drain. */
export function unsettledMachines({
  machines,
  hasNode,
  isLaterOver,
  leaving,
}: Pick<GroupView, 'machines' | 'hasNode' | 'isLaterOver' | 'leaving'>): readonly Machine[] {
  const drained = new Set(leaving.map(({ node }) => node));
  return machines.filter((machine) => {
    const { phase, isDeleting, node } = machine;
    if (node !== null && drained.has(node)) return false;
    return isDeleting || phase !== 'Ready' || !hasNode(machine) || isLaterOver(machine);
  });
}

/** Machines of a group that it does not hold as it should. Whoever only observes, or lets go of them, leaves that so. */
export function freeMachines({ machines, read }: Pick<GroupView, 'machines' | 'read'>): readonly Machine[] {
  const group = read?.group ?? null;
  if (group === null || group.mode !== 'act' || isOrphaning(group)) return [];
  return machines.filter(({ isLabelled, heldBy }) => isLabelled && heldBy !== group.uid);
}

function seenGroup({ name, uid, generation, isDeleting, group }: ReadNodeGroup): NodeGroupObservation['group'] {
  return {
    name,
    uid,
    generation,
    isDeleting,
    minNodes: group?.minNodes ?? 0,
    maxNodes: group?.maxNodes ?? 0,
    deletionPolicy: group?.deletionPolicy ?? 'Drain',
    approval: group?.approval ?? 'none',
    desiredNodes: group?.desiredNodes ?? null,
    backoff: group?.backoff ?? null,
    mode: group?.mode ?? 'observe',
    provider: group?.provider ?? 'vpsie',
  };
}

function countsOf(machines: readonly Machine[]): Readonly<Record<MachinePhase, number>> {
  const count = (phase: MachinePhase): number => machines.filter((machine) => machine.phase === phase).length;
  return Object.fromEntries(machinePhases.map((phase) => [phase, count(phase)])) as Record<MachinePhase, number>;
}

function withShortDetail<T extends { readonly detail: string }>(each: T): T {
  return { ...each, detail: shortened(each.detail) };
}

function shortened(text: string): string {
  return text.length <= LONGEST_DETAIL ? text : `${text.slice(0, LONGEST_DETAIL - 1)}…`;
}
