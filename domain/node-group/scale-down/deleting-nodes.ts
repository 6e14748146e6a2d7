import { listText } from '../../kernel/sentence.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { KeptNode } from '../model/plan.ts';

/** How many finalizers a sentence names. */
const NAMED = 3;

/**
 * Nodes of groups that somebody has deleted and a finalizer keeps, which is nobody's here. They are drained no more, and what waits for
 * their end, such as a VPSieNode that was deleted, says so.
 */
export function nodesKeptInDeletion({ nodes, machines }: ClusterState): readonly KeptNode[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return machines.flatMap(({ group, name, node, isDeleting, isDrainRequested }) => {
    const own = node === null ? undefined : byName.get(node);
    const finalizers = own?.finalizers ?? [];
    if (own?.isDeleting !== true || finalizers.length === 0 || isDeleting) return [];
    const waits = isDrainRequested ? `; ${name}, which was deleted, waits for that` : '';
    const kept = listText(finalizers, NAMED);
    const detail = `the Node is being deleted, and is kept by ${kept}: whoever put that there has to take it off${waits}`;
    return [{ group, node: own.name, reason: 'NodeDeleting' as const, detail, until: null }];
  });
}
