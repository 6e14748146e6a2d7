import { counted } from '../../domain/lights-out/decide/sentences.ts';
import { FINALIZER } from '../../domain/lights-out/schedule/names.ts';
import { failure } from '../kernel/failure.ts';
import type { LightsOutActivities } from './interface.ts';
import { type ObserveOptions, observeSchedule } from './observe-schedule.ts';
import { scheduleMetadata } from './read-schedule-object.ts';
import { writeSchedule } from './write-schedule.ts';

type FinalizerInput = Parameters<LightsOutActivities['ensureFinalizer']>[0];

/**
 * Adds or removes the finalizer and keeps those of others. An object that is being deleted accepts no new finalizers, and any other keeps
 * its own.
 *
 * @param options with a view that lists.
 * @throws PolicyChanged, not retried, where it is to be removed and the schedule still has to wake something.
 */
export async function ensureFinalizer(options: ObserveOptions, input: FinalizerInput): Promise<void> {
  const { isPresent } = input;
  if (!isPresent) await ensureAwake(options, input);
  await writeSchedule(options.kubernetes, input, 'object', (object) => {
    const { finalizers, deletionTimestamp } = scheduleMetadata(object);
    const isDeleting = deletionTimestamp !== undefined;
    if (finalizers.includes(FINALIZER) === isPresent || isPresent === isDeleting) return null;
    const others = finalizers.filter((name) => name !== FINALIZER);
    return { metadata: { finalizers: isPresent ? [...others, FINALIZER] : others } };
  });
}

/** By an observation of its own: what the workflow has seen is what its caller says. */
async function ensureAwake(options: ObserveOptions, { target, scheduleUid }: FinalizerInput): Promise<void> {
  const { schedule, plan } = await observeSchedule(options, {
    target,
    overrides: [],
    inEffect: null,
    isApproved: false,
    completedAt: null,
    contested: {},
    failing: [],
  });
  const left = plan?.total ?? 0;
  if (schedule?.uid !== scheduleUid || !schedule.isDeleting || left === 0) return;
  const message = `the finalizer stays: the schedule has to wake ${counted(left, 'workload')} first`;
  throw failure({ type: 'PolicyChanged', message, nonRetryable: true });
}
