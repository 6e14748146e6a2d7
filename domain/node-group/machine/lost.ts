/** Machines whose Node is gone. One such Node was deleted; when most of them are, it is more likely that nobody can see them. */
import { type EpochMs, formatInstant, MINUTE_MS } from '../../kernel/time.ts';
import type { Machine } from '../model/node-group.ts';
import { clusterHalt, groupHalt, type Sight } from '../scale-down/too-few-ready.ts';
import { isComing } from '../plan/live-nodes.ts';

/** After that Kubernetes itself has deleted the pods, and whoever wanted the Nodes back has had the time. */
const LONGEST_HALT_MS = 60 * MINUTE_MS;

/** Whether the machine has been a node, and is to be one again. */
export function isLost(machine: Machine, hasNode: boolean): boolean {
  return machine.node !== null && !hasNode && isComing(machine);
}

/** What is seen of nodes, with the machines whose Nodes are gone as not ready, where they are several. */
export function withLost(sight: Sight, machines: readonly Machine[], names: ReadonlySet<string>): Sight {
  const lost = lostAmong(machines.map((machine) => [machine, names.has(machine.node ?? '')]));
  return { ready: sight.ready, unready: sight.unready + lost };
}

/** The same of many: of a single one the Node may have been deleted by anybody who wanted it gone. */
export function lostAmong(machines: readonly (readonly [machine: Machine, hasNode: boolean])[]): number {
  const lost = machines.filter(([machine, hasNode]) => isLost(machine, hasNode)).length;
  return lost > 1 ? lost : 0;
}

/**
 * Why a machine is not given up whose Node is gone, as one sentence; null where nothing stands in the way.
 *
 * @param sight those that are lost count as not ready.
 * @param since when its Node was found to be gone.
 */
export function keptThoughLost(
  group: string,
  sight: { readonly group: Sight; readonly cluster: Sight },
  since: EpochMs,
  at: EpochMs,
): string | null {
  const until = since + LONGEST_HALT_MS;
  const halt = at < until ? (clusterHalt(sight.cluster) ?? groupHalt(group, sight.group)) : null;
  return halt === null ? null : `${halt}, nor given up before ${formatInstant(until)}`;
}
