/** Which nodes are to come: for pending pods, the minimum, and what a person or an earlier decision wants. */
import type { ClusterState } from '../model/cluster-state.ts';
import type { ClusterPlan, NewNodes, ScaleUpReason, UnhelpedPod } from '../model/plan.ts';
import type { Pod } from '../model/pod.ts';
import { nodesToAdd } from '../rules/size.ts';
import type { Slot } from '../scheduling/packed.ts';
import { openCluster } from './cluster-packing.ts';
import type { Daemon } from './daemons.ts';
import { placeLeaving, podsToCome } from './leaving-pods.ts';
import { type Blocked, type Offer, plainOffer, type Roster, rosters } from './offers.ts';
import { type Proof, prove } from './in-vain.ts';
import { addNodes, retry } from './add-nodes.ts';
import { fillLater, type Filled } from './fill-later.ts';
import { type PlannedNodes, addNode } from './planned-nodes.ts';
import { byText, inOrder, pendingWork, type Work } from './pending.ts';
import { podKind } from './pod-kind.ts';
import { AND_OTHERS, MOST_KINDS, type Trials } from './trials.ts';
import { whyUnhelped } from './unhelped.ts';
import type { Unplaced } from './unplaced.ts';

export interface ScaleUpOptions {
  /** Groups that ask for no machines now, by name. */
  readonly blocked: Readonly<Record<string, Blocked>>;
  /** The DaemonSets of the state. */
  readonly daemons: readonly Daemon[];
  /** The instance types as the provider promises them, by group: the state has what was learned of them. */
  readonly promised: ClusterState['instanceTypes'];
  /** Of the plan before. */
  readonly trials: Trials;
  /** How many pods are named beside new nodes: `NAMED` where it is absent. */
  readonly namedPods?: number;
}

/** How often a plan is looked at again with all of its nodes there from the beginning. */
const ROUNDS = 8;
/** How many pods are named beside new nodes. */
const NAMED = 5;

interface Planned {
  readonly offer: Offer;
  readonly reason: ScaleUpReason;
}

interface Placement {
  readonly slot: Slot;
  readonly name: string;
  readonly work: Work;
}

interface Round {
  readonly works: readonly Unplaced[];
  readonly placements: readonly Placement[];
  /** The new nodes in their order, with why they are planned. */
  readonly nodes: readonly (Planned & { readonly slot: Slot })[];
}

/**
 * One plan for the whole cluster, whatever the order of its parts. Existing nodes and machines on their way are used first. Each
 * round begins anew with the nodes planned so far, until no more are needed: so a plan that was carried out needs no other.
 */
export function planScaleUp(
  state: ClusterState,
  { blocked, daemons, promised, trials, namedPods = NAMED }: ScaleUpOptions,
): Pick<ClusterPlan, 'newNodes' | 'unhelped'> & { readonly proof: Proof } {
  const packing = openCluster(state, daemons);
  const pending = pendingWork(packing, state.pods);
  const proof = prove(state, { packing, work: pending.work, promised, daemons, before: trials });
  // What does not exist yet proves nothing, and is not missed.
  const coming = pendingWork(packing, state.coming ?? []).work.map((each) => ({ ...each, isComing: true }));
  const work = inOrder([...pending.work, ...coming].map((each) => ({ ...each, against: proof.against(each.first) })));
  placeLeaving(packing, podsOfDrains(state));
  const all = rosters(state, blocked);
  const plannedNodes: PlannedNodes = { packing, rosters: all, daemons, added: new Map() };
  const base = packing.mark();
  let planned = all.flatMap(floorOf);
  const floor = planned.length;
  let round = run(plannedNodes, planned, work);
  let isTrimmed = false;
  for (let n = 1; n < ROUNDS; n += 1) {
    const busy = new Set(round.placements.map(({ slot }) => slot));
    const needed = round.nodes.filter(({ reason, slot }) => reason !== 'PendingPods' || busy.has(slot));
    const hasGrown = round.nodes.length > planned.length;
    if (!hasGrown && (isTrimmed || needed.length === round.nodes.length)) break;
    isTrimmed ||= needed.length < round.nodes.length;
    planned = inOrderOfMachines(needed);
    packing.rollback(base);
    plannedNodes.added.clear();
    round = run(plannedNodes, planned, work);
  }
  const kept = withinBatch(round, floor);
  const newNodes = summed(plannedNodes, round, kept, namedPods);
  return { newNodes, unhelped: unhelpedOf(plannedNodes, round, kept, pending.unhelped), proof };
}

/** Pods that are about to be evicted. Those of a drain that takes long, or stands still, do not hold room that others could have. */
function podsOfDrains({ pods, leaving, lingering }: ClusterState): readonly Pod[] {
  const nodes = new Set(leaving.filter((node) => !lingering.includes(node)));
  return podsToCome(pods.filter(({ node }) => node !== null && nodes.has(node)));
}

/** Nodes that the minimum or the wanted size asks for. */
function floorOf(roster: Roster): readonly Planned[] {
  const { group, current, leaving, room } = roster;
  const offer = plainOffer(roster);
  if (offer === null) return [];
  const below = Math.max(0, nodesToAdd({ current, desired: group.minNodes }, room));
  // The wanted size is lowered only when a machine is deleted. Until then a machine that leaves counts, so that none is made for it.
  const soon = { current: current + leaving + below, desired: group.desiredNodes ?? 0 };
  const count = below + Math.max(0, nodesToAdd(soon, room - below));
  return Array.from({ length: count }, (_, index) => ({
    offer,
    reason: index < below ? 'BelowMinimum' : 'BelowDesired',
  }));
}

/** In the order in which the next plan takes them up, as machines on their way by then. */
function inOrderOfMachines(nodes: readonly Planned[]): Planned[] {
  return nodes.toSorted(
    (a, b) => byText(a.offer.group.name, b.offer.group.name) || byText(a.offer.type.id, b.offer.type.id),
  );
}

function run(plannedNodes: PlannedNodes, planned: readonly Planned[], work: readonly Work[]): Round {
  const { packing, rosters: all } = plannedNodes;
  const before = packing.slots.length;
  const nodes = planned.map((each) => ({ ...each, slot: addNode(plannedNodes, each.offer) }));
  const works = work.map((each): Unplaced => ({ work: each, left: each.names.length, failed: null }));
  const placements: Placement[] = [];
  const next = new Map<Unplaced, number>();
  const placed = (of: Unplaced, slot: Slot, count: number): void => {
    const from = next.get(of) ?? 0;
    for (const name of of.work.names.slice(from, from + count)) placements.push({ slot, name, work: of.work });
    next.set(of, from + count);
  };
  for (let last = -1; last !== placements.length; ) {
    last = placements.length;
    for (const each of works) if (each.left > 0) retry(packing, each, packing.slots, [], placed);
  }
  addNodes(plannedNodes, works, placed);
  const more = packing.slots.slice(before + nodes.length).map((slot) => {
    const offers = all.find(({ group }) => group.name === slot.group)?.offers ?? [];
    const offer = offers.find(({ type }) => type.id === slot.instanceType);
    if (offer === undefined) throw new Error(`no offer made the node ${slot.name}`);
    return { offer, reason: 'PendingPods' as const, slot };
  });
  return { works, placements, nodes: [...nodes, ...more] };
}

/** Of each group, the nodes of one decision: those for its size first. */
function withinBatch({ nodes }: Round, floor: number): ReadonlySet<Slot> {
  const counts = new Map<string, number>();
  const kept = new Set<Slot>();
  const byReason =
    floor === 0
      ? nodes
      : nodes.toSorted((a, b) => Number(a.reason === 'PendingPods') - Number(b.reason === 'PendingPods'));
  for (const { offer, slot } of byReason) {
    const { name, scaleUp } = offer.group;
    const count = counts.get(name) ?? 0;
    if (scaleUp.batchSize > 0 && count >= scaleUp.batchSize) continue;
    counts.set(name, count + 1);
    kept.add(slot);
  }
  return kept;
}

function summed(
  { rosters: all }: Pick<PlannedNodes, 'rosters'>,
  { nodes, placements }: Round,
  kept: ReadonlySet<Slot>,
  namedPods: number,
): readonly NewNodes[] {
  const bySlot = new Map<Slot, Placement[]>();
  for (const each of placements) {
    const list = bySlot.get(each.slot) ?? [];
    list.push(each);
    bySlot.set(each.slot, list);
  }
  const sums = new Map<string, { of: Planned; count: number; placed: Placement[] }>();
  for (const { slot, offer, reason } of nodes) {
    if (!kept.has(slot)) continue;
    const key = `${offer.group.name} ${offer.type.id} ${reason}`;
    const sum = sums.get(key) ?? { of: { offer, reason }, count: 0, placed: [] };
    sum.count += 1;
    sum.placed.push(...(bySlot.get(slot) ?? []));
    sums.set(key, sum);
  }
  const sorted = [...sums].toSorted(([a], [b]) => byText(a, b)).map(([, sum]) => sum);
  const filled = sorted.map(({ of: { offer }, count, placed }) => ({
    group: offer.group,
    type: offer.type,
    count,
    pods: new Set(placed.map(({ work }) => work.pods)),
  }));
  // Machines on their way may be of the same plan, of which one part was carried out.
  const later = fillLater([...filled, ...comingFilled(all, placements)]);
  return sorted.map(({ of, count, placed }, at) => ({
    group: of.offer.group.name,
    instanceType: of.offer.type.id,
    count,
    reason: of.reason,
    pods: placed
      .map(({ name }) => name)
      .toSorted(byText)
      .slice(0, namedPods),
    podCount: placed.length,
    ...comingOf(placed),
    kinds: kindsOf(placed),
    ...(later[at] ? { fillLater: later[at] } : {}),
  }));
}

/** Machines on their way that pods of the plan are to be on. */
function comingFilled(all: readonly Roster[], placements: readonly Placement[]): readonly Filled[] {
  const bySlot = Map.groupBy(
    placements.filter(({ slot }) => slot.origin === 'upcoming'),
    ({ slot }) => slot,
  );
  return [...bySlot].flatMap(([slot, placed]) => {
    const roster = all.find(({ group }) => group.name === slot.group);
    const type = roster?.offers.find((offer) => offer.type.id === slot.instanceType)?.type;
    if (roster === undefined || type === undefined) return [];
    return [{ group: roster.group, type, count: 1, pods: new Set(placed.map(({ work }) => work.pods)) }];
  });
}

function comingOf(placed: readonly Placement[]): Pick<NewNodes, 'comingPods'> {
  const coming = placed.filter(({ work }) => work.isComing === true).length;
  return coming === 0 ? {} : { comingPods: coming };
}

function kindsOf(placed: readonly Placement[]): readonly string[] {
  const works = new Set(placed.map(({ work }) => work).filter(({ isComing }) => isComing !== true));
  const kinds = [...new Set([...works].map(({ first }) => podKind(first)))].toSorted(byText);
  return kinds.length <= MOST_KINDS ? kinds : [...kinds.slice(0, MOST_KINDS), AND_OTHERS];
}

function unhelpedOf(
  plannedNodes: PlannedNodes,
  { works, placements, nodes }: Round,
  kept: ReadonlySet<Slot>,
  before: readonly UnhelpedPod[],
): readonly UnhelpedPod[] {
  const planned = new Set(nodes.map(({ slot }) => slot));
  const all = [...before];
  for (const { slot, name, work } of placements) {
    if (work.isComing === true) continue;
    if (planned.has(slot)) {
      if (!kept.has(slot)) {
        const detail = `${slot.group ?? ''} adds no more nodes in one decision; the next one follows`;
        all.push({ ...named(name), reason: 'Limited', detail });
      }
    } else if (slot.origin === 'existing') {
      all.push({
        ...named(name),
        reason: 'FitsExisting',
        detail: `it fits node ${slot.name}, where it is to be placed`,
      });
    } else {
      all.push({ ...named(name), reason: 'FitsUpcoming', detail: `it fits ${slot.name}, which is on its way` });
    }
  }
  const unplaced = works.filter(({ left, work }) => left > 0 && work.isComing !== true);
  const whys = whyUnhelped(
    plannedNodes,
    unplaced.map(({ work }) => work),
  );
  for (const { work, left } of unplaced) {
    const why = whys.get(work);
    if (why === undefined) continue;
    for (const name of work.names.slice(work.names.length - left)) all.push({ ...named(name), ...why });
  }
  return all.toSorted((a, b) => byText(a.namespace, b.namespace) || byText(a.name, b.name));
}

function named(text: string): Pick<UnhelpedPod, 'namespace' | 'name'> {
  const [namespace = '', name = ''] = text.split('/');
  return { namespace, name };
}
