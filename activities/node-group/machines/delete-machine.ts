import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { markOf } from '../../../domain/node-group/drain/marks.ts';
import { awaited } from '../../../domain/node-group/drain/drain-progress.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { isOfGroup } from '../../../domain/node-group/machine/hold.ts';
import { isTakenBack } from '../../../domain/node-group/machine/next-step.ts';
import { scaledAt } from '../../../domain/node-group/rules/desired.ts';
import { loweredFor } from '../../../domain/node-group/rules/lowered-for.ts';
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
import { deleteMachineObject, findMachine, listMachines, writeMachineStatus } from './machine-objects.ts';
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
  const node = await nodeNow(options, input, machine);
  if (!isUnderWay(machine, node)) {
    if (!(await mayGo(options, input, machine, node))) return true;
    if (!machine.isDeleting) await askForDeletion(options, input, machine, node);
  }
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
function isUnderWay(machine: DrivenMachine, node: Node | null): boolean {
  return machine.isDeleting && !machine.drainsFirst && (node === null || !isTakenBack(machine, node));
}

/** Where nothing says which machine a Node is, it may be each that names it: none goes before the Node is drained. */
async function nodeNow({ kubernetes }: MachineOptions, { target }: GroupInput, machine: DrivenMachine) {
  return (await nodesOfMachines(kubernetes, target.group, [machine])).nodeOf(machine);
}

/**
 * Whether a machine may go, by its Node and the pods there, and not by what the caller says of them. One that has never become a Node
 * was not drained either: whoever drives it gives it up.
 */
async function mayGo(
  options: MachineOptions,
  { target, drained }: Parameters<typeof deleteMachine>[1],
  machine: DrivenMachine,
  node: Node | null,
): Promise<boolean> {
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
  { kubernetes, clock }: MachineOptions,
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
  if (awaited({ pods, drainBegan: mark.startedAt, isNodeReady, at: clock.now() }).length > 0) return false;
  return (await haltedNow(kubernetes, target, reason, clock.now())) === null;
}

/** The size that is wanted goes down with it: otherwise another one would come in its place. */
async function askForDeletion(
  options: MachineOptions,
  input: GroupInput,
  machine: DrivenMachine,
  node: Node | null,
): Promise<void> {
  const { kubernetes, clock, guard } = options;
  const { group } = input.target;
  const at = clock.now();
  const sayDeleting = async (): Promise<void> => {
    await guard(input.target);
    const change = { phase: 'Deleting', deletedAt: formatInstant(at) } as const;
    await writeMachineStatus(kubernetes, machine, change, { now: at, fresh: false });
  };
  // Before the size is lowered, so that whoever lowers it for another machine from then on does not count this one; and before the deletion,
  // which would otherwise be a person's request to drain it: after an end here its node may be taken back.
  if (!machine.drainsFirst) await sayDeleting();
  // Written where it says so already, too: whoever has read the group before sees that the machine goes again.
  await patchGroupStatus(options, input, async ({ read, status }) =>
    read.group === null
      ? null
      : {
          ...loweredFor(status, read.group, [machine], await listMachines(kubernetes, group)),
          ...scaledAt('Down', at),
        },
  );
  await reportOnGroup(options, input, {
    type: 'Normal',
    reason: 'ScalingDown',
    message: `deletes the machine ${machine.name}${machine.node === null ? '' : ` of the node ${machine.node}`}`,
    key: machine.uid,
  });
  // One that a person has deleted is under way for good from here on, and nobody counts it anyhow.
  if (machine.drainsFirst) await sayDeleting();
  await guard(input.target);
  if (!(await deleteMachineObject(kubernetes, machine))) return;
  countScaleDown(group);
  countDecision('scale_down', group, 'drained');
  const drain = node === null ? null : markOf(node);
  if (drain !== null) recordDrain(group, clock.now() - drain.startedAt);
}
