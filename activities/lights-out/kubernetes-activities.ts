import type { Logger } from 'pino';
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { GROUP, KIND, VERSION } from '../../domain/lights-out/schedule/names.ts';
import type { LightsOutTimings } from '../../domain/lights-out/decide/observation.ts';
import { createPauseGuard, type PauseOptions, readPausesFor } from '../kernel/pause.ts';
import { ensureObjectEvent } from '../kernel/object-event.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { withKubernetesFailures } from '../kubernetes/failure.ts';
import { ensureApproved } from './approve.ts';
import { ensureFinalizer } from './finalizer.ts';
import type { LightsOutActivities, ScheduleEvent } from './interface.ts';
import { listCluster, type ObserveOptions, observeSchedule, viewOf } from './observe-schedule.ts';
import { OwnerKinds } from './owners.ts';
import { listCalendars } from './read-cluster.ts';
import { awaitScaled } from './readiness.ts';
import { ensureScaled, memoryOf } from './scale.ts';
import { ensureScheduleStatus } from './schedule-status.ts';
import { SharedList } from './shared-list.ts';

export interface LightsOutOptions {
  readonly kubernetes: Kubernetes;
  /** The namespace of the pause ConfigMaps. */
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  /** Namespaces that no schedule may touch, besides Kubernetes' own. */
  readonly protectedNamespaces: readonly string[];
  /** Field managers that count as GitOps and not as a person. */
  readonly gitopsManagers: readonly string[];
  /** Definitions of the owners whose number is set in place of that of their workloads; default: none. */
  readonly scaledOwners?: readonly string[];
  readonly timings: LightsOutTimings;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** The clock of the process when absent. */
  readonly now?: () => EpochMs;
}

/**
 * The activities for one cluster. All throw the failures of `kubernetesFailure`. Every activity that changes something
 * checks the global pause first, except for the status, which reports the pause itself.
 */
export function createLightsOutActivities(given: LightsOutOptions): LightsOutActivities {
  const ownerKinds = new OwnerKinds(given.kubernetes, given.scaledOwners ?? []);
  const options = { ...given, ownerKinds, now: given.now ?? Date.now };
  const { kubernetes, now } = options;
  const guard = createPauseGuard(options);
  const cluster = new SharedList(async () => await listCluster(kubernetes, ownerKinds));
  const observing: ObserveOptions = {
    ...options,
    view: async ({ target }) => viewOf(await cluster.read(), target.schedule),
    calendars: async () => await listCalendars(kubernetes, options.systemNamespace),
    pausesFor: async (subject) => await readPausesFor(options, subject),
    memory: async (schedule, scheduleUid) => await memoryOf(options, schedule, scheduleUid).all(),
  };

  function ensuring<I extends { readonly target: ScheduleTarget }, R>(
    write: (input: I) => Promise<R>,
  ): (input: I) => Promise<R> {
    return withKubernetesFailures(async (input: I) => {
      const { schedule } = input.target;
      await guard({ controller: 'lights-out', name: schedule }, `the schedule ${schedule}`);
      return await write(input);
    });
  }

  return {
    observeSchedule: withKubernetesFailures((observeInput) => observeSchedule(observing, observeInput)),
    ensureScaled: ensuring((batch) => ensureScaled(options, batch)),
    ensureApproved: ensuring((input) => ensureApproved(options, input)),
    awaitScaled: withKubernetesFailures((wait) => awaitScaled(kubernetes, wait)),
    ensureFinalizer: ensuring((input) => ensureFinalizer(observing, input)),
    ensureScheduleStatus: withKubernetesFailures((write) => ensureScheduleStatus(kubernetes, write, now)),
    ensureScheduleEvent: ensuring((event) => ensureScheduleEvent(kubernetes, event)),
  };
}

async function ensureScheduleEvent(
  kubernetes: Kubernetes,
  { target, scheduleUid, type, reason, message, key }: ScheduleEvent,
): Promise<void> {
  const about = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, name: target.schedule, uid: scheduleUid };
  await ensureObjectEvent(kubernetes, { about, type, reason, message, key });
}
