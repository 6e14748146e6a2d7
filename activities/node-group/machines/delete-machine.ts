import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { isRecord } from '../../../domain/kernel/record.ts';
import { notYet } from '../../kernel/not-yet.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { MACHINES } from './machine-objects.ts';

/** A provider deletes a machine within seconds or minutes. */
const PACE: PollPace = { first: 1_000, last: 15_000, ramp: 120_000 };

/**
 * Deletes the object of a machine if it belongs to this NodeGroup, and returns once it is gone.
 *
 * @param groupUid an object of another group, or of one that was created again under the same name, is left alone.
 * @param guard throws while nothing may be written.
 */
export async function deleteMachine(
  { custom }: Pick<Kubernetes, 'custom'>,
  { machine, groupUid }: { readonly machine: string; readonly groupUid: string },
  guard: () => Promise<void>,
): Promise<void> {
  const place = { ...MACHINES, name: machine };
  const object: unknown = await orNull(custom.getNamespacedCustomObject(place));
  const metadata = isRecord(object) && isRecord(object['metadata']) ? object['metadata'] : null;
  if (metadata === null || !isOwnedBy(metadata['ownerReferences'], groupUid)) return;
  if (metadata['deletionTimestamp'] === undefined) {
    await guard();
    const uid = String(metadata['uid']);
    await orNull(custom.deleteNamespacedCustomObject({ ...place, body: { preconditions: { uid } } }));
  }
  if ((await orNull(custom.getNamespacedCustomObject(place))) === null) return;
  throw notYet(`the machine ${machine} is being deleted`, PACE);
}

function isOwnedBy(references: unknown, uid: string): boolean {
  return Array.isArray(references) && references.some((reference) => isRecord(reference) && reference['uid'] === uid);
}
