import type { Pod } from '../model/pod.ts';
import { byText } from './pending.ts';

/** The bound pods of each node, by its name; of a node in the order of their names. */
export function podsByNode(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
  const byNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    if (pod.node === null) continue;
    const list = byNode.get(pod.node);
    if (list === undefined) byNode.set(pod.node, [pod]);
    else list.push(pod);
  }
  for (const list of byNode.values()) {
    list.sort((a, b) => byText(a.namespace, b.namespace) || byText(a.name, b.name));
  }
  return byNode;
}
