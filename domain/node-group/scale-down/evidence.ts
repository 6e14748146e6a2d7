/** Evidence of nodes that came in vain, for pods that would have to move: no node is given up for one that such pods would not get. */
import { type Against, isAskedFor, openTo } from '../plan/evidence-against.ts';
import type { Asking } from '../plan/pod-kind.ts';
import { type FitElsewhere, podsFitElsewhere } from '../scheduling/fit-elsewhere.ts';
import type { PodClass, Slot } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import type { Member } from './members.ts';

export class Evidence {
  readonly #against: (pod: Asking) => Against | null;
  readonly #known = new Map<PodClass, Against | null>();

  /** @param against what stands against nodes for pods like this one. */
  constructor(against: (pod: Asking) => Against | null) {
    this.#against = against;
  }

  /** The nodes, of those given, whose types the pods may be counted on to get. */
  openTo(pods: PodClass, slots: readonly Slot[]): readonly Slot[] {
    let against = this.#known.get(pods);
    if (against === undefined) {
      against = this.#against({ ...pods.constraints, namespace: pods.namespace, name: '' });
      this.#known.set(pods, against);
    }
    return openTo(slots, against);
  }

  /** Whether a node of the type may be asked for in place of the one that the pod is on. */
  isAskedFor(pod: Asking, group: string, instanceType: string): boolean {
    return isAskedFor(this.#against(pod), group, instanceType);
  }
}

/** Whether the pods of the node would be given the others: `podsFitElsewhere`. */
export function fitElsewhere(
  { packing, evidence }: { readonly packing: Packing; readonly evidence: Evidence },
  { node, pods }: Pick<Member, 'node' | 'pods'>,
): FitElsewhere {
  return podsFitElsewhere(packing, node.name, pods, (of, slots) => evidence.openTo(of, slots));
}
