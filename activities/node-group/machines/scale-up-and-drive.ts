import { asyncLocalStorage } from '@temporalio/activity';
import { isRecord } from '../../../domain/kernel/record.ts';
import type { ScaledUp, ScaleUpInput } from '../interface.ts';
import { driveMachines } from './drive-machines.ts';
import type { MachineOptions } from './options.ts';
import { ensureScaledUp } from './scale-up.ts';

/** See `NodeGroupActivities.ensureScaledUp`. An attempt that has created leaves that to the next one, which only drives. */
export async function scaleUpAndDrive(options: MachineOptions, input: ScaleUpInput): Promise<ScaledUp> {
  const { target, uid, drives = false } = input;
  const scaledUp = createdBefore() ?? (await ensureScaledUp(options, input));
  if (!drives || scaledUp.kind !== 'created') return scaledUp;
  asyncLocalStorage.getStore()?.heartbeat(scaledUp);
  const { failed } = await driveMachines(options, { target, uid });
  return { ...scaledUp, failed };
}

/** What an attempt before this one has created; null where there was none. */
function createdBefore(): ScaledUp | null {
  const details: unknown = asyncLocalStorage.getStore()?.info.heartbeatDetails;
  return isRecord(details) && details['kind'] === 'created' ? (details as unknown as ScaledUp) : null;
}
