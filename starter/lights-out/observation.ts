/** The activity that observes a schedule from this starter's caches. */
import { asyncLocalStorage } from '@temporalio/activity';
import type { LightsOutCacheActivities } from '../../activities/lights-out/interface.ts';
import { type ObserveOptions, observeSchedule } from '../../activities/lights-out/observe-schedule.ts';
import { failure } from '../../activities/kernel/failure.ts';
import { notYet } from '../../activities/kernel/not-yet.ts';
import { withKubernetesFailures } from '../../activities/kubernetes/failure.ts';
import type { ScheduleWatch } from './watch.ts';

/** How long an attempt waits for a cache that is behind, in milliseconds; then another starter may be asked. */
const BEHIND_MS = 5_000;
const AGAIN_MS = 500;

export interface CachedObservationOptions extends Omit<ObserveOptions, 'view' | 'calendars'> {
  readonly cluster: string;
  readonly watch: Pick<ScheduleWatch, 'informers' | 'trouble' | 'view' | 'calendars'>;
}

/** @throws NotYet, retried, while a cache is being filled, is not connected, or is behind `observeInput.atLeast`. */
export function createCachedObservation(options: CachedObservationOptions): LightsOutCacheActivities {
  const { cluster, watch } = options;
  const assertConnected = (): void => {
    const trouble = watch.trouble();
    if (trouble !== null) throw notYet(trouble, AGAIN_MS);
  };
  const observing: ObserveOptions = {
    ...options,
    calendars: async () => {
      assertConnected();
      return watch.calendars();
    },
    view: async ({ target, atLeast = {} }) => {
      assertConnected();
      const signal = limit();
      for (const [resource, version] of Object.entries(atLeast)) {
        const isThere = (await watch.informers[resource]?.observed(version, signal)) ?? true;
        if (!isThere) throw notYet(`the watch of ${resource} is behind the last write`, AGAIN_MS);
      }
      return watch.view(target.schedule);
    },
  };
  return {
    observeSchedule: withKubernetesFailures(async (observeInput) => {
      const { cluster: asked } = observeInput.target;
      if (asked !== cluster) {
        const message = `these are the caches of the cluster ${cluster}, not of ${asked}`;
        throw failure({ type: 'InvalidInput', message, nonRetryable: true });
      }
      return await observeSchedule(observing, observeInput);
    }),
  };
}

/** Ends the waiting of an attempt: after the time limit, or when the activity is cancelled. */
function limit(): AbortSignal {
  const cancelled = asyncLocalStorage.getStore()?.cancellationSignal;
  const late = AbortSignal.timeout(BEHIND_MS);
  return cancelled === undefined ? late : AbortSignal.any([cancelled, late]);
}
