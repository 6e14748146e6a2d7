/** Which nodes are given back, in which order, and why the others stay. */
import { claimedName } from '../../kernel/command-input.ts';
import { ownValue } from '../../kernel/record.ts';
import { formatInstant, formatSpan } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { DisruptionReason } from '../model/node-group.ts';
import type { Keep, KeptNode, NewNodes, Removal } from '../model/plan.ts';
import type { Pod } from '../model/pod.ts';
import { clusterPacking } from '../plan/cluster-packing.ts';
import type { Daemon } from '../plan/daemons.ts';
import type { Proof } from '../plan/in-vain.ts';
import { placeLeaving, podsToCome } from '../plan/leaving-pods.ts';
import type { Blocked } from '../plan/offers.ts';
import { isOrphaning } from '../machine/hold.ts';
import { byText } from '../plan/pending.ts';
import { podsByNode } from '../plan/pods-by-node.ts';
import { hardestFirst } from '../scheduling/hardest-first.ts';
import { pour } from '../scheduling/pour.ts';
import { ArrivalBook } from './arrivals.ts';
import { type CandidateOrder, inRemovalOrder } from './candidates.ts';
import { nodesKeptInDeletion } from './deleting-nodes.ts';
import { evaluate } from './evaluate.ts';
import { Evidence, fitElsewhere } from './evidence.ts';
import { countGroups, keptByBudget } from './group-counts.ts';
import { type Member, membersOf } from './members.ts';
import { type PlanMemory, SinceBook, withoutGap } from './memory.ts';
import { keptByPolicy } from './node-policy.ts';
import {
  canAct,
  CLUSTER_TURN,
  countsOf,
  keepNode,
  keptBySight,
  keptByTurn,
  type Pass,
  remove,
  repairOf,
} from './pass.ts';
import { withLost } from '../machine/lost.ts';
import { PodSafety } from './pod-safety.ts';
import { RepairBook } from './repair.ts';
import { broughtBefore, standIn } from './replacement.ts';
import { backInSight, clusterHalt, sighted, sightOf } from './too-few-ready.ts';

/** A node that a person wants to be taken away. */
export interface RequestedRemoval {
  readonly node: string;
  /** Another node that has the name stays. Absent: it is not known yet which one was meant. */
  readonly uid?: string;
  readonly by: string;
}

/** A node whose drain failed or was rejected by a person: it is left alone for a while, and holds up no other. */
export interface RestingNode {
  readonly uid: string;
  /** For which reason it is not to go; absent: for any. */
  readonly reason?: DisruptionReason;
  /** One sentence. */
  readonly detail: string;
  readonly until: number;
}

export interface RemovalOptions {
  readonly blocked: Readonly<Record<string, Blocked>>;
  /** The DaemonSets of the state. */
  readonly daemons: readonly Daemon[];
  readonly memory: PlanMemory;
  readonly requested: readonly RequestedRemoval[];
  readonly resting: readonly RestingNode[];
  /** What the same plan asks for: a group that grows gives nothing back by itself. */
  readonly newNodes: readonly NewNodes[];
  /** Of the same plan: which nodes have not been given the pods that they came for. */
  readonly proof: Pick<Proof, 'against' | 'kept' | 'inPlace'>;
  readonly order: CandidateOrder;
}

/**
 * The removals of one plan in the order in which they are to go. Nodes of groups that act come before those of groups that are
 * paused or only observe, which do not hold up anything.
 */
export function planRemovals(
  state: ClusterState,
  { blocked, daemons, memory: left, requested, resting, newNodes, proof, order }: RemovalOptions,
): {
  readonly removals: readonly Removal[];
  readonly kept: readonly KeptNode[];
  readonly memory: Omit<PlanMemory, 'trials'>;
} {
  const { at } = state;
  const memory = withoutGap(left, at);
  const unready = new SinceBook(memory.unready, at);
  const unneeded = new SinceBook(memory.unneeded, at);
  const cheaper = new SinceBook(memory.cheaper, at);
  const planned = new SinceBook(memory.planned, at);
  const repairs = new RepairBook(memory, at);
  const byNode = podsByNode(state.pods);
  const members = membersOf(state, byNode, { unready, unneeded });
  const packing = clusterPacking(state, daemons, proof.against);
  const arrivals = new ArrivalBook(memory, state, packing);
  const leaving = state.leaving.toSorted(byText);
  const comingFrom = (node: string): readonly Pod[] => podsToCome(byNode.get(node) ?? []);
  placeLeaving(packing, leaving.flatMap(comingFrom));
  const moving = leaving.find((node) => !state.lingering.includes(node) && comingFrom(node).length > 0);
  const pass: Pass = {
    at,
    packing,
    evidence: new Evidence(proof.against),
    inPlace: proof.inPlace,
    daemons,
    instanceTypes: state.instanceTypes,
    safety: new PodSafety(state),
    groups: countGroups(state, members, blocked, newNodes),
    going: state.going ?? new Map(),
    unneeded,
    cheaper,
    arrivals,
    onTrial: proof.kept,
    paused: new Set(Object.keys(blocked).filter((group) => ownValue(blocked, group)?.reason === 'Paused')),
    planned,
    ...clusterSight(state),
    repairs,
    moving: new Map(moving === undefined ? [] : [[CLUSTER_TURN, moving]]),
    removals: [],
    kept: [],
  };
  const wanted = new Map(requested.map((request) => [request.node, request]));
  const rests = new Rests(resting, at);
  for (const isActing of [true, false]) {
    const own = inRemovalOrder(
      members.filter((member) => canAct(pass, member) === isActing),
      order,
    );
    const forced = new Set(own.filter((member) => takeForced(pass, member, wanted, rests)));
    for (const member of own) {
      if (!forced.has(member) && member.isSettled) decideFor(pass, member, rests);
    }
  }
  return {
    removals: pass.removals,
    kept: [...pass.kept, ...nodesKeptInDeletion(state)].toSorted(
      (a, b) => byText(a.group, b.group) || byText(a.node, b.node),
    ),
    memory: {
      plannedAt: at,
      load: arrivals.load,
      unneeded: unneeded.result(),
      unready: unready.result(),
      seenUnready: repairs.result(),
      cheaper: cheaper.result(),
      planned: planned.result(),
      arrivals: arrivals.result(),
    },
  };
}

function clusterSight({ nodes, machines, leaving, at }: ClusterState): Pick<Pass, 'halt' | 'backAt'> {
  const gone = new Set(leaving);
  const there = nodes.filter(({ name, isDeleting }) => !isDeleting && !gone.has(name)).map((node) => sighted(node));
  const names = new Set(nodes.map(({ name }) => name));
  return {
    halt: clusterHalt(withLost(sightOf(there), machines, names)),
    backAt: backInSight(there, at, clusterHalt),
  };
}

/** Nodes that go whether they are needed or not. Answers whether the node was decided about. */
function takeForced(pass: Pass, member: Member, wanted: ReadonlyMap<string, RequestedRemoval>, rests: Rests): boolean {
  const { group, node, isSettled, unreadySince, unknown, machine } = member;
  if (unknown !== null) {
    // Its drain would be refused, and whatever came in its place would have come in vain.
    const detail = machine.isDrainRequested ? `${deletedText(member)}, and it waits: ${unknown}` : unknown;
    keepNode(pass, member, { reason: 'MachineUnknown', detail, until: null });
    return true;
  }
  const counts = countsOf(pass, member);
  if (group.isDeleting) {
    goWithGroup(pass, member, rests);
    return true;
  }
  const request = wanted.get(node.name);
  if (request !== undefined && (request.uid ?? node.uid) === node.uid) {
    counts.excess = Math.max(0, counts.excess - 1);
    goForced(pass, member, { reason: 'Requested', detail: `${claimedName(request.by)} asked for it` }, true);
    return true;
  }
  if (machine.isDrainRequested) {
    counts.excess = Math.max(0, counts.excess - 1);
    goAsDeleted(pass, member, rests);
    return true;
  }
  const repair = isSettled ? repairOf(pass, member) : null;
  if (unreadySince === null || repair === null || repair.from > pass.at) return false;
  const keep =
    keptBySight(pass, member) ?? keptByPolicy(group, node, machine, pass.at) ?? rests.of(node.uid, 'NotReady');
  // Whether it goes now or later, nobody counts on it.
  counts.excess = Math.max(0, counts.excess - 1);
  if (keep !== null) {
    keepNode(pass, member, keep);
    return true;
  }
  const detail = `it has not been ready since ${formatInstant(unreadySince)}, for ${formatSpan(pass.at - unreadySince)}`;
  goForced(pass, member, { reason: 'NotReady', detail });
  return true;
}

/**
 * The object of a machine was deleted, which cannot be taken back, and which overrides no check. So the checks of the pods hold, and no
 * pod is evicted again and again from a node that cannot be emptied.
 */
function goAsDeleted(pass: Pass, member: Member, rests: Rests): void {
  const detail = deletedText(member);
  const keep = rests.of(member.node.uid, 'Requested') ?? pass.safety.keptByPods(member.pods.evicted);
  if (keep === null) goForced(pass, member, { reason: 'Requested', detail });
  else keepNode(pass, member, { ...keep, detail: `${detail}, and it waits: ${keep.detail}` });
}

function deletedText({ machine }: Member): string {
  return `its VPSieNode ${machine.name} was deleted`;
}

/** A group that is being deleted has no other nodes, and gives these back within its budgets, or leaves them. */
function goWithGroup(pass: Pass, member: Member, rests: Rests): void {
  const { group, node, pods } = member;
  const detail = `the NodeGroup ${group.name} is being deleted`;
  const keep = isOrphaning(group)
    ? ({ reason: 'PolicyDisabled', detail: `${detail}, and its deletionPolicy is Orphan`, until: null } as const)
    : // One that cannot go now holds up none of the others.
      (rests.of(node.uid, 'Requested') ??
      pass.safety.keptByBudgets(pods.evicted) ??
      keptByBudget(countsOf(pass, member), 'Requested', member, pass.at));
  if (keep !== null) {
    keepNode(pass, member, keep);
    return;
  }
  vacate(pass, member);
  remove(pass, member, { reason: 'Requested', detail, replacement: null });
}

/** Why nodes are left alone for now. */
class Rests {
  readonly #resting: readonly RestingNode[];

  constructor(resting: readonly RestingNode[], at: number) {
    this.#resting = resting.filter(({ until }) => until > at);
  }

  /** Why the node does not go for this reason; null where it may. Without a reason: why it goes for none. */
  of(uid: string, reason?: DisruptionReason): Keep | null {
    const isMeant = (rest: RestingNode): boolean =>
      rest.uid === uid && (rest.reason === undefined || rest.reason === reason);
    const rest = this.#resting.find(isMeant);
    return rest === undefined ? null : { reason: 'Cooldown', detail: rest.detail, until: rest.until };
  }
}

/**
 * Takes the node away within its budget. Another one is Ready first where its pods have no other place or too few nodes would be left: in
 * repair always, since a node that is not Ready may run its pods all the same; of what a person asks for, where the group wants that.
 *
 * @param isNew whether somebody has asked anew, so that another one may come although one has come before.
 */
function goForced(pass: Pass, member: Member, why: Pick<Removal, 'reason' | 'detail'>, isNew = false): void {
  const { group } = member;
  const counts = countsOf(pass, member);
  const keep = keptByBudget(counts, why.reason, member, pass.at);
  if (keep !== null) {
    keepNode(pass, member, keep);
    return;
  }
  let type: string | null = null;
  const isRepair = why.reason === 'NotReady';
  if (isRepair || group.replaceBeforeDrain) {
    const mark = pass.packing.mark();
    const fits = fitElsewhere(pass, member).kind === 'fits';
    pass.packing.rollback(mark);
    const isNeeded = !fits || counts.left - Number(member.isReady && member.isSettled) < group.minNodes;
    const brought = isNeeded && !isNew ? broughtBefore(pass, member) : null;
    type = isNeeded && brought === null ? standIn(pass, member, counts, isRepair) : null;
    const none = brought?.detail ?? `${group.name} can have no node in its place now`;
    if (isRepair && isNeeded && type === null && brought?.isReady !== true) {
      keepNode(pass, member, { reason: 'NoReplacement', detail: `${why.detail}, but ${none}`, until: null });
      return;
    }
    if (!isRepair && !fits && type === null) {
      const detail = `${why.detail}, but its pods fit nowhere else, and ${none}`;
      keepNode(pass, member, { reason: 'PodsFitNowhere', detail, until: null });
      return;
    }
  }
  vacate(pass, member);
  counts.left -= Number(member.isReady && member.isSettled);
  remove(pass, member, { ...why, replacement: type });
}

/** The node is gone for everything that is asked from now on, and its pods are elsewhere as far as they find a place. */
function vacate(pass: Pass, member: Member): void {
  const { packing, evidence } = pass;
  const { node, pods } = member;
  const slot = packing.slotOf(node.name);
  if (slot === undefined || slot.isClosed || fitElsewhere(pass, member).kind === 'fits') return;
  const counts = new Map(slot.pods);
  for (const pod of pods.goWithNode) {
    const of = packing.classOf(pod);
    counts.set(of, (counts.get(of) ?? 0) - 1);
  }
  packing.close(slot);
  for (const [of, count] of [...counts].toSorted(([a], [b]) => hardestFirst(a, b))) {
    if (count > 0) pour(packing, of, count, evidence.openTo(of, packing.slots));
  }
}

function decideFor(pass: Pass, member: Member, rests: Rests): void {
  const { uid } = member.node;
  const counts = countsOf(pass, member);
  const mark = pass.packing.mark();
  const { left, excess } = counts;
  const answer = evaluate(pass, member, rests.of(uid));
  if (answer.kind === 'keep') {
    keepNode(pass, member, answer.keep);
    return;
  }
  const rejected = rests.of(uid, answer.reason);
  if (rejected !== null) {
    // It stays for hours, so the next node is asked with this one there.
    pass.packing.rollback(mark);
    counts.left = left;
    counts.excess = excess;
    keepNode(pass, member, rejected);
    return;
  }
  const keep = keptByBudget(counts, answer.reason, member, pass.at) ?? keptByTurn(pass, member, answer);
  if (keep === null) remove(pass, member, answer);
  else keepNode(pass, member, keep);
}
