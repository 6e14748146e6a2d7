/** How many nodes of each group there are, and how many more may go, while a plan is made. */
import type { EpochMs } from '../../kernel/time.ts';
import { withLost } from '../machine/lost.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { DisruptionReason, NodeGroup } from '../model/node-group.ts';
import type { Keep, NewNodes } from '../model/plan.ts';
import type { Blocked, Roster } from '../plan/offers.ts';
import { rosters } from '../plan/offers.ts';
import { nodesToRemove } from '../rules/size.ts';
import type { Member } from './members.ts';
import { allowedAtOnce } from './node-budgets.ts';
import { backInSight, groupHalt, type Sight, sighted, sightOf } from './too-few-ready.ts';

export interface GroupCounts {
  readonly group: NodeGroup;
  /** Null for a group that is being deleted, which asks for nothing. */
  readonly roster: Roster | null;
  /** Whether the same plan asks for new nodes. */
  readonly isGrowing: boolean;
  /** Nodes, those that leave included: what a budget's share is of. */
  readonly size: number;
  /** Nodes on their way out, those of this plan included. */
  leaving: number;
  /** Nodes that are not ready, without those on their way out: Karpenter counts them as disrupted. */
  unready: number;
  /** Ready nodes that would be left if everything unneeded so far went. */
  left: number;
  /** As the plan began. */
  readonly sight: Sight;
  /** When so many of its nodes came back that a halt of it ended; null where nothing shows that. */
  readonly backAt: EpochMs | null;
  /** How many nodes there are above what is wanted. */
  excess: number;
  /** How many more machines it may have. */
  room: number;
}

export function countGroups(
  state: ClusterState,
  members: readonly Member[],
  blocked: Readonly<Record<string, Blocked>>,
  newNodes: readonly NewNodes[],
): ReadonlyMap<string, GroupCounts> {
  const byGroup = new Map(rosters(state, blocked).map((roster) => [roster.group.name, roster]));
  const leaving = new Set(state.leaving);
  const names = new Set(state.nodes.map(({ name }) => name));
  return new Map(
    state.groups.map((group) => {
      const { name } = group;
      const own = members.filter((member) => member.group.name === name);
      const settled = own.filter(({ isSettled }) => isSettled);
      const sight = sightOf(settled);
      const backAt = backInSight(
        settled.map(({ node, machine }) => sighted(node, machine)),
        state.at,
        (then) => groupHalt(name, then),
      );
      const gone = state.machines.filter(
        (machine) => machine.group === name && machine.node !== null && leaving.has(machine.node),
      ).length;
      const roster = byGroup.get(name) ?? null;
      const asked = newNodes.filter((entry) => entry.group === name).reduce((sum, { count }) => sum + count, 0);
      const size =
        roster === null || group.desiredNodes === null
          ? null
          : { current: roster.current, desired: group.desiredNodes };
      const machines = state.machines.filter((machine) => machine.group === name);
      const counts: GroupCounts = {
        group,
        roster,
        isGrowing: asked > 0,
        size: own.length + gone,
        leaving: gone,
        unready: sight.unready,
        left: sight.ready,
        sight: withLost(sight, machines, names),
        backAt,
        excess: size === null ? 0 : Math.max(0, nodesToRemove(size, group.minNodes)),
        room: Math.max(0, (roster?.room ?? 0) - asked),
      };
      return [name, counts];
    }),
  );
}

/** A node goes: what is left for the next one. */
export function countRemoval(counts: GroupCounts, { isReady, isSettled }: Pick<Member, 'isReady' | 'isSettled'>): void {
  counts.leaving += 1;
  if (isSettled && !isReady) counts.unready -= 1;
}

/** Why a budget keeps one more node of the group; null where none does. */
export function keptByBudget(
  counts: GroupCounts,
  reason: DisruptionReason,
  { isReady, isSettled }: Pick<Member, 'isReady' | 'isSettled'>,
  at: number,
): Keep | null {
  const { group, size, leaving, unready } = counts;
  const { allowed, by, until } = allowedAtOnce(group.budgets, reason, size, at);
  const isVoluntary = reason !== 'NotReady' && reason !== 'Requested';
  const disrupted = leaving + (isVoluntary ? unready - Number(isSettled && !isReady) : 0);
  if (disrupted < allowed) return null;
  const others = isVoluntary ? 'leave or are not ready' : 'leave';
  const detail = `the budget ${by ?? ''} of ${group.name} allows ${allowed} at once, and ${disrupted} of its ${size} nodes ${others}`;
  return { reason: 'NodeBudget', detail, until };
}
