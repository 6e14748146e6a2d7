import { ownValue } from '../../kernel/record.ts';
import type { PodClass, Slot } from './packed.ts';

/**
 * Where running pods of namespaces that are set aside could keep pods of other namespaces away. Nobody asks their terms whom they mean,
 * so their domains are closed for everybody else.
 */
export class ClosedDomains {
  /** By topology key, domain and namespace: how many pods. */
  readonly #pods = new Map<string, Map<string, Map<string, number>>>();

  /** So many pods came to the node, or went. */
  change({ setAside, namespace }: PodClass, slot: Slot, count: number): void {
    for (const topologyKey of setAside?.closes ?? []) {
      const domain = ownValue(slot.labels, topologyKey);
      if (domain === undefined) continue;
      const byDomain = this.#pods.get(topologyKey) ?? new Map<string, Map<string, number>>();
      this.#pods.set(topologyKey, byDomain);
      const byNamespace = byDomain.get(domain) ?? new Map<string, number>();
      byDomain.set(domain, byNamespace);
      const left = (byNamespace.get(namespace) ?? 0) + count;
      if (left === 0) byNamespace.delete(namespace);
      else byNamespace.set(namespace, left);
    }
  }

  /** The namespace whose pods close the node, the first by name; null where none does. */
  closes(slot: Slot): string | null {
    let first: string | null = null;
    for (const [topologyKey, byDomain] of this.#pods) {
      const domain = ownValue(slot.labels, topologyKey);
      for (const namespace of (domain === undefined ? undefined : byDomain.get(domain)?.keys()) ?? []) {
        if (first === null || namespace < first) first = namespace;
      }
    }
    return first;
  }
}
