import { VPSIENODE_LABEL } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { findMachine, listAllMachines } from './machine-objects.ts';

/**
 * The machine that became a Node, as plans have it (`scale-down/members.ts`): the one that the Node's label names, where that names the
 * Node too, or else one of the group that does; null where there is none.
 */
export async function machineOfNode(
  kubernetes: Pick<Kubernetes, 'custom'>,
  group: string,
  { name, labels }: Pick<Node, 'name' | 'labels'>,
): Promise<DrivenMachine | null> {
  const label = labels[VPSIENODE_LABEL] ?? '';
  const labelled = label === '' ? null : await findMachine(kubernetes, label);
  if (labelled?.node === name) return labelled;
  return (await listAllMachines(kubernetes, group)).find(({ node }) => node === name) ?? null;
}
