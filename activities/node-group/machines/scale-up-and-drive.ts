import type { ScaledUp, ScaleUpInput } from '../interface.ts';
import { driveMachines } from './drive-machines.ts';
import type { MachineOptions } from './options.ts';
import { keepProgress, progressBefore } from './progress.ts';
import { ensureScaledUp } from './scale-up.ts';

/** See `NodeGroupActivities.ensureScaledUp`. An attempt that has created leaves that to the next one, which only drives. */
export async function scaleUpAndDrive(options: MachineOptions, input: ScaleUpInput): Promise<ScaledUp> {
  const { target, uid, drives = false } = input;
  const before = progressBefore();
  const scaledUp = before.created ?? (await ensureScaledUp(options, input));
  if (!drives || scaledUp.kind !== 'created') return scaledUp;
  keepProgress({ ...before, created: scaledUp });
  const { failed } = await driveMachines(options, { target, uid }, scaledUp);
  return { ...scaledUp, failed };
}
