import { formatInstant } from '../../../domain/kernel/time.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { type MachineNodePatch, machineNodePatch } from '../../../domain/node-group/machine/machine-node.ts';
import type { MachineStep } from '../../../domain/node-group/machine/next-step.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { GroupInput } from '../interface.ts';
import { writeMachineStatus } from './machine-objects.ts';
import { recordProvisioning } from './metrics.ts';
import { type NodesOfMachines, patchNode, type SeenNode } from './node-objects.ts';
import type { MachineOptions } from './options.ts';

/** Gives a node that has registered what its group gives its nodes, and says on the machine's object how far it is. */
export async function joinNode(
  options: MachineOptions,
  { target }: GroupInput,
  group: NodeGroup,
  machine: DrivenMachine,
  { node, isReady }: Extract<MachineStep<SeenNode>, { kind: 'join' }>,
  ownersOf: NodesOfMachines['ownersOf'],
): Promise<void> {
  const { kubernetes, clock } = options;
  const guard = async (): Promise<void> => await options.guard(target);
  if (machineNodePatch(group, machine, node, clock.now()) !== null) {
    // Another machine's driver may have written its own label meanwhile.
    let isOwn = true;
    const patchOf = (present: Node): MachineNodePatch | null => {
      isOwn = ownersOf(present).every(({ name }) => name === machine.name);
      return isOwn ? machineNodePatch(group, machine, present, clock.now()) : null;
    };
    await patchNode(kubernetes, node, patchOf, guard);
    if (!isOwn) return;
  }
  const phase = isReady ? 'Ready' : 'Joining';
  if (machine.phase === phase && machine.node === node.name) return;
  await guard();
  const at = clock.now();
  const moment = formatInstant(at);
  const change = {
    phase,
    nodeName: node.name,
    ...(machine.node === null ? { joinedAt: moment } : {}),
    ...(isReady ? { readyAt: moment, lastError: null } : {}),
  } as const;
  await writeMachineStatus(kubernetes, machine, change, { now: at });
  if (isReady && machine.readyAt === null) recordProvisioning(group.name, at - machine.createdAt);
}

/** A machine whose node is gone has its time to register again. */
export async function markLost(
  { kubernetes, clock, guard }: MachineOptions,
  { target }: GroupInput,
  machine: DrivenMachine,
  detail: string,
): Promise<void> {
  await guard(target);
  await writeMachineStatus(kubernetes, machine, { phase: 'Joining', lastError: detail }, { now: clock.now() });
}
