import { haltBefore } from '../../../domain/node-group/drain/halt.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { DisruptionReason } from '../../../domain/node-group/model/node-group.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import type { DrainTarget } from '../../../domain/node-group/target.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';
import { listMachines } from '../machines/machine-objects.ts';

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
  const [machines, nodes] = await Promise.all([
    listMachines({ custom }, target.group),
    listAll((range) => core.listNode(range)),
  ]);
  const read = nodes.map(({ metadata, spec, status }) => readNode({ metadata, spec, status }));
  return haltBefore(target, read, machines, at);
}
