import { FIELD_MANAGER } from '../../domain/lights-out/schedule/names.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull } from '../kubernetes/failure.ts';
import { retryOnConflict } from '../kubernetes/retry-on-conflict.ts';
import type { ScheduleEvent } from './interface.ts';
import { readScheduleObject, SCHEDULES } from './read-cluster.ts';
import { scheduleMetadata } from './read-schedule-object.ts';
import { MERGE_PATCH } from './write-object.ts';

export interface ScheduleChange {
  /** Under `metadata` of the patch, beside the resourceVersion. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

/**
 * Computes a patch from the present schedule and merges it; null changes nothing. A schedule that is gone or has
 * another UID is left alone.
 *
 * @param part the whole object, or its subresource.
 */
export async function writeSchedule(
  kubernetes: Kubernetes,
  { target, scheduleUid }: Pick<ScheduleEvent, 'target' | 'scheduleUid'>,
  part: 'object' | 'status',
  changeOf: (object: unknown) => ScheduleChange | null,
): Promise<void> {
  const name = target.schedule;
  await retryOnConflict(`the LightsOutSchedule ${name}`, async () => {
    const object = await readScheduleObject(kubernetes, name);
    if (object === null) return;
    const { uid, resourceVersion } = scheduleMetadata(object);
    const change = uid === scheduleUid ? changeOf(object) : null;
    if (change === null) return;
    const body = { ...change, metadata: { ...change.metadata, uid, resourceVersion } };
    const request = { ...SCHEDULES, name, body, fieldManager: FIELD_MANAGER };
    // Null: the schedule was deleted meanwhile.
    if (part === 'object') await orNull(kubernetes.custom.patchClusterCustomObject(request, MERGE_PATCH));
    else await orNull(kubernetes.custom.patchClusterCustomObjectStatus(request, MERGE_PATCH));
  });
}
