import { listText } from '../../../domain/kernel/sentence.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { holdPatch, isOfGroup, letGoPatch } from '../../../domain/node-group/machine/hold.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { reportOnGroup } from '../group/group-event.ts';
import type { GroupInput } from '../interface.ts';
import { patchMachineMetadata } from './machine-objects.ts';
import type { MachineOptions } from './options.ts';

const AT_ONCE = 20;
/** How many machines an Event names. */
const NAMED = 3;

/**
 * Takes hold of a group's machines: those that an owner holds, those of the VPSie autoscaler, and those of a group that had the name
 * before, whose nodes would otherwise be nobody's for ever.
 *
 * @returns whether anything was written.
 */
export async function holdMachines(
  options: MachineOptions,
  input: GroupInput,
  machines: readonly DrivenMachine[],
): Promise<boolean> {
  const { kubernetes, guard } = options;
  const holder = { name: input.target.group, uid: input.uid };
  const free = machines.filter((machine) => holdPatch(machine, holder) !== null);
  await inParallel(AT_ONCE, free, async (machine) => {
    await guard(input.target);
    await patchMachineMetadata(kubernetes, machine, (present) => holdPatch(present, holder));
  });
  const taken = free.filter((machine) => !isOfGroup(machine, holder.name, holder.uid));
  if (taken.length === 0) return free.length > 0;
  const names = listText(
    taken.map(({ name }) => name),
    NAMED,
  );
  await reportOnGroup(options, input, {
    type: 'Normal',
    reason: 'TakenOver',
    message: `takes over machines of a NodeGroup that had this name before: ${names}`,
    key: `${holder.uid}:${taken.map(({ uid }) => uid).join()}`,
  });
  return true;
}

/** Lets go of machines, which stay as they are with their nodes. */
export async function letGoOfMachines(
  { kubernetes, guard }: MachineOptions,
  { target }: GroupInput,
  machines: readonly DrivenMachine[],
): Promise<void> {
  await inParallel(AT_ONCE, machines, async (machine) => {
    await guard(target);
    await patchMachineMetadata(kubernetes, machine, letGoPatch);
  });
}
