import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { listText } from '../../../domain/kernel/sentence.ts';
import { GROUP_FINALIZER } from '../../../domain/node-group/api/names.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { GroupInput } from '../interface.ts';
import { listMachines } from '../machines/machine-objects.ts';
import type { MachineOptions } from '../machines/options.ts';
import { findGroup, patchGroupFinalizers } from './group-objects.ts';

/** Machines that are left are drained and deleted by others. */
const PACE: PollPace = { first: 2_000, last: 15_000, ramp: 120_000 };
const NAMED = 3;

/** See `NodeGroupActivities.ensureGroupReleased`. */
export async function ensureGroupReleased(options: MachineOptions, input: GroupInput): Promise<void> {
  const seen = await findGroup(options.kubernetes, input);
  if (seen?.read.isDeleting !== true || !seen.finalizers.includes(GROUP_FINALIZER)) return;
  const left = await listMachines(options.kubernetes, input.target.group);
  if (left.length > 0) {
    throw notYet(
      `the group still has ${listText(
        left.map(({ name }) => name),
        NAMED,
      )}`,
      PACE,
    );
  }
  await patchGroupFinalizers(options, input, ({ read, finalizers }) =>
    read.isDeleting && finalizers.includes(GROUP_FINALIZER)
      ? finalizers.filter((finalizer) => finalizer !== GROUP_FINALIZER)
      : null,
  );
}
