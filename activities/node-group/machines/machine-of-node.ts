import { VPSIENODE_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { isSure, ownersAmong } from '../../../domain/node-group/machine/machine-node.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { findMachine, listEveryMachine } from './machine-objects.ts';

/** The machines that may be the one which became a Node, as plans have it; none where no machine did. */
export async function machinesOfNode(
  kubernetes: Pick<Kubernetes, 'custom'>,
  node: Node,
): Promise<readonly DrivenMachine[]> {
  const label = node.labels[VPSIENODE_LABEL] ?? '';
  const labelled = label === '' ? null : await findMachine(kubernetes, label);
  // Machines are many, and this is asked at each look of a drain.
  if (labelled !== null && isSure(labelled, node)) return [labelled];
  return ownersAmong(await listEveryMachine(kubernetes))(node);
}
