/** What VPSieNodes say of machines at VPSie. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { GROUP, MACHINE_PLURAL, NAMESPACE, UNCLEAR, VERSION } from '../../../../domain/node-group/api/names.ts';
import type { MachinePhase } from '../../../../domain/node-group/model/node-group.ts';
import { readMachine } from '../../../../domain/node-group/api/machine.ts';
import { fieldsOf, labelsOf, textOf } from '../../../../domain/node-group/scheduling/read-pod.ts';
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
  /** Why it is not known which machine was made for it, a sentence; null where that is not so. */
  readonly unclear: string | null;
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
    unclear: labelsOf(fieldsOf(fieldsOf(object)['metadata'])['annotations'])[UNCLEAR] ?? null,
    isLeaving: machine.isDeleting || LEAVING.has(machine.phase),
  };
}

/**
 * Writes down which machine at VPSie it is, in which group there, and the name that its Node will have, in one write. What is written
 * first remains.
 *
 * @param group of VPSie.
 * @returns the identifier that is written there now; null where the VPSieNode is gone.
 */
export async function recordMachine(
  { custom }: Pick<Kubernetes, 'custom'>,
  machine: MachineKey,
  group: number,
  { identifier, id, hostname }: ListedMachine,
): Promise<string | null> {
  const { name, uid } = machine;
  return await retryOnConflict(`the VPSieNode ${name}`, async () => {
    const object = await readObject({ custom }, machine);
    if (object === null || object.identifier !== null) return object?.identifier ?? null;
    const spec = {
      vpsieNodeIdentifier: identifier,
      vpsieGroupID: group,
      ...(id === null ? {} : { vpsieInstanceID: id }),
      ...(hostname === '' ? {} : { nodeName: hostname }),
    };
    const body = { metadata: { uid, resourceVersion: object.resourceVersion }, spec };
    const written = custom.patchNamespacedCustomObject({ ...PLACE, name, body }, MERGE_PATCH);
    return (await orNull<unknown>(written)) === null ? null : identifier;
  });
}

/** Writes down that it is not known which machine was made for it: none is asked for any more. */
export async function recordUnclear(
  { custom }: Pick<Kubernetes, 'custom'>,
  machine: MachineKey,
  detail: string,
): Promise<void> {
  const { name, uid } = machine;
  await retryOnConflict(`the VPSieNode ${name}`, async () => {
    // One of the same name that is another one is none of this request's.
    const object = await readObject({ custom }, machine);
    if (object === null) return;
    const { resourceVersion } = object;
    const body = { metadata: { uid, resourceVersion, annotations: { [UNCLEAR]: detail } } };
    await orNull<unknown>(custom.patchNamespacedCustomObject({ ...PLACE, name, body }, MERGE_PATCH));
  });
}

/** What a VPSieNode says of its machine at VPSie. */
export interface RecordedMachine {
  readonly identifiers: readonly string[];
  /** VPSie's group; null where it is not written there. */
  readonly group: number | null;
}

/** What all VPSieNodes say, by their UIDs. */
export async function recordedMachines({
  custom,
}: Pick<Kubernetes, 'custom'>): Promise<ReadonlyMap<string, RecordedMachine>> {
  const objects = await listAll<object>(async ({ limit, _continue }) => {
    const page = { ...PLACE, limit, ...(_continue === undefined ? {} : { _continue }) };
    const list = fieldsOf(await custom.listNamespacedCustomObject(page));
    const token = textOf(fieldsOf(list['metadata'])['continue']);
    return { items: Array.isArray(list['items']) ? list['items'] : [], metadata: { _continue: token } };
  });
  return new Map(
    objects.map((object) => {
      const { vpsieGroupID: group } = fieldsOf(fieldsOf(object)['spec']);
      const machine = { identifiers: identifiersOf(object), group: typeof group === 'number' ? group : null };
      return [readMachine(object).uid, machine];
    }),
  );
}

/** The identifiers that VPSieNodes have, all of them: what one of them has is no new machine. */
export async function claimedIdentifiers(kubernetes: Pick<Kubernetes, 'custom'>): Promise<ReadonlySet<string>> {
  return new Set([...(await recordedMachines(kubernetes)).values()].flatMap(({ identifiers }) => identifiers));
}

/** In either of the fields that the VPSie autoscaler and we ourselves write. */
function identifiersOf(object: unknown): readonly string[] {
  const whole = fieldsOf(object);
  const written = [fieldsOf(whole['spec'])['vpsieNodeIdentifier'], fieldsOf(whole['status'])['providerID']];
  return written.map((value) => textOf(value)).filter((identifier) => identifier !== '');
}
