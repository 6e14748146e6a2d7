import type { Machine } from '../model/node-group.ts';
import type { Pod } from '../model/pod.ts';
import { podKind } from './pod-kind.ts';
import { podsByNode } from './pods-by-node.ts';
import { typeKey } from './type-key.ts';

type Typed = Pick<Machine, 'group' | 'instanceType'>;

/** The kinds of the pods that are on a node, those that are ending included. */
export class KindsOnNodes {
  readonly #byNode: ReadonlyMap<string, readonly Pod[]>;
  readonly #known = new Map<string, ReadonlySet<string>>();
  readonly #machines: ReadonlyMap<string, readonly Machine[]>;
  readonly #byType = new Map<string, ReadonlyMap<string, readonly Machine[]>>();

  constructor(pods: readonly Pod[], machines: readonly Machine[]) {
    this.#byNode = podsByNode(pods);
    this.#machines = Map.groupBy(machines, ({ group, instanceType }) => typeKey(group, instanceType));
  }

  of(node: string): ReadonlySet<string> {
    const known = this.#known.get(node) ?? new Set(this.podsOf(node).map(podKind));
    this.#known.set(node, known);
    return known;
  }

  /** Machines of the type whose nodes have a pod of the kind. */
  machinesWith(kind: string, { group, instanceType }: Typed): readonly Machine[] {
    const type = typeKey(group, instanceType);
    const known = this.#byType.get(type) ?? this.#indexed(this.#machines.get(type) ?? []);
    this.#byType.set(type, known);
    return known.get(kind) ?? [];
  }

  #indexed(machines: readonly Machine[]): ReadonlyMap<string, readonly Machine[]> {
    const byKind = new Map<string, Machine[]>();
    for (const machine of machines) {
      for (const kind of machine.node === null ? [] : this.of(machine.node)) {
        const list = byKind.get(kind) ?? [];
        list.push(machine);
        byKind.set(kind, list);
      }
    }
    return byKind;
  }

  podsOf(node: string): readonly Pod[] {
    return this.#byNode.get(node) ?? [];
  }
}
