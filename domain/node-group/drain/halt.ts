/** Whether a node may still go, when it is about to: much can have happened since the plan. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { withLost } from '../machine/lost.ts';
import type { Machine } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { backInSight, clusterHalt, groupHalt, sighted, sightOf } from '../scale-down/too-few-ready.ts';
import type { DrainTarget } from '../target.ts';
import { markOf } from './marks.ts';

type SeenNode = Pick<Node, 'name' | 'annotations' | 'ready' | 'isDeleting' | 'createdAt'>;

/**
 * Why no node of the group goes by itself now, as the plan says it (`scale-down/too-few-ready.ts`), or why this one does not, which is not ready, as
 * others have come back since its drain began; null where nothing stands in the way.
 *
 * @param nodes all of the cluster.
 * @param machines those of the group.
 */
export function haltBefore(
  { group, node: name }: Pick<DrainTarget, 'group' | 'node'>,
  nodes: readonly SeenNode[],
  machines: readonly Machine[],
  at: EpochMs,
): string | null {
  const node = nodes.find((each) => each.name === name);
  const isLost = node !== undefined && node.ready.status !== 'True';
  // The node itself is no longer one that is ready, but may be one that is not.
  const there = nodes.filter((each) => !each.isDeleting && (markOf(each) === null || (isLost && each.name === name)));
  const settled = new Map(
    machines.flatMap((machine) =>
      machine.phase === 'Ready' && !machine.isDeleting && machine.node !== null ? [[machine.node, machine]] : [],
    ),
  );
  const all = there.map((each) => sighted(each));
  const own = there.flatMap((each) => {
    const machine = settled.get(each.name);
    return machine === undefined ? [] : [sighted(each, machine)];
  });
  const haltOfGroup = (sight: Parameters<typeof clusterHalt>[0]): string | null => groupHalt(group, sight);
  const names = new Set(nodes.map((each) => each.name));
  const halt =
    clusterHalt(withLost(sightOf(all), machines, names)) ?? haltOfGroup(withLost(sightOf(own), machines, names));
  const began = node === undefined ? undefined : markOf(node)?.startedAt;
  if (halt !== null || !isLost || began === undefined) return halt;
  const back = [backInSight(all, at, clusterHalt), backInSight(own, at, haltOfGroup)];
  const backAt = Math.max(...back.map((moment) => moment ?? 0));
  if (backAt <= began) return null;
  return `other nodes came back at ${formatInstant(backAt)}, after its drain began: it is given time to come back too`;
}
