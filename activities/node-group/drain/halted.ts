import { haltBefore } from '../../../domain/node-group/drain/halt.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { DisruptionReason } from '../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import type { DrainTarget } from '../../../domain/node-group/target.ts';
import { despiteCancellation, unlessCancelled } from '../../kernel/cancellation.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';
import { listMachines } from '../machines/machine-objects.ts';

/**
 * How old the list of the nodes may be, in milliseconds. Fifty drains ask at the same time, and between the answer and what is done by it
 * passes as much; Kubernetes itself takes 40 s to say that a node is silent.
 */
const RECENT_MS = 1_000;

interface NodeList {
  readonly began: number;
  readonly nodes: Promise<readonly Node[]>;
}

/** The last list of each process, by its connection. */
const lists = new WeakMap<Kubernetes['core'], NodeList>();

/** All nodes of the cluster, as they were a second ago or later. */
async function recentNodes(core: Kubernetes['core']): Promise<readonly Node[]> {
  return await unlessCancelled(async () => {
    const last = lists.get(core);
    const list = last !== undefined && performance.now() - last.began < RECENT_MS ? last : beginList(core);
    return await list.nodes;
  });
}

/** It is of all who ask, whatever becomes of the drain that asked first. */
function beginList(core: Kubernetes['core']): NodeList {
  const began = performance.now();
  const nodes = despiteCancellation(async () => {
    const objects = await listAll((range) => core.listNode(range));
    return objects.map(({ metadata, spec, status }) => readNode({ metadata, spec, status }));
  });
  const list = { began, nodes };
  lists.set(core, list);
  // Whoever asks next lists them again.
  nodes.catch(() => lists.delete(core));
  return list;
}

/**
 * Why a node must not go now, as too few are ready; null where it may. Asked just before something goes, and not of each attempt: it
 * lists all nodes of the cluster.
 *
 * @param reason why the node is drained: what a person asks for is done all the same.
 */
export async function haltedNow(
  { core, custom }: Pick<Kubernetes, 'core' | 'custom'>,
  target: DrainTarget,
  reason: DisruptionReason | undefined,
  at: EpochMs,
): Promise<string | null> {
  if (reason === 'Requested') return null;
  const [machines, nodes] = await Promise.all([listMachines({ custom }, target.group), recentNodes(core)]);
  return haltBefore(target, nodes, machines, at);
}
