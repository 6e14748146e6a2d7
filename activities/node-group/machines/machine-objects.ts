/** Reads and writes VPSieNodes. */
import type { KubernetesListObject, KubernetesObject } from '@kubernetes/client-node';
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import {
  GROUP,
  GROUP_LABEL,
  MACHINE_FINALIZER,
  MACHINE_PLURAL,
  NAMESPACE,
  VERSION,
} from '../../../domain/node-group/api/names.ts';
import { type DrivenMachine, readDrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { MachinePhase } from '../../../domain/node-group/model/node-group.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import { MERGE_PATCH } from '../group/group-objects.ts';

/** Where the objects of machines are. */
export const MACHINES = { group: GROUP, version: VERSION, plural: MACHINE_PLURAL, namespace: NAMESPACE } as const;

type Custom = Pick<Kubernetes, 'custom'>;

export async function listMachines(kubernetes: Custom, group: string): Promise<readonly DrivenMachine[]> {
  const machines = await listOf(kubernetes, { labelSelector: `${GROUP_LABEL}=${group}` });
  return machines.filter((machine) => machine.group === group);
}

/** Those too that have lost the label of their group: plans have them all the same. */
export async function listAllMachines(kubernetes: Custom, group: string): Promise<readonly DrivenMachine[]> {
  return (await listEveryMachine(kubernetes)).filter((machine) => machine.group === group);
}

/** The machines of all groups. */
export async function listEveryMachine(kubernetes: Custom): Promise<readonly DrivenMachine[]> {
  return await listOf(kubernetes, {});
}

async function listOf(
  { custom }: Custom,
  selection: { readonly labelSelector?: string },
): Promise<readonly DrivenMachine[]> {
  const objects = await listAll<KubernetesObject>(async (range) => {
    const page: unknown = await custom.listNamespacedCustomObject({ ...MACHINES, ...range, ...selection });
    // Custom resources come as plain JSON, where the token has its own name.
    const { items, metadata } = page as KubernetesListObject<KubernetesObject> & { metadata?: { continue?: string } };
    return { items, metadata: metadata?.continue === undefined ? {} : { _continue: metadata.continue } };
  });
  return objects.map(readDrivenMachine);
}

/** Null for one that does not exist. */
export async function findMachine({ custom }: Custom, name: string): Promise<DrivenMachine | null> {
  const object: unknown = await orNull(custom.getNamespacedCustomObject({ ...MACHINES, name }));
  return object === null ? null : readDrivenMachine(object);
}

/** What is written about a machine. */
interface MachineChange {
  readonly phase: MachinePhase;
  readonly providerID?: string;
  readonly hostname?: string;
  readonly nodeName?: string | null;
  /** When the provider was asked for it first. */
  readonly createdAt?: string;
  readonly provisionedAt?: string;
  readonly joinedAt?: string;
  readonly readyAt?: string;
  readonly lastError?: string | null;
  readonly deletedAt?: string;
}

/**
 * Writes the status of exactly this machine; one that is gone needs none.
 *
 * @param options `fresh`: a machine that somebody wrote since it was read is a conflict (409).
 */
export async function writeMachineStatus(
  { custom }: Custom,
  { name, uid, resourceVersion, phase }: DrivenMachine,
  change: MachineChange,
  { now, fresh = true }: { readonly now: EpochMs; readonly fresh?: boolean },
): Promise<void> {
  const since = change.phase === phase ? {} : { phaseSince: formatInstant(now) };
  const body = {
    metadata: { uid, ...(fresh ? { resourceVersion } : {}) },
    status: { ...change, ...since },
  };
  await orNull(custom.patchNamespacedCustomObjectStatus({ ...MACHINES, name, body }, MERGE_PATCH));
}

/** Asks for the deletion of exactly this machine's object. @returns whether it was there. */
export async function deleteMachineObject(
  { custom }: Custom,
  { name, uid }: Pick<DrivenMachine, 'name' | 'uid'>,
): Promise<boolean> {
  const answer: unknown = await orNull(
    custom.deleteNamespacedCustomObject({ ...MACHINES, name, body: { preconditions: { uid } } }),
  );
  return answer !== null;
}

/**
 * Changes the metadata of exactly this machine's object by what it is now.
 *
 * @param change what to write, as a merge patch; null: nothing.
 */
export async function patchMachineMetadata(
  kubernetes: Custom,
  { name, uid }: Pick<DrivenMachine, 'name' | 'uid'>,
  change: (machine: DrivenMachine) => Readonly<Record<string, unknown>> | null,
): Promise<void> {
  await retryOnConflict(`the VPSieNode ${name}`, async () => {
    const machine = await findMachine(kubernetes, name);
    const metadata = machine?.uid === uid ? change(machine) : null;
    if (machine === null || metadata === null) return;
    const body = { metadata: { ...metadata, uid, resourceVersion: machine.resourceVersion } };
    await orNull(kubernetes.custom.patchNamespacedCustomObject({ ...MACHINES, name, body }, MERGE_PATCH));
  });
}

/** Lets go of a machine that is gone at its provider. */
export async function takeFinalizerOff(kubernetes: Custom, machine: DrivenMachine): Promise<void> {
  await patchMachineMetadata(kubernetes, machine, ({ finalizers }) =>
    finalizers.includes(MACHINE_FINALIZER)
      ? { finalizers: finalizers.filter((finalizer) => finalizer !== MACHINE_FINALIZER) }
      : null,
  );
}
