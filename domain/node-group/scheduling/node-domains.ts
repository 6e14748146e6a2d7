import { ownValue } from '../../kernel/record.ts';
import type { Slot } from './packed.ts';

/** Which nodes count for a spread constraint, and in which domains of its topology they are. Tallies of many kinds of pods share it. */
export class NodeDomains {
  readonly topologyKey: string;
  readonly #accepts: (slot: Slot) => boolean;
  /** By the shape of a node, which is asked about once. */
  readonly #accepted: (boolean | undefined)[] = [];
  readonly #nodes = new Map<string, number>();

  constructor(topologyKey: string, accepts: (slot: Slot) => boolean) {
    this.topologyKey = topologyKey;
    this.#accepts = accepts;
  }

  /** How many domains have a node that counts. */
  get count(): number {
    return this.#nodes.size;
  }

  accepts(slot: Slot): boolean {
    const known = this.#accepted[slot.shape];
    if (known !== undefined) return known;
    const is = this.#accepts(slot);
    this.#accepted[slot.shape] = is;
    return is;
  }

  /** A node came. */
  open(slot: Slot): void {
    this.#change(slot, 1);
  }

  /** A node went. */
  close(slot: Slot): void {
    this.#change(slot, -1);
  }

  #change(slot: Slot, by: 1 | -1): void {
    const value = ownValue(slot.labels, this.topologyKey);
    if (value === undefined || !this.accepts(slot)) return;
    const nodes = (this.#nodes.get(value) ?? 0) + by;
    if (nodes === 0) this.#nodes.delete(value);
    else this.#nodes.set(value, nodes);
  }
}
