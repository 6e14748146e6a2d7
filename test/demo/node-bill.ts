/** What nodes cost: the price of an hour of each one's instance type, for as long as there was the node. */
import type { V1Node } from '@kubernetes/client-node';

/** Kubernetes' label for it. */
const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
const HOUR_MS = 3_600_000;

interface Seen {
  readonly pricePerHour: number;
  readonly from: number;
  to: number;
}

export class NodeBill {
  readonly #prices: Readonly<Record<string, number>>;
  readonly #seen = new Map<string, Seen>();
  #at = 0;

  /** @param prices of an hour, by instance type, in any one currency. */
  constructor(prices: Readonly<Record<string, number>>) {
    this.#prices = prices;
  }

  /** Takes down which nodes there are at a moment, in milliseconds; one that is missing was there until then. */
  see(nodes: readonly Pick<V1Node, 'metadata'>[], at: number): void {
    const present = new Set(nodes.map(({ metadata }) => metadata?.uid ?? ''));
    for (const { metadata } of nodes) {
      const uid = metadata?.uid ?? '';
      const pricePerHour = this.#prices[metadata?.labels?.[INSTANCE_TYPE] ?? ''] ?? 0;
      if (!this.#seen.has(uid)) this.#seen.set(uid, { pricePerHour, from: at, to: Number.POSITIVE_INFINITY });
    }
    for (const [uid, node] of this.#seen) {
      if (!present.has(uid)) node.to = Math.min(node.to, at);
    }
    this.#at = at;
  }

  /** Milliseconds that each node was there, in the order in which they came. */
  get lifetimes(): readonly number[] {
    return [...this.#seen.values()].map((node) => this.#lifetime(node));
  }

  /** Of an hour of all of them together. */
  get perHour(): number {
    return [...this.#seen.values()].reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
  }

  /** Of the time that they were there. */
  get total(): number {
    return [...this.#seen.values()].reduce(
      (sum, node) => sum + (node.pricePerHour * this.#lifetime(node)) / HOUR_MS,
      0,
    );
  }

  #lifetime({ from, to }: Seen): number {
    return Math.min(to, this.#at) - from;
  }
}
