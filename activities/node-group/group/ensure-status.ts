import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { withoutGone } from '../../../domain/node-group/rules/lowered-for.ts';
import { groupCounts } from '../../../domain/node-group/status/group-counts.ts';
import { type GroupCounts, TOO_FEW_READY } from '../../../domain/node-group/status/group-status.ts';
import { statusPatch, wantedStatusOf } from '../../../domain/node-group/status/status-patch.ts';
import { listOf } from '../../../domain/kernel/pod-requests.ts';
import type { GroupInput, GroupStatusInput } from '../interface.ts';
import { listMachines } from '../machines/machine-objects.ts';
import { type NodesOfMachines, nodesOfMachines } from '../machines/node-objects.ts';
import type { MachineOptions } from '../machines/options.ts';
import { reportOnGroup } from './group-event.ts';
import { patchGroupStatus, type SeenGroupObject } from './group-objects.ts';
import { writeInVain } from './write-in-vain.ts';

/** See `NodeGroupActivities.ensureGroupStatus`. */
export async function ensureGroupStatus(options: MachineOptions, input: GroupStatusInput): Promise<void> {
  const { kubernetes } = options;
  if (input.inVain !== undefined) await writeInVain(options, input, input.inVain);
  const machines = await listMachines(kubernetes, input.target.group);
  const { nodeOf } = await nodesOfMachines(kubernetes, input.target.group, machines);
  await writeGroupStatus(options, input, { machines, nodeOf });
}

/**
 * Writes what the status should say by the machines of the group and their Nodes.
 *
 * @param seen the group as it was read just now: where its status says so already, it is not read again.
 */
export async function writeGroupStatus(
  options: MachineOptions,
  input: GroupInput,
  { machines, nodeOf }: { readonly machines: readonly DrivenMachine[]; readonly nodeOf: NodesOfMachines['nodeOf'] },
  seen?: SeenGroupObject,
): Promise<void> {
  const counts = groupCounts(machines.map((machine) => [machine, nodeOf(machine)] as const));
  const patchOf = ({ read, status }: SeenGroupObject) => {
    const at = options.clock.now();
    const patch = statusPatch(status, wantedStatusOf(read, counts, at), at);
    // No machine that came after these were read has been a node, and gone again.
    const forgotten = withoutGone(status, machines);
    return patch === null && forgotten === null ? null : { ...patch, ...forgotten };
  };
  if (seen !== undefined && patchOf(seen) === null) return;
  const before = await patchGroupStatus(options, input, patchOf);
  if (before !== null) await reportHalt(options, input, before, counts);
}

/** An Event when the condition has begun to say that too few nodes are ready. */
async function reportHalt(
  options: MachineOptions,
  input: GroupInput,
  { read, status }: SeenGroupObject,
  counts: GroupCounts,
): Promise<void> {
  const isHalt = ({ reason }: { readonly reason?: unknown }): boolean => reason === TOO_FEW_READY;
  const at = options.clock.now();
  const halt = wantedStatusOf(read, counts, at).conditions.find(isHalt);
  if (halt === undefined || listOf(status['conditions']).some(isHalt)) return;
  const { message } = halt;
  await reportOnGroup(options, input, { type: 'Warning', reason: TOO_FEW_READY, message, key: `${input.uid} ${at}` });
}
