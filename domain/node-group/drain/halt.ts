/** Whether a node may still go, when it is about to: much can have happened since the plan. */
import type { Machine } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { clusterHalt, groupHalt, sightOf } from '../scale-down/sight.ts';
import type { DrainTarget } from '../target.ts';
import { markOf } from './marks.ts';

type SeenNode = Pick<Node, 'name' | 'annotations' | 'ready' | 'isDeleting'>;

/**
 * Why no node of the group goes by itself now, as the plan says it (`scale-down/sight.ts`); null where enough are ready.
 *
 * @param nodes all of the cluster.
 * @param machines those of the group.
 */
export function haltBefore(
  { group, node }: Pick<DrainTarget, 'group' | 'node'>,
  nodes: readonly SeenNode[],
  machines: readonly Pick<Machine, 'node' | 'phase' | 'isDeleting'>[],
): string | null {
  const settled = new Set(
    machines.filter(({ phase, isDeleting }) => phase === 'Ready' && !isDeleting).map((each) => each.node),
  );
  const counted = nodes
    .map((each) => ({ ...each, isReady: each.ready.status === 'True' }))
    // The node itself is no longer one that is ready, but may be one that is not.
    .filter((each) => !each.isDeleting && (markOf(each) === null || (each.name === node && !each.isReady)));
  return clusterHalt(sightOf(counted)) ?? groupHalt(group, sightOf(counted.filter(({ name }) => settled.has(name))));
}
