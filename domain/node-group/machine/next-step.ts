import { VPSIENODE_LABEL } from '../api/names.ts';
import { markOf } from '../drain/marks.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { laterOver } from '../rules/fill-later.ts';
import { overdueReason } from '../rules/overdue.ts';
import type { DrivenMachine } from './driven-machine.ts';
import { unknownOwner } from './machine-node.ts';

/** What to do next about a machine. Details are sentences for people. */
export type MachineStep<T extends Node = Node> =
  /** It is a node of the group. */
  | { readonly kind: 'settled' }
  /** Somebody has deleted its object: delete it at the provider. */
  | { readonly kind: 'delete' }
  /**
   * Delete its object. `failed`: its group backs off, since nothing came of a request; not so where its node has been there, or where
   * the group is being deleted.
   */
  | { readonly kind: 'giveUp'; readonly detail: string; readonly failed: boolean }
  /** Ask the provider for it. */
  | { readonly kind: 'ask' }
  /** Wait for its node. */
  | { readonly kind: 'await'; readonly detail: string }
  /** Its node has registered: give it what the group gives its nodes. */
  | { readonly kind: 'join'; readonly node: T; readonly isReady: boolean; readonly detail: string }
  /** Its node was there and is gone: it may register again. */
  | { readonly kind: 'lost'; readonly detail: string };

/**
 * What to do next about a machine of a group. It depends on the objects alone, so that whoever asks again after an end goes on.
 *
 * @param node the Node that it has become, or may have; null where there is none.
 * @param owners all machines that may have become that Node.
 */
export function nextMachineStep<T extends Node>(
  machine: DrivenMachine,
  node: T | null,
  group: Pick<NodeGroup, 'isDeleting' | 'maxNodeProvisionMs' | 'taints'>,
  now: EpochMs,
  owners: readonly Pick<DrivenMachine, 'name'>[] = [machine],
): MachineStep<T> {
  const { name, phase, readyAt, providerId, hostname } = machine;
  // Whoever deletes the object asks for its Node to be drained, which is the plan's matter; it may not be known yet which Node that is.
  const isToDrain = node !== null && (machine.drainsFirst || isTakenBack(machine, node));
  if (!isToDrain && (machine.isDeleting || machine.isDrainRequested)) return { kind: 'delete' };
  if (phase === 'Failed') return { kind: 'giveUp', detail: machine.lastError || 'it failed', failed: readyAt === null };
  // It is just about to go: its drain has ended, and takes the marks back where it stays after all.
  if (phase === 'Deleting' && node !== null && markOf(node) !== null) return { kind: 'settled' };
  if (node !== null) return stepWithNode(machine, node, group, now, owners);
  // A group that is being deleted gives back its nodes one by one; what has never been one has no pods.
  if (group.isDeleting && readyAt === null)
    return { kind: 'giveUp', detail: 'its NodeGroup is being deleted', failed: false };
  // The VPSie autoscaler's last phases end with the object; one that has them and is not being deleted was left behind.
  if (phase === 'Ready' || phase === 'Terminating' || phase === 'Deleting') {
    return { kind: 'lost', detail: `the Node ${machine.node ?? `of ${name}`} is gone` };
  }
  const late = lateness(machine, group, now);
  if (late !== null) return { kind: 'giveUp', detail: late, failed: readyAt === null };
  // Without the name of its node, which a provider may say later than that of the machine, the node would not be found.
  return providerId === null || hostname === ''
    ? { kind: 'ask' }
    : { kind: 'await', detail: `${name} has not registered as a node yet` };
}

/**
 * Whether the drain of its Node was given up after the machine had said that it goes. Where its object was deleted then, that was a person,
 * and nothing has drained the Node: ready again, it is drained as any other. A kubelet may register once more while its machine goes.
 */
export function isTakenBack(
  { phase, phaseSince, goesUndrained }: Pick<DrivenMachine, 'phase' | 'phaseSince' | 'goesUndrained'>,
  node: Pick<Node, 'annotations' | 'createdAt'>,
): boolean {
  return phase === 'Deleting' && !goesUndrained && markOf(node) === null && node.createdAt <= phaseSince;
}

function stepWithNode<T extends Node>(
  machine: DrivenMachine,
  node: T,
  group: Pick<NodeGroup, 'isDeleting' | 'maxNodeProvisionMs' | 'taints'>,
  now: EpochMs,
  owners: readonly Pick<DrivenMachine, 'name'>[],
): MachineStep<T> {
  // A kubelet that registers once more makes a Node without what its group had put on it.
  const unknown = unknownOwner(node, owners);
  const isNew = node.createdAt > (machine.readyAt ?? node.createdAt) && node.labels[VPSIENODE_LABEL] === undefined;
  const isRenamed = machine.node !== null && machine.node !== node.name;
  const isSettled = !isNew && !isRenamed && laterOver(node, group, now).length === 0;
  if (machine.phase === 'Ready' && (isSettled || unknown !== null)) return { kind: 'settled' };
  if (unknown !== null) return { kind: 'await', detail: unknown };
  const isReady = node.ready.status === 'True';
  const late = isReady ? null : lateness(machine, group, now);
  if (late !== null) return { kind: 'giveUp', detail: late, failed: machine.readyAt === null };
  return { kind: 'join', node, isReady, detail: `the Node ${node.name} of ${machine.name} is not ready yet` };
}

/** A provider that is asked for one machine a time may have hundreds before it. In milliseconds. */
const QUEUED_MS = 3_600_000;

/**
 * A machine has its time from when the provider was asked for it; one whose node was ready once, from when that was lost; and one that
 * waits for its turn an hour at least.
 */
function lateness(
  machine: DrivenMachine,
  { maxNodeProvisionMs }: Pick<NodeGroup, 'maxNodeProvisionMs'>,
  now: EpochMs,
): string | null {
  const { readyAt, askedAt, phase, phaseSince, createdAt } = machine;
  const began = readyAt === null ? (askedAt ?? createdAt) : phaseSince;
  const limit = phase === 'Pending' && askedAt === null ? Math.max(maxNodeProvisionMs, QUEUED_MS) : maxNodeProvisionMs;
  return overdueReason({ ...machine, createdAt: began }, limit, now);
}
