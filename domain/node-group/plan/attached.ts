/** What can be attached to the next node of a type, and which ports are taken there: the least favourable of the live ones. */
import type { Amounts } from '../../kernel/amounts.ts';
import type { InstanceType } from '../model/node-group.ts';
import type { Pod } from '../model/pod.ts';
import { portsOf } from './daemons.ts';
import { type Examples, staticPodsOf } from './live-nodes.ts';

/**
 * @param byNode the bound pods of each node.
 * @param attachLimits of each node, by its name: a node without any has not said them yet.
 */
export function attachedTo(
  { settled, joining }: Examples,
  byNode: ReadonlyMap<string, readonly Pod[]>,
  attachLimits: ReadonlyMap<string, Amounts>,
): Pick<NonNullable<InstanceType['learned']>, 'attachLimits' | 'hostPorts'> {
  const least = new Map<string, number>();
  for (const { name } of [...settled, ...joining]) {
    for (const [driver, count] of Object.entries(attachLimits.get(name) ?? {})) {
      least.set(driver, Math.min(least.get(driver) ?? count, count));
    }
  }
  const ownPods = settled.flatMap((node) => staticPodsOf(node, byNode.get(node.name) ?? []));
  return { attachLimits: Object.fromEntries(least), hostPorts: portsOf(ownPods) };
}
