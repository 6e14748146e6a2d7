/** What VPSieNodes say of machines at VPSie. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { GROUP, MACHINE_PLURAL, NAMESPACE, VERSION } from '../../../../domain/node-group/api/names.ts';
import type { MachinePhase } from '../../../../domain/node-group/model/node-group.ts';
import { readMachine } from '../../../../domain/node-group/api/machine.ts';
import { fieldsOf, textOf } from '../../../../domain/node-group/scheduling/read-pod.ts';
import { orNull } from '../../../kubernetes/failure.ts';
import type { Kubernetes } from '../../../kubernetes/kubernetes.ts';
import { listAll } from '../../../kubernetes/list.ts';
import { retryOnConflict } from '../../../kubernetes/retry-on-conflict.ts';
import type { ListedMachine } from './rest.ts';

/** A machine by its VPSieNode. */
export interface MachineKey {
  readonly name: string;
  readonly uid: string;
}

interface MachineObject {
  readonly resourceVersion: string;
  /** VPSie's identifier; null while none was adopted. */
  readonly identifier: string | null;
  /** It is on its way out: nothing is made for it any more. */
  readonly isLeaving: boolean;
}

const PLACE = { group: GROUP, version: VERSION, plural: MACHINE_PLURAL, namespace: NAMESPACE } as const;
const LEAVING: ReadonlySet<MachinePhase> = new Set(['Terminating', 'Deleting', 'Failed']);
const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** Null where it does not exist any more, or another one has its name. */
export async function readObject(
  { custom }: Pick<Kubernetes, 'custom'>,
  { name, uid }: MachineKey,
): Promise<MachineObject | null> {
  const object: unknown = await orNull(custom.getNamespacedCustomObject({ ...PLACE, name }));
  const machine = readMachine(object);
  if (object === null || machine.uid !== uid) return null;
  return {
    resourceVersion: machine.resourceVersion,
    identifier: identifiersOf(object)[0] ?? null,
    isLeaving: machine.isDeleting || LEAVING.has(machine.phase),
  };
}

/**
 * Writes down which machine at VPSie it is, and the name that its Node will have, in one write. What is written first remains.
 *
 * @returns the identifier that is written there now; null where the VPSieNode is gone.
 */
export async function recordMachine(
  { custom }: Pick<Kubernetes, 'custom'>,
  machine: MachineKey,
  { identifier, id, hostname }: ListedMachine,
): Promise<string | null> {
  const { name, uid } = machine;
  return await retryOnConflict(`the VPSieNode ${name}`, async () => {
    const object = await readObject({ custom }, machine);
    if (object === null || object.identifier !== null) return object?.identifier ?? null;
    const spec = {
      vpsieNodeIdentifier: identifier,
      ...(id === null ? {} : { vpsieInstanceID: id }),
      ...(hostname === '' ? {} : { nodeName: hostname }),
    };
    const body = { metadata: { uid, resourceVersion: object.resourceVersion }, spec };
    const written = custom.patchNamespacedCustomObject({ ...PLACE, name, body }, MERGE_PATCH);
    return (await orNull<unknown>(written)) === null ? null : identifier;
  });
}

/** The identifiers that each VPSieNode has, by its UID. */
export async function recordedIdentifiers({
  custom,
}: Pick<Kubernetes, 'custom'>): Promise<ReadonlyMap<string, readonly string[]>> {
  const objects = await listAll<object>(async ({ limit, _continue }) => {
    const page = { ...PLACE, limit, ...(_continue === undefined ? {} : { _continue }) };
    const list = fieldsOf(await custom.listNamespacedCustomObject(page));
    const token = textOf(fieldsOf(list['metadata'])['continue']);
    return { items: Array.isArray(list['items']) ? list['items'] : [], metadata: { _continue: token } };
  });
  return new Map(objects.map((object) => [readMachine(object).uid, identifiersOf(object)]));
}

/** The identifiers that VPSieNodes have, all of them: what one of them has is no new machine. */
export async function claimedIdentifiers(kubernetes: Pick<Kubernetes, 'custom'>): Promise<ReadonlySet<string>> {
  return new Set([...(await recordedIdentifiers(kubernetes)).values()].flat());
}

/** In either of the fields that the first implementation and we ourselves write. */
function identifiersOf(object: unknown): readonly string[] {
  const whole = fieldsOf(object);
  const written = [fieldsOf(whole['spec'])['vpsieNodeIdentifier'], fieldsOf(whole['status'])['providerID']];
  return written.map((value) => textOf(value)).filter((identifier) => identifier !== '');
}
