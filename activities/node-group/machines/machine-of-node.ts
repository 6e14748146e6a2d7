import { VPSIENODE_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { ownersOf } from '../../../domain/node-group/machine/machine-node.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { findMachine, listAllMachines, listMachines } from './machine-objects.ts';

/** The machines that may be the one which became a Node, as plans have it; none where no machine of the group did. */
export async function machinesOfNode(
  kubernetes: Pick<Kubernetes, 'custom'>,
  group: string,
  node: Node,
): Promise<readonly DrivenMachine[]> {
  const label = node.labels[VPSIENODE_LABEL] ?? '';
  const labelled = label === '' ? null : await findMachine(kubernetes, label);
  if (labelled?.node === node.name) return [labelled];
  const naming = (machines: readonly DrivenMachine[]) => machines.filter((machine) => machine.node === node.name);
  const own = naming(await listMachines(kubernetes, group));
  // One that has lost the label of its group is rare, and those of all groups are many.
  return ownersOf(node, own.length > 0 ? own : naming(await listAllMachines(kubernetes, group)));
}
