import { ownValue } from '../../kernel/record.ts';
import type { NodeDomains } from './node-domains.ts';
import type { PodTally, Slot } from './packed.ts';

/** How many pods of some kind are in each domain of a topology, kept up to date as pods come and go. */
export class Tally implements PodTally {
  readonly topologyKey: string;
  /** All pods that were counted. */
  total = 0;
  /** The nodes that count; null for all that have the topology key, where the least of a domain is of no interest. */
  readonly #domains: NodeDomains | null;
  /** By domain, where there are any. */
  readonly #pods = new Map<string, number>();
  /** How many domains have so many pods, so that the least is known without looking at all of them. */
  readonly #domainsWith: number[] = [];
  /** The least number of pods in a domain that has any, or less. */
  #low = 1;

  constructor(topologyKey: string, domains: NodeDomains | null) {
    this.topologyKey = topologyKey;
    this.#domains = domains;
  }

  /** How many domains have a node that counts; 0 where that is of no interest. */
  get domainCount(): number {
    return this.#domains?.count ?? 0;
  }

  /** The least number of pods in a domain with a node that counts; 0 where there is none. Pods are only ever on nodes that are there. */
  get least(): number {
    if (this.#pods.size === 0 || this.#pods.size < this.domainCount) return 0;
    while ((this.#domainsWith[this.#low] ?? 0) === 0) this.#low += 1;
    return this.#low;
  }

  /** How many pods are in the domain of the node. */
  at(slot: Slot): number {
    if (this.total === 0) return 0;
    const value = ownValue(slot.labels, this.topologyKey);
    return value === undefined ? 0 : (this.#pods.get(value) ?? 0);
  }

  /** So many pods came to the node, or went. */
  add(slot: Slot, count: number): void {
    const value = ownValue(slot.labels, this.topologyKey);
    if (value === undefined || this.#domains?.accepts(slot) === false) return;
    this.total += count;
    const before = this.#pods.get(value) ?? 0;
    const after = before + count;
    if (after === 0) this.#pods.delete(value);
    else this.#pods.set(value, after);
    if (this.#domains === null) return;
    this.#bump(before, -1);
    this.#bump(after, 1);
    if (after > 0 && after < this.#low) this.#low = after;
  }

  #bump(pods: number, by: 1 | -1): void {
    if (pods === 0) return;
    while (this.#domainsWith.length <= pods) this.#domainsWith.push(0);
    this.#domainsWith[pods] = (this.#domainsWith[pods] ?? 0) + by;
  }
}
