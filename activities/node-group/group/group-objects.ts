/** Reads and writes NodeGroups. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { GROUP, NAMESPACE, PLURAL, VERSION } from '../../../domain/node-group/api/names.ts';
import { type ReadNodeGroup, readNodeGroup } from '../../../domain/node-group/api/read-node-group.ts';
import { fieldsOf } from '../../../domain/node-group/scheduling/read-pod.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import type { GroupInput } from '../interface.ts';
import type { MachineOptions } from '../machines/options.ts';

const GROUPS = { group: GROUP, version: VERSION, plural: PLURAL, namespace: NAMESPACE } as const;
export const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

type Fields = Readonly<Record<string, unknown>>;

export interface SeenGroupObject {
  readonly read: ReadNodeGroup;
  readonly status: Fields;
  readonly finalizers: readonly string[];
}

/** The group of an activity; null where it is gone, or another one has its name. */
export async function findGroup(
  kubernetes: Pick<Kubernetes, 'custom'>,
  { target, uid }: GroupInput,
): Promise<SeenGroupObject | null> {
  const object = await getGroup(kubernetes, target.group);
  const read = readObject(object);
  if (read.uid !== uid) return null;
  const { status, metadata } = fieldsOf(object);
  const { finalizers } = fieldsOf(metadata);
  return {
    read,
    status: fieldsOf(status),
    finalizers: Array.isArray(finalizers) ? finalizers.map(String) : [],
  };
}

/** Whichever group has the name now; without a group and a UID where none has. */
export async function readGroup(kubernetes: Pick<Kubernetes, 'custom'>, name: string): Promise<ReadNodeGroup> {
  return readObject(await getGroup(kubernetes, name));
}

async function getGroup({ custom }: Pick<Kubernetes, 'custom'>, name: string): Promise<unknown> {
  return await orNull<unknown>(custom.getNamespacedCustomObject({ ...GROUPS, name }));
}

/** Whether a group acts is decided by whoever calls; here only what the object itself says counts. */
function readObject(object: unknown): ReadNodeGroup {
  return readNodeGroup(object, { mode: 'act' });
}

/**
 * Changes the status of a group by what it is now.
 *
 * @param change what to write, as a merge patch; null: nothing. What it reads is as the group is that is written: where somebody else has
 *   written it meanwhile, it is asked again.
 * @returns the group as it was read last; null where it is gone.
 */
export async function patchGroupStatus(
  { kubernetes, guard }: Pick<MachineOptions, 'kubernetes' | 'guard'>,
  input: GroupInput,
  change: (seen: SeenGroupObject) => Fields | null | Promise<Fields | null>,
): Promise<SeenGroupObject | null> {
  const name = input.target.group;
  return await retryOnConflict(`the NodeGroup ${name}`, async () => {
    const seen = await findGroup(kubernetes, input);
    const status = seen === null ? null : await change(seen);
    if (seen === null || status === null) return seen;
    await guard(input.target);
    const { uid, resourceVersion } = seen.read;
    const body = { metadata: { uid, resourceVersion }, status };
    await orNull(kubernetes.custom.patchNamespacedCustomObjectStatus({ ...GROUPS, name, body }, MERGE_PATCH));
    return seen;
  });
}

/** Changes the finalizers of a group by what they are now; null: nothing. */
export async function patchGroupFinalizers(
  { kubernetes, guard }: Pick<MachineOptions, 'kubernetes' | 'guard'>,
  input: GroupInput,
  change: (seen: SeenGroupObject) => readonly string[] | null,
): Promise<SeenGroupObject | null> {
  const name = input.target.group;
  return await retryOnConflict(`the NodeGroup ${name}`, async () => {
    const seen = await findGroup(kubernetes, input);
    const finalizers = seen === null ? null : change(seen);
    if (seen === null || finalizers === null) return seen;
    await guard(input.target);
    const { uid, resourceVersion } = seen.read;
    const body = { metadata: { uid, resourceVersion, finalizers } };
    await orNull(kubernetes.custom.patchNamespacedCustomObject({ ...GROUPS, name, body }, MERGE_PATCH));
    return seen;
  });
}
