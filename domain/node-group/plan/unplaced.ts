/** Pods that wait for new nodes. */
import type { Slot } from '../scheduling/packed.ts';
import { isScarce } from '../scheduling/rules.ts';
import type { Work } from './pending.ts';

/** Pods that are still without a place; `left` and `failed` change. */
export interface Unplaced {
  readonly work: Work;
  left: number;
  /** How it was when no node took one of them (`chancesOf`); null as long as not all nodes were asked. */
  failed: readonly number[] | null;
}

/** Pods that wait for nodes, in their order; those that have got a place meanwhile are left out now and then. */
export class UnplacedInOrder {
  readonly works: readonly Unplaced[];
  /** Those that a node may fit later that did not fit it before. All others were asked about a new node when it was tried. */
  readonly tied: readonly Unplaced[];
  /** For each of them what it and all after it ask for at least, by the numbers of resources. */
  readonly least: readonly (readonly number[])[];
  #first = 0;

  constructor(works: readonly Unplaced[]) {
    this.works = works.filter(({ left }) => left > 0);
    this.tied = this.works.filter(({ work }) => work.pods.spread.length > 0 || work.pods.affinity !== null);
    this.least = leastFrom(this.works);
  }

  /** The place of the first that still waits: those before go first, and are done first. */
  get first(): number {
    while (this.works[this.#first]?.left === 0) this.#first += 1;
    return this.#first;
  }

  shortened(): UnplacedInOrder {
    return this.first * 2 > this.works.length ? new UnplacedInOrder(this.works) : this;
  }
}

function leastFrom(works: readonly Unplaced[]): readonly (readonly number[])[] {
  const least: (readonly number[])[] = [];
  let after: readonly number[] | null = null;
  for (let index = works.length - 1; index >= 0; index -= 1) {
    const own: number[] = [];
    for (const [resource, amount] of works[index]?.work.pods.requests ?? []) {
      own[resource] = Math.max(0, after === null ? amount : Math.min(amount, after[resource] ?? 0));
    }
    after = own;
    least[index] = own;
  }
  return least;
}

/** Whether none of the pods that ask for so much or more fits. */
export function isTooFull(slot: Slot, least: readonly number[]): boolean {
  return slot.podCount >= slot.maxPods || least.some((amount, resource) => isScarce(slot, resource, amount));
}
