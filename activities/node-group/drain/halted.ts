import { haltBefore } from '../../../domain/node-group/drain/halt.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { DisruptionReason, Machine } from '../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import type { DrainTarget } from '../../../domain/node-group/target.ts';
import { despiteCancellation, unlessCancelled } from '../../kernel/cancellation.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';
import { listEveryMachine } from '../machines/machine-objects.ts';

/**
 * How old the lists may be, in milliseconds. Fifty drains ask at the same time, and between the answer and what is done by it
 * passes as much; Kubernetes itself takes 40 s to say that a node is silent.
 */
const RECENT_MS = 1_000;

/** All machines and nodes of the cluster. */
interface Seen {
  readonly machines: readonly Machine[];
  readonly nodes: readonly Node[];
}

interface Look {
  readonly began: number;
  readonly seen: Promise<Seen>;
}

/** The last look of each process, by its connection. */
const looks = new WeakMap<Kubernetes['core'], Look>();

/** As it was a second ago or later. */
async function recentlySeen(kubernetes: Pick<Kubernetes, 'core' | 'custom'>): Promise<Seen> {
  return await unlessCancelled(async () => {
    const last = looks.get(kubernetes.core);
    const look = last !== undefined && performance.now() - last.began < RECENT_MS ? last : beginLook(kubernetes);
    return await look.seen;
  });
}

/** It is of all who ask, whatever becomes of the drain that asked first. */
function beginLook({ core, custom }: Pick<Kubernetes, 'core' | 'custom'>): Look {
  const began = performance.now();
  const seen = despiteCancellation(async () => {
    // In this order, and together: a machine whose Node has come since the list of the nodes would be one that has lost it.
    const machines = await listEveryMachine({ custom });
    const objects = await listAll((range) => core.listNode(range));
    return { machines, nodes: objects.map(({ metadata, spec, status }) => readNode({ metadata, spec, status })) };
  });
  const look = { began, seen };
  looks.set(core, look);
  // Whoever asks next looks again.
  seen.catch(() => looks.delete(core));
  return look;
}

/**
 * Why a node must not go now, as too few are ready; null where it may. Asked just before something goes, and not of each attempt: it
 * lists all machines and nodes of the cluster.
 *
 * @param reason why the node is drained: what a person asks for is done all the same.
 */
export async function haltedNow(
  kubernetes: Pick<Kubernetes, 'core' | 'custom'>,
  target: DrainTarget,
  reason: DisruptionReason | undefined,
  at: EpochMs,
): Promise<string | null> {
  if (reason === 'Requested') return null;
  const { machines, nodes } = await recentlySeen(kubernetes);
  const own = machines.filter(({ group }) => group === target.group);
  return haltBefore(target, nodes, own, at);
}
