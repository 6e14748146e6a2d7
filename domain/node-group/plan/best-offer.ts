/** Which offer's node is best for the pods that wait, by trying one of each. */
import { opensFor } from '../rules/exclusive.ts';
import { isBound } from '../scheduling/hardest-first.ts';
import type { PodClass, Slot } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import { pour } from '../scheduling/pour.ts';
import { isAskedFor } from './evidence-against.ts';
import type { Offer } from './offers.ts';
import { type PlannedNodes, addNode } from './planned-nodes.ts';
import { byText } from './pending.ts';
import { isTooFull, type Unplaced, type UnplacedInOrder } from './unplaced.ts';

export interface Trial {
  readonly offer: Offer;
  /** How many of which a node of it takes, in their order; those of which it takes none are left out. */
  readonly taken: readonly Taken[];
  readonly bound: number;
  /** Pods that must be on one node with others. */
  readonly together: number;
  readonly waste: number;
}

type Taken = readonly [of: Unplaced, count: number];

interface Rated extends Trial {
  /** The share of what is asked for that a node of it takes. */
  readonly value: number;
}

/** Null where no node helps any of them. */
export function bestOffer(plannedNodes: PlannedNodes, waiting: UnplacedInOrder): Trial | null {
  if (waiting.first === waiting.works.length) return null;
  const trials: Trial[] = [];
  let tier = Number.POSITIVE_INFINITY;
  for (const { group, room, offers } of plannedNodes.rosters) {
    if (room <= (plannedNodes.added.get(group.name) ?? 0)) continue;
    for (const offer of offers) {
      if (offer.refused !== null || offer.tier > tier) continue;
      const trial = tried(plannedNodes, waiting, offer);
      if (trial === null) continue;
      trials.push(trial);
      tier = offer.tier;
    }
  }
  return rated(trials).reduce<Rated | null>((best, each) => (best && !isBetter(each, best) ? best : each), null);
}

/** Pods that none of the offers takes say nothing about which is better, whatever they ask for. */
function rated(trials: readonly Trial[]): readonly Rated[] {
  const helped = new Set(trials.flatMap(({ taken }) => taken.map(([of]) => of)));
  const total = demandOf([...helped].map((of) => [of, of.left]));
  return trials.map((trial) => {
    const part = demandOf(trial.taken);
    const value =
      share(part.cpu, total.cpu) + share(part.memory, total.memory) + share(part.pods, total.pods) * POD_WEIGHT;
    return { ...trial, value };
  });
}

interface Demand {
  readonly cpu: number;
  readonly memory: number;
  readonly pods: number;
}

function demandOf(parts: readonly Taken[]): Demand {
  const sum = { cpu: 0, memory: 0, pods: 0 };
  for (const [{ work }, count] of parts) {
    const { requests } = work.pods.constraints;
    sum.cpu += Math.max(0, requests['cpu'] ?? 0) * count;
    sum.memory += Math.max(0, requests['memory'] ?? 0) * count;
    sum.pods += count;
  }
  return sum;
}

function tried(plannedNodes: PlannedNodes, waiting: UnplacedInOrder, offer: Offer): Trial | null {
  const { packing } = plannedNodes;
  const mark = packing.mark();
  const before = plannedNodes.added.get(offer.group.name) ?? 0;
  const slot = addNode(plannedNodes, offer);
  const taken: Taken[] = [];
  for (let index = waiting.first; index < waiting.works.length; index += 1) {
    const each = waiting.works[index];
    if (each === undefined || isTooFull(slot, waiting.least[index] ?? [])) break;
    if (
      each.left === 0 ||
      !isAskedFor(each.work.against, offer.group.name, offer.type.id) ||
      !opensFor(offer.group, each.work.pods.constraints)
    )
      continue;
    const count = pour(packing, each.work.pods, each.left, [slot]);
    if (count > 0) taken.push([each, count]);
  }
  const waste = wasteOf(packing, slot, 'cpu') + wasteOf(packing, slot, 'memory');
  packing.rollback(mark);
  plannedNodes.added.set(offer.group.name, before);
  if (taken.length === 0) return null;
  const sum = (counts: (of: PodClass) => boolean): number =>
    taken.reduce((all, [{ work }, count]) => all + (counts(work.pods) ? count : 0), 0);
  return {
    offer,
    taken,
    bound: sum(isBound),
    together: sum(({ affinity }) => affinity?.tallies.some(({ topologyKey }) => topologyKey === HOSTNAME) === true),
    waste,
  };
}

const HOSTNAME = 'kubernetes.io/hostname';
/** So small that it decides only where the pods request neither CPU nor memory, and the other shares are 0. */
const POD_WEIGHT = 0.001;

function share(part: number, whole: number): number {
  return whole <= 0 ? 0 : part / whole;
}

/** The share of the node that stays free. */
function wasteOf({ classes }: Packing, { capacity, free }: Slot, resource: string): number {
  const index = classes.resource(resource);
  return share(Math.max(0, free[index] ?? 0), capacity[index] ?? 0);
}

/** Pods that few places take go first; then the expander decides, then fewer nodes, then the names. */
function isBetter(a: Rated, b: Rated): boolean {
  const byPrice = a.offer.group.expander === 'price' && b.offer.group.expander === 'price';
  const order =
    a.offer.tier - b.offer.tier ||
    Number(b.bound > 0) - Number(a.bound > 0) ||
    b.together - a.together ||
    (byPrice ? compared(perValue(a), perValue(b)) : compared(a.waste, b.waste)) ||
    compared(perValue(a), perValue(b)) ||
    compared(b.value, a.value) ||
    byText(a.offer.group.name, b.offer.group.name) ||
    byText(a.offer.type.id, b.offer.type.id);
  return order < 0;
}

function perValue({ offer, value }: Rated): number {
  return offer.type.pricePerHour === null ? Number.POSITIVE_INFINITY : offer.type.pricePerHour / value;
}

/** Equal where only the rounding of sums differs. */
function compared(a: number, b: number): number {
  if (a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b))) return 0;
  return a < b ? -1 : 1;
}
