/** What is the same for all nodes that a plan looks at, and what changes as some of them go. */
import type { EpochMs } from '../../kernel/time.ts';
import type { Keep, KeptNode, Removal } from '../model/plan.ts';
import type { ArrivalBook } from './arrivals.ts';
import { countRemoval, type GroupCounts } from './group-counts.ts';
import type { Member } from './members.ts';
import type { SinceBook } from './memory.ts';
import type { PodSafety } from './pod-safety.ts';
import type { Surroundings } from './replacement.ts';
import { groupHalt } from './sight.ts';

export interface Pass extends Surroundings {
  readonly at: EpochMs;
  readonly safety: PodSafety;
  readonly groups: ReadonlyMap<string, GroupCounts>;
  readonly unneeded: SinceBook;
  readonly cheaper: SinceBook;
  readonly arrivals: ArrivalBook;
  /** Why nothing of the whole cluster goes by itself now; null where nothing stands in the way. */
  readonly halt: string | null;
  /** The nodes whose pods move at the moment, by `turnOf`. */
  readonly moving: Map<string, string>;
  readonly removals: Removal[];
  readonly kept: KeptNode[];
}

/** The key in `moving` of everything that goes without asking anybody. */
export const CLUSTER_TURN = 'the cluster';
const OBSERVED_TURN = 'groups that observe';

/**
 * Nodes with pods go one after the other in the whole cluster. What waits for a person's approval, or is only observed, has turns of
 * its own, so that it does not hold up what could go.
 */
function turnOf({ group }: Member): string {
  if (group.mode === 'observe') return OBSERVED_TURN;
  return group.approval === 'none' ? CLUSTER_TURN : `approvals of ${group.name}`;
}

export function countsOf({ groups }: Pass, { group }: Pick<Member, 'group'>): GroupCounts {
  const counts = groups.get(group.name);
  if (counts === undefined) throw new Error(`nobody counted the group ${group.name}`);
  return counts;
}

/** Why no node of the member's group goes by itself, as too few are Ready; null where enough are. */
export function keptBySight(pass: Pass, { group }: Member): Keep | null {
  const detail = pass.halt ?? groupHalt(group.name, countsOf(pass, { group }).sight);
  return detail === null ? null : { reason: 'TooFewReady', detail, until: null };
}

/** Why the node waits for another one whose pods move; null where it does not. */
export function keptByTurn({ moving }: Pass, member: Member): Keep | null {
  if (member.podCount === 0) return null;
  const other = moving.get(turnOf(member)) ?? (member.group.mode === 'observe' ? undefined : moving.get(CLUSTER_TURN));
  if (other === undefined) return null;
  const detail = `nodes with pods go one at a time in the whole cluster, and ${other} goes first`;
  return { reason: 'NodeBudget', detail, until: null };
}

/** The node goes. `replacement` is the instance type that must be ready before the first eviction. */
export function remove(
  pass: Pass,
  member: Member,
  { reason, detail }: Pick<Removal, 'reason' | 'detail'>,
  replacement: string | null = null,
): void {
  const { group, node, machine, podCount, pods } = member;
  const counts = countsOf(pass, member);
  countRemoval(counts, member);
  if (replacement !== null) counts.room -= 1;
  const turn = turnOf(member);
  if (podCount > 0 && !pass.moving.has(turn)) pass.moving.set(turn, node.name);
  pass.removals.push({
    group: group.name,
    node: node.name,
    uid: node.uid,
    machine: machine.name,
    reason,
    podCount,
    replacement: replacement === null ? null : { instanceType: replacement },
    detail: `${detail}${pass.safety.inStages(pods.evicted)}`,
  });
}

export function keepNode({ kept }: Pass, { group, node }: Member, keep: Keep): void {
  kept.push({ group: group.name, node: node.name, ...keep });
}
