/**
 * How a NodeGroup holds its machines: by a label with its UID, and never by an ownerReference. The garbage collector deletes what is
 * owned all at once, and asks nobody whether pods still run on it (ADR 80).
 */
import { isGroup } from '../api/holder.ts';
import { GROUP_LABEL, GROUP_UID_LABEL, MACHINE_FINALIZER } from '../api/names.ts';
import type { NodeGroup } from '../model/node-group.ts';
import type { DrivenMachine } from './driven-machine.ts';

/** Whether a machine is of exactly this NodeGroup. One that nobody holds by the label is of its owner, or of the group of its name. */
export function isOfGroup(
  { heldBy, ownerReferences, group }: Pick<DrivenMachine, 'heldBy' | 'ownerReferences' | 'group'>,
  name: string,
  uid: string,
): boolean {
  if (heldBy !== null) return heldBy === uid;
  const owners = ownerReferences.filter(isGroup);
  return owners.length === 0 ? group === name : owners.some((owner) => owner['uid'] === uid);
}

/** Whether a group lets go of its machines. */
export function isOrphaning({ isDeleting, deletionPolicy }: Pick<NodeGroup, 'isDeleting' | 'deletionPolicy'>): boolean {
  return isDeleting && deletionPolicy === 'Orphan';
}

/** What is written onto a machine's object so that the group holds it; null where it does. */
export function holdPatch(
  { heldBy, finalizers, ownerReferences, isDeleting, isDrainRequested }: DrivenMachine,
  { name, uid }: { readonly name: string; readonly uid: string },
) {
  if (heldBy === uid) return null;
  // The API server takes no finalizer of an object that is being deleted.
  const isKept = isDeleting || isDrainRequested || finalizers.includes(MACHINE_FINALIZER);
  return {
    labels: { [GROUP_LABEL]: name, [GROUP_UID_LABEL]: uid },
    ownerReferences: ownerReferences.filter((owner) => !isGroup(owner)),
    ...(isKept ? {} : { finalizers: [...finalizers, MACHINE_FINALIZER] }),
  };
}

/** What is written onto a machine's object so that no group holds it, and nobody is asked when it is deleted; null for one that goes. */
export function letGoPatch({ finalizers, ownerReferences, isDeleting, phase }: DrivenMachine) {
  if (isDeleting || phase === 'Failed') return null;
  return {
    labels: { [GROUP_UID_LABEL]: null },
    ownerReferences: ownerReferences.filter((owner) => !isGroup(owner)),
    finalizers: finalizers.filter((finalizer) => finalizer !== MACHINE_FINALIZER),
  };
}
