import type { ControllerName } from '../domain/kernel/controllers.ts';
import { githubBudgetRoom } from './github-budget/room.ts';
import type { Room, RoomContext } from './room.ts';
import { leaseGcRoom } from './lease-gc/room.ts';
import { lightsOutRoom } from './lights-out/room.ts';
import { quotaResizeRoom } from './quota-resize/room.ts';
import { quotaUsageRoom } from './quota-usage/room.ts';

/** Every controller that the worker runs. A name without a room does not compile. */
export const rooms: Readonly<Record<ControllerName, Room>> = {
  'quota-resize': quotaResizeRoom,
  'quota-usage': quotaUsageRoom,
  'lights-out': lightsOutRoom,
  'lease-gc': leaseGcRoom,
  'github-budget': githubBudgetRoom,
};

/**
 * The activities of every room, by name.
 *
 * @throws Error when two rooms have an activity of the same name: one would shadow the other.
 */
export function createAllActivities(context: RoomContext): object {
  const all = new Map<string, unknown>();
  for (const [name, room] of Object.entries(rooms)) {
    for (const [activity, run] of Object.entries(room.createActivities(context))) {
      if (all.has(activity)) throw new Error(`the activity ${activity} of ${name} has the name of another room's`);
      all.set(activity, run);
    }
  }
  return Object.fromEntries(all);
}
