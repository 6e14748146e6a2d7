/** `status.desiredNodes` of a group, after Headroom itself changed its size. */
import type { EpochMs } from '../../kernel/time.ts';
import type { DrivenMachine } from '../machine/driven-machine.ts';
import type { Machine } from '../model/node-group.ts';

/** Whether the size that is wanted may count a machine: until its deletion is asked for, just before which the size goes down. */
export function mayBeWanted({ isDeleting, phase }: Pick<Machine, 'isDeleting' | 'phase'>): boolean {
  return !isDeleting && phase !== 'Failed' && phase !== 'Terminating';
}

/**
 * How many machines the size that is wanted still counts: not those whose object was deleted, or is just about to be. What their Nodes say does
 * not matter: a Node may be gone before its machine is, and one whose drain goes on is counted until its own machine goes.
 */
export function stayingMachines(
  machines: readonly Pick<DrivenMachine, 'isDeleting' | 'drainsFirst' | 'phase'>[],
): number {
  return machines.filter(
    ({ isDeleting, drainsFirst, phase }) => !isDeleting && !drainsFirst && phase !== 'Deleting' && phase !== 'Failed',
  ).length;
}

/** After machines were created: it is never below what is there. */
export function raisedDesired(desired: number | null, staying: number): number {
  return Math.max(desired ?? 0, staying);
}

/**
 * Just before a machine is deleted for good: one less, but not below what stays, the minimum, or what a person has lowered it to.
 * Asked again for the same machine it says the same, wherever nobody wanted more nodes than there are.
 *
 * @param staying as by `stayingMachines`, without that machine.
 */
export function loweredDesired(desired: number | null, staying: number, minNodes: number): number {
  return desired === null ? Math.max(minNodes, staying) : Math.min(desired, Math.max(minNodes, staying, desired - 1));
}

/**
 * What a status says of when nodes came or went, beside the size. With milliseconds: of two writes in one second the second would otherwise
 * change nothing where the size stays the same, and whoever counts machines at that time would not notice it.
 */
export function scaledAt(direction: 'Up' | 'Down', at: EpochMs): Readonly<Record<string, string>> {
  const moment = new Date(at).toISOString();
  return { lastScaleTime: moment, [`lastScale${direction}Time`]: moment };
}
