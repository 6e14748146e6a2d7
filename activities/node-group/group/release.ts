import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { listText } from '../../../domain/kernel/sentence.ts';
import { GROUP_FINALIZER } from '../../../domain/node-group/api/names.ts';
import { isOrphaning } from '../../../domain/node-group/machine/hold.ts';
import { isLeaving } from '../../../domain/node-group/status/group-counts.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { GroupInput } from '../interface.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { letGoOfMachines } from '../machines/hold.ts';
import { listMachines } from '../machines/machine-objects.ts';
import { nodesOfMachines } from '../machines/node-objects.ts';
import type { MachineOptions } from '../machines/options.ts';
import { findGroup, patchGroupFinalizers } from './group-objects.ts';

/** Machines that are left are drained and deleted by others. */
const PACE: PollPace = { first: 2_000, last: 15_000, ramp: 120_000 };
const NAMED = 3;

/** See `NodeGroupActivities.ensureGroupReleased`. */
export async function ensureGroupReleased(options: MachineOptions, input: GroupInput): Promise<void> {
  const seen = await findGroup(options.kubernetes, input);
  if (seen?.read.isDeleting !== true || !seen.finalizers.includes(GROUP_FINALIZER)) return;
  const machines = await listMachines(options.kubernetes, input.target.group);
  const isOrphan = seen.read.group !== null && isOrphaning(seen.read.group);
  const left = isOrphan ? await leavingFirst(options, input, machines) : machines;
  if (left.length > 0) {
    throw notYet(
      `the group still has ${listText(
        left.map(({ name }) => name),
        NAMED,
      )}`,
      PACE,
    );
  }
  if (isOrphan) await letGoOfMachines(options, input, machines);
  await patchGroupFinalizers(options, input, ({ read, finalizers }) =>
    read.isDeleting && finalizers.includes(GROUP_FINALIZER)
      ? finalizers.filter((finalizer) => finalizer !== GROUP_FINALIZER)
      : null,
  );
}

/** The machines of a group that keeps its nodes which are to be given back first: they are no nodes, or leave already. */
async function leavingFirst(
  { kubernetes }: MachineOptions,
  input: GroupInput,
  machines: readonly DrivenMachine[],
): Promise<readonly DrivenMachine[]> {
  const { nodeOf } = await nodesOfMachines(kubernetes, input.target.group, machines);
  return machines.filter((machine) => {
    const node = nodeOf(machine);
    return node === null || isLeaving(machine, node);
  });
}
