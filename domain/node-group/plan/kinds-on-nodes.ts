import type { Pod } from '../model/pod.ts';
import { podKind } from './pod-kind.ts';
import { podsByNode } from './pods-by-node.ts';

/** The kinds of the pods that are on a node, those that are ending included. */
export class KindsOnNodes {
  readonly #byNode: ReadonlyMap<string, readonly Pod[]>;
  readonly #known = new Map<string, ReadonlySet<string>>();

  constructor(pods: readonly Pod[]) {
    this.#byNode = podsByNode(pods);
  }

  of(node: string): ReadonlySet<string> {
    const known = this.#known.get(node) ?? new Set(this.podsOf(node).map(podKind));
    this.#known.set(node, known);
    return known;
  }

  podsOf(node: string): readonly Pod[] {
    return this.#byNode.get(node) ?? [];
  }
}

/** Whether the pod goes with its node, and takes nobody's place. */
export function isOfNode({ owner }: Pod): boolean {
  return owner?.kind === 'DaemonSet' || owner?.kind === 'Node';
}
