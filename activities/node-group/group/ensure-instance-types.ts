import { type EpochMs, formatInstant, MINUTE_MS } from '../../../domain/kernel/time.ts';
import type { InstanceType, NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import type { GroupInput } from '../interface.ts';
import type { MachineOptions } from '../machines/options.ts';
import { findGroup, patchGroupStatus } from './group-objects.ts';

/** When the provider was asked is written again after this time, in milliseconds, where it answers the same. */
const REFRESHED_AFTER_MS = MINUTE_MS;

/** See `NodeGroupActivities.ensureInstanceTypes`. */
export async function ensureInstanceTypes(options: MachineOptions, input: GroupInput): Promise<void> {
  const group = (await findGroup(options.kubernetes, input))?.read.group ?? null;
  if (group === null) return;
  const types = await options.providers[group.provider].instanceTypes(group);
  const at = options.clock.now();
  await patchGroupStatus(options, input, ({ read }) =>
    read.group === null || isKnown(read.group, types, at)
      ? null
      : { instanceTypes: types.map(keptOf), instanceTypesTime: formatInstant(at) },
  );
}

function isKnown({ instanceTypes, instanceTypesAt }: NodeGroup, types: readonly InstanceType[], at: EpochMs): boolean {
  if (instanceTypesAt === null || at - instanceTypesAt >= REFRESHED_AFTER_MS) return false;
  return JSON.stringify(instanceTypes.map(keptOf)) === JSON.stringify(types.map(keptOf));
}

/** In one order, without what is not told. */
function keptOf({ id, capacity, allocatable, labels, pricePerHour, isAvailable }: InstanceType) {
  return {
    id,
    capacity: sorted(capacity),
    allocatable: sorted(allocatable),
    labels: sorted(labels),
    ...(pricePerHour === null ? {} : { pricePerHour }),
    isAvailable,
  };
}

function sorted<T>(record: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
