import { markOf } from '../drain/marks.ts';
import { lostAmong } from '../machine/lost.ts';
import type { Machine } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { type Sight, sightOf } from '../scale-down/too-few-ready.ts';
import type { GroupCounts } from './group-status.ts';

/** Whether a machine is being taken away: its object is being deleted, or is about to be, or its node is being drained. */
export function isLeaving(
  { isDeleting, phase }: Pick<Machine, 'isDeleting' | 'phase'>,
  node: Pick<Node, 'annotations'> | null,
): boolean {
  return isDeleting || phase === 'Deleting' || (node !== null && markOf(node) !== null);
}

/** @param nodes of the machines, each with its own; null where it has none. */
export function groupCounts(nodes: readonly (readonly [Machine, Node | null])[]): GroupCounts {
  const there = nodes.filter(([{ phase }]) => phase !== 'Failed');
  const leaving = there.filter(([machine, node]) => isLeaving(machine, node));
  return { current: there.length, leaving: leaving.length, ...groupSight(nodes) };
}

/** Of the machines that have been ready nodes and do not leave. Of several the Node is gone: nobody sees them. */
export function groupSight(nodes: readonly (readonly [Machine, Node | null])[]): Sight {
  const lost = lostAmong(nodes.map(([machine, node]) => [machine, node !== null]));
  const { ready, unready } = sightOf(
    nodes.flatMap(([machine, node]) =>
      machine.phase === 'Ready' && node !== null && !node.isDeleting && !isLeaving(machine, node)
        ? [{ isReady: node.ready.status === 'True' }]
        : [],
    ),
  );
  return { ready, unready: unready + lost };
}
