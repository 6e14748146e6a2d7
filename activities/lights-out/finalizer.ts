import { FINALIZER } from '../../domain/lights-out/schedule/names.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import type { LightsOutActivities } from './interface.ts';
import { scheduleMetadata } from './read-schedule-object.ts';
import { writeSchedule } from './write-schedule.ts';

type FinalizerInput = Parameters<LightsOutActivities['ensureFinalizer']>[0];

/**
 * Adds or removes the finalizer and keeps those of others. An object that is being deleted accepts no new finalizers.
 */
export async function ensureFinalizer(kubernetes: Kubernetes, input: FinalizerInput): Promise<void> {
  const { isPresent } = input;
  await writeSchedule(kubernetes, input, 'object', (object) => {
    const { finalizers, deletionTimestamp } = scheduleMetadata(object);
    if (finalizers.includes(FINALIZER) === isPresent || (isPresent && deletionTimestamp !== undefined)) return null;
    const others = finalizers.filter((name) => name !== FINALIZER);
    return { metadata: { finalizers: isPresent ? [...others, FINALIZER] : others } };
  });
}
