import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { markOf } from '../../../domain/node-group/drain/marks.ts';
import { awaited } from '../../../domain/node-group/drain/look.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { isOfGroup } from '../../../domain/node-group/machine/hold.ts';
import { isLeaving } from '../../../domain/node-group/status/group-counts.ts';
import { loweredDesired } from '../../../domain/node-group/rules/desired.ts';
import { type DrainTarget, nodeDrainId } from '../../../domain/node-group/target.ts';
import type { DisruptionReason } from '../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { notYet } from '../../kernel/not-yet.ts';
import { reportOnGroup } from '../group/group-event.ts';
import { findGroup, patchGroupStatus } from '../group/group-objects.ts';
import { haltedNow } from '../drain/halted.ts';
import { podsOn } from '../drain/pods-on.ts';
import type { DrainedNode, GroupInput } from '../interface.ts';
import { deleteAtProvider } from './delete-at-provider.ts';
import { deleteMachineObject, findMachine, isStaying, listMachines, writeMachineStatus } from './machine-objects.ts';
import { countDecision, countScaleDown, recordDrain } from './metrics.ts';
import { nodesOfMachines } from './node-objects.ts';
import type { MachineOptions } from './options.ts';

/** A provider deletes a machine within seconds or minutes. */
const PACE: PollPace = { first: 1_000, last: 15_000, ramp: 120_000 };
/** A person has to put the NodeGroup in order. */
const INVALID_RETRY_MS = 30_000;

/** See `NodeGroupActivities.ensureMachineDeleted`. */
export async function deleteMachine(
  options: MachineOptions,
  input: GroupInput & { readonly machine: string; readonly drained?: DrainedNode },
): Promise<boolean> {
  const { kubernetes } = options;
  const { target, uid } = input;
  const machine = await findMachine(kubernetes, input.machine);
  // One of another group, or of a group that was created again under the same name, is left alone.
  if (machine === null || !isOfGroup(machine, target.group, uid)) return false;
  if (!isUnderWay(machine) && !(await mayGo(options, input, machine))) return true;
  if (!machine.isDeleting) await askForDeletion(options, input, machine);
  const deleting = await findMachine(kubernetes, input.machine);
  if (deleting?.uid !== machine.uid) return false;
  const group = (await findGroup(kubernetes, input))?.read.group ?? null;
  if (group === null) {
    throw notYet(
      `the machine ${machine.name} cannot be deleted while its NodeGroup is invalid or gone`,
      INVALID_RETRY_MS,
    );
  }
  const deletion = await deleteAtProvider(options, target, group, deleting);
  if (deletion.kind === 'going') throw notYet(deletion.detail, Math.max(deletion.retryAfterMs, PACE.first));
  if ((await findMachine(kubernetes, input.machine))?.uid !== machine.uid) return false;
  throw notYet(`the object of the machine ${machine.name} is kept by somebody else`, PACE);
}

/** Whether its deletion was asked for after its drain, or by somebody who wants none: there is no way back. */
function isUnderWay({ isDeleting, drainsFirst }: DrivenMachine): boolean {
  return isDeleting && !drainsFirst;
}

/**
 * Whether a machine may go, by its Node and the pods there, and not by what the caller says of them. One that has never become a Node
 * was not drained either: whoever drives it gives it up.
 */
async function mayGo(
  options: MachineOptions,
  { target, drained }: Parameters<typeof deleteMachine>[1],
  machine: DrivenMachine,
): Promise<boolean> {
  // Where nothing says which machine a Node is, it may be each that names it: none goes before the Node is drained.
  const node = (await nodesOfMachines(options.kubernetes, target.group, [machine])).nodeOf(machine);
  if (node === null) return machine.node !== null || machine.isDeleting || machine.phase === 'Deleting';
  if (drained !== undefined && drained.uid !== node.uid) return false;
  const of = { ...target, node: node.name, uid: node.uid };
  return await isDrained(options, of, node, drained?.reason);
}

/**
 * Whether the node is as its drain has left it and may go: hours may have passed since the last look, in which a person took it back, pods
 * came that nothing keeps from it, or the control plane lost sight of other nodes.
 */
async function isDrained(
  { kubernetes, now }: MachineOptions,
  target: DrainTarget,
  node: Node,
  reason: DisruptionReason | undefined,
): Promise<boolean> {
  const mark = markOf(node);
  if (!node.isCordoned || mark?.drain !== nodeDrainId(target)) return false;
  const isNodeReady = node.ready.status === 'True';
  if (reason === 'NotReady' && isNodeReady) return false;
  // As the drain asks: otherwise the one would end what the other begins anew.
  const pods = await podsOn(kubernetes, node.name);
  if (awaited({ pods, drainBegan: mark.startedAt, isNodeReady, at: now() }).length > 0) return false;
  return (await haltedNow(kubernetes, target, reason, now())) === null;
}

/** The size that is wanted goes down with it: otherwise another one would come in its place. */
async function askForDeletion(options: MachineOptions, input: GroupInput, machine: DrivenMachine): Promise<void> {
  const { kubernetes, now, guard } = options;
  const { group } = input.target;
  const all = await listMachines(kubernetes, group);
  const { nodeOf } = await nodesOfMachines(kubernetes, group, all);
  const node = nodeOf(machine);
  // Those that are drained at the same time go as well: counted as staying, they would be made up for.
  const staying = all.filter(
    (other) => other.name !== machine.name && isStaying(other) && !isLeaving(other, nodeOf(other)),
  );
  const at = formatInstant(now());
  await patchGroupStatus(options, input, ({ read }) =>
    read.group === null
      ? null
      : {
          desiredNodes: loweredDesired(read.group.desiredNodes, staying.length, read.group.minNodes),
          lastScaleTime: at,
          lastScaleDownTime: at,
        },
  );
  await reportOnGroup(options, input, {
    type: 'Normal',
    reason: 'ScalingDown',
    message: `deletes the machine ${machine.name}${machine.node === null ? '' : ` of the node ${machine.node}`}`,
    key: machine.uid,
  });
  await guard(input.target);
  // Before the deletion, which would otherwise be a person's request to drain it: after an end here its node may be taken back.
  await writeMachineStatus(kubernetes, machine, { phase: 'Deleting', deletedAt: at }, { now: now(), fresh: false });
  await guard(input.target);
  if (!(await deleteMachineObject(kubernetes, machine))) return;
  countScaleDown(group);
  countDecision('scale_down', group, 'drained');
  const drain = node === null ? null : markOf(node);
  if (drain !== null) recordDrain(group, now() - drain.startedAt);
}
