import type { Registry } from 'prom-client';
import { lightsOutMetrics as metrics } from '../../domain/lights-out/metrics.ts';
import { countsByKind } from '../../domain/lights-out/workload/kinds.ts';
import { collectCounter, collectGauge, type Sample } from '../kernel/metrics.ts';
import type { ScheduleRegistry, WatchedSchedule } from './schedule-registry.ts';

/**
 * The metrics of the schedules, read from the cached objects at each scrape. The series of a deleted schedule disappear
 * with it.
 */
export function registerScheduleMetrics(
  register: Registry,
  scheduleRegistry: Pick<ScheduleRegistry, 'all' | 'periodOf'>,
): void {
  const ofAll =
    <Label extends string>(samplesOf: (schedule: WatchedSchedule) => readonly Sample<Label>[]) =>
    (): readonly Sample<Label>[] =>
      scheduleRegistry.all.flatMap(samplesOf);
  collectGauge(
    register,
    metrics.state,
    ofAll(({ name, status: { state } }) =>
      state === 'Up' || state === 'Down' ? [[{ schedule: name }, state === 'Up' ? 1 : 0]] : [],
    ),
  );
  collectGauge(
    register,
    metrics.nextTransition,
    ofAll((schedule) => {
      const now = Date.now();
      const period = scheduleRegistry.periodOf(schedule, now);
      const next = { upscale: period?.nextUpscale, downscale: period?.nextDownscale };
      return Object.entries(next).flatMap(([type, at]): Sample<'schedule' | 'transition_type'>[] =>
        typeof at === 'number' ? [[{ schedule: schedule.name, transition_type: type }, (at - now) / 1000]] : [],
      );
    }),
  );
  collectGauge(
    register,
    metrics.managed,
    ofAll(({ name, status: { workloadStats = {} } }) =>
      countsByKind(workloadStats, 'managed').flatMap(({ kind, count }): Sample<'schedule' | 'workload_type'>[] =>
        count === undefined ? [] : [[{ schedule: name, workload_type: kind }, count]],
      ),
    ),
  );
  collectGauge(
    register,
    metrics.ready,
    ofAll(({ name, status: { conditions = [] } }) => {
      const ready = conditions.find(({ type }) => type === 'Ready')?.status;
      return ready === 'True' || ready === 'False' ? [[{ schedule: name }, ready === 'True' ? 1 : 0]] : [];
    }),
  );
  // The sums are the workflow's, and are in the status; a counter takes them as what they grew by from nothing.
  collectCounter(
    register,
    metrics.savedReplicaHours,
    ofAll(({ name, status }) => [[{ schedule: name }, Number(status.savedReplicaHours ?? Number.NaN)]]),
  );
  collectCounter(register, metrics.savedCpu, ofAll(byNamespace('cpuCoreHours')));
  collectCounter(register, metrics.savedMemory, ofAll(byNamespace('memoryGiBHours')));
}

function byNamespace(hours: 'cpuCoreHours' | 'memoryGiBHours') {
  return ({ name, status }: WatchedSchedule): readonly Sample<'schedule' | 'namespace'>[] =>
    (status.savings?.namespaces ?? []).map(({ namespace, [hours]: saved }) => [
      { schedule: name, namespace },
      Number(saved),
    ]);
}
