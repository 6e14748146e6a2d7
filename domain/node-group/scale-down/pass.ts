/** What is the same for all nodes that a plan looks at, and what changes as some of them go. */
import type { EpochMs } from '../../kernel/time.ts';
import type { Keep, KeptNode, Removal } from '../model/plan.ts';
import { needsApproval } from '../rules/approval.ts';
import type { ArrivalBook } from './arrivals.ts';
import { countRemoval, type GroupCounts } from './group-counts.ts';
import type { Member } from './members.ts';
import type { SinceBook } from './memory.ts';
import type { PodSafety } from './pod-safety.ts';
import { kindsToCome, type Surroundings } from './replacement.ts';
import type { Repair, RepairBook } from './repair.ts';
import { groupHalt } from './too-few-ready.ts';

export interface Pass extends Surroundings {
  readonly at: EpochMs;
  readonly safety: PodSafety;
  readonly groups: ReadonlyMap<string, GroupCounts>;
  readonly unneeded: SinceBook;
  readonly cheaper: SinceBook;
  readonly arrivals: ArrivalBook;
  /** Why machines stay whose pods have not come yet, by their names. */
  readonly onTrial: ReadonlyMap<string, Keep>;
  /** By the UIDs of pods whose workload sleeps within the hour: when. */
  readonly going: ReadonlyMap<string, EpochMs>;
  /** Why nothing of the whole cluster goes by itself now; null where nothing stands in the way. */
  readonly halt: string | null;
  /** When so many nodes came back that such a halt ended; null where nothing shows that. */
  readonly backAt: EpochMs | null;
  readonly repairs: RepairBook;
  /** Groups that are paused, by name. */
  readonly paused: ReadonlySet<string>;
  /** Since when plans have had the node go, and it has not begun. */
  readonly planned: SinceBook;
  /** The nodes whose pods move at the moment, by `turnOf`. */
  readonly moving: Map<string, string>;
  readonly removals: Removal[];
  readonly kept: KeptNode[];
}

/** The key in `moving` of everything that goes without asking anybody. */
export const CLUSTER_TURN = 'the cluster';
const OBSERVED_TURN = 'groups that observe';

/** A group begins with what a plan says within seconds; one that has not for so long, in milliseconds, cannot, whatever the reason. */
const TURN_MS = 300_000;

/** What a node goes for, and the instance type that must be ready before the first eviction. */
type Going = Pick<Removal, 'reason'> & { readonly replacement: string | null };

/**
 * Nodes with pods go one after the other in the whole cluster. What waits for a person's approval or the end of a pause, or is only
 * observed, has turns of its own, so that it does not hold up what could go.
 */
function turnOf({ paused }: Pass, { group }: Member, going: Going): string {
  if (group.mode === 'observe') return OBSERVED_TURN;
  if (paused.has(group.name)) return `the pause of ${group.name}`;
  return needsApproval(group, going) ? `approvals of ${group.name}` : CLUSTER_TURN;
}

/** Whether the node's group writes anything now. */
export function canAct({ paused }: Pick<Pass, 'paused'>, { group }: Member): boolean {
  return group.mode === 'act' && !paused.has(group.name);
}

export function countsOf({ groups }: Pass, { group }: Pick<Member, 'group'>): GroupCounts {
  const counts = groups.get(group.name);
  if (counts === undefined) throw new Error(`nobody counted the group ${group.name}`);
  return counts;
}

/** Why no node of the member's group goes by itself, as too few are Ready; null where enough are. */
export function keptBySight(pass: Pass, member: Member): Keep | null {
  const detail = haltFor(pass, member);
  return detail === null ? null : { reason: 'TooFewReady', detail, until: null };
}

function haltFor(pass: Pass, { group }: Member): string | null {
  return pass.halt ?? groupHalt(group.name, countsOf(pass, { group }).sight);
}

/** From when on the node is replaced; null while it is ready. */
export function repairOf(pass: Pass, member: Member): Repair | null {
  const { unreadySince } = member;
  if (unreadySince === null) return null;
  const own = countsOf(pass, member).backAt;
  const backAt = pass.backAt === null || own === null ? (pass.backAt ?? own) : Math.max(pass.backAt, own);
  return pass.repairs.of(member, unreadySince, { halt: haltFor(pass, member), backAt });
}

/** Why the node waits for another one whose pods move; null where it does not. */
export function keptByTurn(pass: Pass, member: Member, going: Going): Keep | null {
  if (member.podCount === 0) return null;
  const { moving } = pass;
  const other =
    moving.get(turnOf(pass, member, going)) ?? (canAct(pass, member) ? moving.get(CLUSTER_TURN) : undefined);
  if (other === undefined) return null;
  const detail = `nodes with pods go one at a time in the whole cluster, and ${other} goes first`;
  return { reason: 'NodeBudget', detail, until: null };
}

/** The node goes. */
export function remove(pass: Pass, member: Member, going: Going & Pick<Removal, 'detail'>): void {
  const { reason, detail, replacement } = going;
  const { group, node, machine, podCount, pods } = member;
  const counts = countsOf(pass, member);
  countRemoval(counts, member);
  if (replacement !== null) counts.room -= 1;
  const turn = turnOf(pass, member, going);
  const isOverdue = pass.planned.note(node.uid) + TURN_MS <= pass.at;
  if (podCount > 0 && !isOverdue && !pass.moving.has(turn)) pass.moving.set(turn, node.name);
  const inPause = pass.paused.has(group.name)
    ? `; ${group.name} is paused, and gives nothing back until it is resumed`
    : '';
  pass.removals.push({
    group: group.name,
    node: node.name,
    uid: node.uid,
    machine: machine.name,
    reason,
    podCount,
    replacement: replacement === null ? null : replacementFor(pass, member, replacement),
    detail: `${detail}${pass.safety.inStages(pods.evicted)}${inPause}`,
  });
}

function replacementFor(pass: Pass, member: Member, instanceType: string): Removal['replacement'] {
  const kinds = kindsToCome(pass, member, instanceType);
  return kinds.length === 0 ? { instanceType } : { instanceType, kinds };
}

export function keepNode({ kept }: Pass, { group, node }: Member, keep: Keep): void {
  kept.push({ group: group.name, node: node.name, ...keep });
}
