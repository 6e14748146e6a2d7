/**
 * `status.loweredFor`: the machines that are there and that `status.desiredNodes` counts no more. It is written together with the size, so
 * whoever goes on after an end knows what was done: nobody lowers the size twice for one machine, and it goes up again with a machine
 * that stays after all.
 */
import type { z } from 'zod';
import { listOf } from '../../kernel/pod-requests.ts';
import type { keptLowered } from '../api/lowered-for.ts';
import type { DrivenMachine } from '../machine/driven-machine.ts';
import type { NodeGroup } from '../model/node-group.ts';
import { textOf } from '../scheduling/read-pod.ts';
import { loweredDesired, stayingMachines } from './desired.ts';

type Lowered = z.output<typeof keptLowered>;

type Fields = Readonly<Record<string, unknown>>;
type Counted = Pick<DrivenMachine, 'uid' | 'isDeleting' | 'drainsFirst' | 'phase'>;
/** Null takes the list off, as a merge patch does. */
interface Size {
  readonly desiredNodes?: number;
  readonly loweredFor: readonly Lowered[] | null;
}

/**
 * The size just before machines are deleted for good, as a merge patch.
 *
 * @param machines all of the group, read after the status.
 */
export function loweredFor(
  status: Fields,
  { desiredNodes, minNodes }: Pick<NodeGroup, 'desiredNodes' | 'minNodes'>,
  going: readonly Pick<DrivenMachine, 'name' | 'uid'>[],
  machines: readonly Counted[],
): Size {
  const uids = new Set(going.map(({ uid }) => uid));
  const staying = stayingMachines(machines.filter(({ uid }) => !uids.has(uid)));
  const lowered = [...thoseThere(status, machines)];
  let desired = desiredNodes;
  for (const { name: machine, uid } of going) {
    if (lowered.some((entry) => entry.uid === uid)) continue;
    const less = loweredDesired(desired, staying, minNodes);
    if (desired !== null && less < desired) lowered.push({ machine, uid });
    desired = less;
  }
  return { ...(desired === null ? {} : { desiredNodes: desired }), loweredFor: orNone(lowered) };
}

/**
 * The size after machines stayed for which it had been lowered: one more for each, but not more than there are. Null where there are none.
 *
 * @param status as it was before the machines were read. One that it names says `Deleting`, or its object is deleted, until somebody took
 *   its Node back.
 * @param staying whether the machine stays, as far as is known now.
 */
export function raisedBack<M extends Counted>(
  status: Fields,
  desiredNodes: number | null,
  machines: readonly M[],
  staying: (machine: M) => boolean,
): Size | null {
  const there = thoseThere(status, machines);
  const back = new Set(machines.flatMap((machine) => (staying(machine) ? [machine.uid] : [])));
  const left = there.filter(({ uid }) => !back.has(uid));
  if (left.length === there.length) return null;
  const desired = desiredNodes ?? 0;
  const most = stayingMachines(
    machines.map((machine) => (staying(machine) ? { ...machine, phase: 'Ready' } : machine)),
  );
  const raised = Math.min(desired + there.length - left.length, Math.max(desired, most));
  return { desiredNodes: raised, loweredFor: orNone(left) };
}

/** Without machines that are gone, as a merge patch; null where there are none. */
export function withoutGone(status: Fields, machines: readonly Pick<DrivenMachine, 'uid'>[]): Size | null {
  const there = thoseThere(status, machines);
  return there.length === listOf(status['loweredFor']).length ? null : { loweredFor: orNone(there) };
}

function thoseThere(status: Fields, machines: readonly Pick<DrivenMachine, 'uid'>[]): readonly Lowered[] {
  const uids = new Set(machines.map(({ uid }) => uid));
  return listOf(status['loweredFor'])
    .map((entry) => ({ machine: textOf(entry['machine']), uid: textOf(entry['uid']) }))
    .filter(({ uid }) => uids.has(uid));
}

function orNone(lowered: readonly Lowered[]): readonly Lowered[] | null {
  return lowered.length === 0 ? null : lowered;
}
