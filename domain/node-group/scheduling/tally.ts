import { ownValue } from '../../kernel/record.ts';
import type { PodTally, Slot, TallyRule } from './packed.ts';

interface Domain {
  nodes: number;
  pods: number;
}

/** How many pods of some kind are in each domain of a topology, kept up to date as pods and nodes come and go. */
export class Tally implements PodTally {
  readonly rule: TallyRule;
  /** All pods that were counted. */
  total = 0;
  readonly #domains = new Map<string, Domain>();
  /** How many domains have so many pods, so that the least is known without looking at all of them. */
  readonly #domainsWith: number[] = [0];
  readonly #accepted: (boolean | undefined)[] = [];
  #domainCount = 0;
  #least = 0;

  constructor(rule: TallyRule) {
    this.rule = rule;
  }

  /** How many domains have a node that counts. */
  get domainCount(): number {
    return this.#domainCount;
  }

  /** The least number of pods in a domain; 0 where there is no domain. */
  get least(): number {
    return this.#least;
  }

  /** How many pods are in the domain of the node. */
  at(slot: Slot): number {
    const value = ownValue(slot.labels, this.rule.topologyKey);
    return value === undefined ? 0 : (this.#domains.get(value)?.pods ?? 0);
  }

  /** A node came. Only asked of rules that spread. */
  open(slot: Slot): void {
    const domain = this.#domainOf(slot);
    if (domain === null) return;
    domain.nodes += 1;
    if (domain.nodes > 1) return;
    this.#domainCount += 1;
    this.#bump(domain.pods, 1);
    if (this.#domainCount === 1 || domain.pods < this.#least) this.#least = domain.pods;
  }

  /** A node went. Only asked of rules that spread. */
  close(slot: Slot): void {
    const domain = this.#domainOf(slot);
    if (domain === null) return;
    domain.nodes -= 1;
    if (domain.nodes > 0) return;
    this.#domainCount -= 1;
    this.#bump(domain.pods, -1);
    this.#raiseLeast();
  }

  /** So many pods came to the node, or went. */
  add(slot: Slot, count: number): void {
    const domain = this.#domainOf(slot);
    if (domain === null) return;
    this.total += count;
    if (domain.nodes > 0) this.#bump(domain.pods, -1);
    domain.pods += count;
    // Without nodes that count, and for rules that do not spread, of which no node is counted.
    if (domain.nodes === 0) return;
    this.#bump(domain.pods, 1);
    if (domain.pods < this.#least) this.#least = domain.pods;
    else this.#raiseLeast();
  }

  #bump(pods: number, by: number): void {
    while (this.#domainsWith.length <= pods) this.#domainsWith.push(0);
    this.#domainsWith[pods] = (this.#domainsWith[pods] ?? 0) + by;
  }

  #raiseLeast(): void {
    if (this.#domainCount === 0) {
      this.#least = 0;
      return;
    }
    while (this.#domainsWith[this.#least] === 0) this.#least += 1;
  }

  #domainOf(slot: Slot): Domain | null {
    const value = ownValue(slot.labels, this.rule.topologyKey);
    if (value === undefined || !this.#accepts(slot)) return null;
    let domain = this.#domains.get(value);
    if (domain === undefined) {
      domain = { nodes: 0, pods: 0 };
      this.#domains.set(value, domain);
    }
    return domain;
  }

  #accepts(slot: Slot): boolean {
    if (this.rule.accepts === null) return true;
    const known = this.#accepted[slot.shape];
    if (known !== undefined) return known;
    const is = this.rule.accepts(slot);
    this.#accepted[slot.shape] = is;
    return is;
  }
}
