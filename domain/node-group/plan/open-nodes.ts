/** Opens nodes for pods that found no place: the best offer first, one node at a time, or many alike at once. */
import type { DaemonSet } from '../model/cluster-state.ts';
import { opensFor } from '../rules/exclusive.ts';
import { isBound } from '../scheduling/hardest-first.ts';
import type { Packing } from '../scheduling/packing.ts';
import type { PodClass } from '../scheduling/packed.ts';
import { isScarce } from '../scheduling/rules.ts';
import { isSimple } from '../scheduling/pod-class.ts';
import { pour } from '../scheduling/pour.ts';
import type { Slot } from '../scheduling/packed.ts';
import { openTo, typeKey } from './against.ts';
import { openComing, templateSlot } from './cluster-packing.ts';
import { type Offer, type Roster } from './offers.ts';
import { byText, type Work } from './pending.ts';

/** Pods that are still without a place; `left` changes. */
export interface Open {
  readonly work: Work;
  left: number;
}

export interface Opening {
  readonly packing: Packing;
  readonly rosters: readonly Roster[];
  readonly daemonSets: readonly DaemonSet[];
  /** How many new nodes each group has so far. */
  readonly opened: Map<string, number>;
}

interface Trial {
  readonly offer: Offer;
  /** How many of each open work a node of it takes. */
  readonly taken: readonly number[];
  readonly bound: number;
  /** Pods that must be on one node with others. */
  readonly together: number;
  readonly waste: number;
}

interface Rated extends Trial {
  /** The share of what is asked for that a node of it takes. */
  readonly value: number;
}

export function openNew(opening: Opening, offer: Offer): Slot {
  const { packing, daemonSets, opened } = opening;
  const count = opened.get(offer.group.name) ?? 0;
  opened.set(offer.group.name, count + 1);
  const name = `new ${offer.group.name} ${offer.type.id} ${count}`;
  return openComing(packing, templateSlot(offer.group, offer.type, name, 'new', offer.allocatable), daemonSets);
}

/** Opens nodes until nothing that is left is helped by one more; answers whether it opened any. */
export function openNodes(
  opening: Opening,
  open: readonly Open[],
  placed: (of: Open, slot: Slot, count: number) => void,
): boolean {
  const { packing } = opening;
  let hasOpened = false;
  let withRoom: readonly Slot[] = packing.slots.slice();
  for (;;) {
    const best = bestOffer(opening, open);
    if (best === null) return hasOpened;
    hasOpened = true;
    const before = packing.slots.length;
    for (let alike = timesAlike(opening, open, best); alike > 0; alike -= 1) {
      const slot = openNew(opening, best.offer);
      for (const [index, each] of open.entries()) {
        const count = best.taken[index] ?? 0;
        if (count > 0) put(packing, each, count, [slot], placed);
      }
    }
    // A new node can make room on others for pods that are spread or go with others; small ones fill what is left.
    withRoom = roomFor(open, [...withRoom, ...packing.slots.slice(before)]);
    for (const each of open)
      if (each.left > 0 && !isSimple(each.work.pods)) put(packing, each, each.left, withRoom, placed);
  }
}

/** Nodes with at least what the smallest of the pods that are left asks for: while nodes are opened, none gets more room. */
function roomFor(open: readonly Open[], slots: readonly Slot[]): readonly Slot[] {
  const least = new Map<number, number>();
  let works = 0;
  const askedBy = new Map<number, number>();
  for (const { work, left } of open) {
    if (left === 0) continue;
    works += 1;
    for (const [resource, amount] of work.pods.requests) {
      if (amount < 0) continue;
      least.set(resource, Math.min(least.get(resource) ?? amount, amount));
      askedBy.set(resource, (askedBy.get(resource) ?? 0) + 1);
    }
  }
  // A resource that one of them does not ask for keeps no node out.
  const asked = [...least].filter(([resource]) => askedBy.get(resource) === works);
  return slots.filter(
    (slot) => slot.podCount < slot.maxPods && !asked.some(([resource, amount]) => isScarce(slot, resource, amount)),
  );
}

export function put(
  packing: Packing,
  open: Open,
  count: number,
  slots: readonly Slot[],
  placed: (of: Open, slot: Slot, count: number) => void,
): void {
  const { pods, against } = open.work;
  pour(packing, pods, count, openTo(slots, against), (slot, here) => {
    open.left -= here;
    placed(open, slot, here);
  });
}

/** Pods that no rule ties to others fill one node after the other in the same way. */
function timesAlike({ rosters, opened }: Opening, open: readonly Open[], { offer, taken }: Trial): number {
  const roster = rosters.find(({ group }) => group === offer.group);
  let times = Math.max(1, (roster?.room ?? 0) - (opened.get(offer.group.name) ?? 0));
  for (const [index, { work, left }] of open.entries()) {
    const count = taken[index] ?? 0;
    if (count === 0) continue;
    if (!isSimple(work.pods) || work.pods.countedBy.length > 0) return 1;
    times = Math.min(times, Math.max(1, Math.floor(left / count)));
  }
  return times;
}

function bestOffer(opening: Opening, open: readonly Open[]): Trial | null {
  const some = open.some(({ left }) => left > 0);
  if (!some) return null;
  const trials: Trial[] = [];
  let tier = Number.POSITIVE_INFINITY;
  for (const { group, room, offers } of opening.rosters) {
    if (room <= (opening.opened.get(group.name) ?? 0)) continue;
    for (const offer of offers) {
      if (offer.refused !== null || offer.tier > tier) continue;
      const trial = tried(opening, open, offer);
      if (trial === null) continue;
      trials.push(trial);
      tier = offer.tier;
    }
  }
  return rated(open, trials).reduce<Rated | null>((best, each) => (best && !isBetter(each, best) ? best : each), null);
}

/** Pods that none of the offers takes say nothing about which is better, whatever they ask for. */
function rated(open: readonly Open[], trials: readonly Trial[]): readonly Rated[] {
  const helped = open.filter((_, index) => trials.some(({ taken }) => (taken[index] ?? 0) > 0));
  const total = demandOf(helped.map(({ work, left }) => [work.pods, left]));
  return trials.map((trial) => {
    const part = demandOf(open.map(({ work }, index) => [work.pods, trial.taken[index] ?? 0]));
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

function demandOf(parts: readonly (readonly [pods: PodClass, count: number])[]): Demand {
  const sum = { cpu: 0, memory: 0, pods: 0 };
  for (const [{ constraints }, count] of parts) {
    sum.cpu += Math.max(0, constraints.requests['cpu'] ?? 0) * count;
    sum.memory += Math.max(0, constraints.requests['memory'] ?? 0) * count;
    sum.pods += count;
  }
  return sum;
}

function tried(opening: Opening, open: readonly Open[], offer: Offer): Trial | null {
  const { packing } = opening;
  const mark = packing.mark();
  const before = opening.opened.get(offer.group.name) ?? 0;
  const slot = openNew(opening, offer);
  const taken = open.map(({ work, left }) =>
    left > 0 && isAskedFor(work, offer) && opensFor(offer.group, work.pods.constraints)
      ? pour(packing, work.pods, left, [slot])
      : 0,
  );
  const waste = wasteOf(packing, slot, 'cpu') + wasteOf(packing, slot, 'memory');
  packing.rollback(mark);
  opening.opened.set(offer.group.name, before);
  if (taken.every((count) => count === 0)) return null;
  const sum = (counts: (of: PodClass) => boolean): number =>
    open.reduce((all, { work }, index) => all + (counts(work.pods) ? (taken[index] ?? 0) : 0), 0);
  return {
    offer,
    taken,
    bound: sum(isBound),
    together: sum(({ affinity }) => affinity?.tallies.some(({ rule }) => rule.topologyKey === HOSTNAME) === true),
    waste,
  };
}

function isAskedFor({ against }: Work, { group, type }: Offer): boolean {
  return against === null || (against.trial === null && !against.types.has(typeKey(group.name, type.id)));
}

const HOSTNAME = 'kubernetes.io/hostname';
/** Only to tell pods apart from none that request nothing. */
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
