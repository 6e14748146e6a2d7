import { FIELD_MANAGER, FINALIZER } from '../../domain/lights-out/names.ts';
import type { Kubernetes } from '../ports/kubernetes.ts';
import { statusCode } from '../ports/kubernetes-failure.ts';
import type { LightsOutActivities } from './interface.ts';
import { readScheduleObject, SCHEDULES } from './read-cluster.ts';
import { scheduleMetadata } from './read-schedule-object.ts';
import { MERGE_PATCH } from './write-object.ts';

type FinalizerInput = Parameters<LightsOutActivities['ensureFinalizer']>[0];

/** How often it is read anew when others write the schedule at the same time. */
const ROUNDS = 5;

/** Puts the finalizer on or takes it off, and leaves those of others. One that is being deleted takes no new ones. */
export async function ensureFinalizer(
  kubernetes: Kubernetes,
  { target, scheduleUid, isPresent }: FinalizerInput,
): Promise<void> {
  const name = target.schedule;
  for (let round = 0; ; round += 1) {
    const object = await readScheduleObject(kubernetes, name);
    if (object === null) return;
    const { uid, resourceVersion, finalizers, deletionTimestamp } = scheduleMetadata(object);
    if (uid !== scheduleUid || finalizers.includes(FINALIZER) === isPresent) return;
    if (isPresent && deletionTimestamp !== undefined) return;
    const others = finalizers.filter((one) => one !== FINALIZER);
    const body = { metadata: { uid, resourceVersion, finalizers: isPresent ? [...others, FINALIZER] : others } };
    try {
      await kubernetes.custom.patchClusterCustomObject(
        { ...SCHEDULES, name, body, fieldManager: FIELD_MANAGER },
        MERGE_PATCH,
      );
      return;
    } catch (error) {
      if (statusCode(error) === 404) return;
      if (statusCode(error) !== 409 || round === ROUNDS) throw error;
    }
  }
}
