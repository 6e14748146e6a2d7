import { Counter, Gauge, type Registry } from 'prom-client';
import { countsByKind } from '../../domain/lights-out/workload/kinds.ts';
import type { ScheduleRegistry, WatchedSchedule } from './schedule-registry.ts';

/**
 * The metrics of the schedules, read from the cached objects at each scrape. The series of a deleted schedule disappear
 * with it.
 */
export function registerScheduleMetrics(
  register: Registry,
  scheduleRegistry: Pick<ScheduleRegistry, 'all' | 'periodOf'>,
): void {
  gauge(
    'lightsout_schedule_state',
    'What a schedule says now: 1 up, 0 down.',
    ['schedule'],
    ({ name, status: { state } }) =>
      state === 'Up' || state === 'Down' ? [[{ schedule: name }, state === 'Up' ? 1 : 0]] : [],
  );
  gauge(
    'lightsout_next_transition_seconds',
    'Seconds until the crons of a schedule name their next moment.',
    ['schedule', 'transition_type'],
    (schedule) => {
      const now = Date.now();
      const period = scheduleRegistry.periodOf(schedule, now);
      const next = { upscale: period?.nextUpscale, downscale: period?.nextDownscale };
      return Object.entries(next).flatMap(([type, at]): Sample<'schedule' | 'transition_type'>[] =>
        typeof at === 'number' ? [[{ schedule: schedule.name, transition_type: type }, (at - now) / 1000]] : [],
      );
    },
  );
  gauge(
    'lightsout_managed_workloads',
    'Workloads in the scope of a schedule.',
    ['schedule', 'workload_type'],
    ({ name, status: { workloadStats = {} } }) =>
      countsByKind(workloadStats, 'managed').flatMap(({ kind, count }): Sample<'schedule' | 'workload_type'>[] =>
        count === undefined ? [] : [[{ schedule: name, workload_type: kind }, count]],
      ),
  );
  gauge(
    'headroom_lights_out_ready',
    'The condition Ready of a schedule: 1 True, 0 False.',
    ['schedule'],
    ({ name, status: { conditions = [] } }) => {
      const ready = conditions.find(({ type }) => type === 'Ready')?.status;
      return ready === 'True' || ready === 'False' ? [[{ schedule: name }, ready === 'True' ? 1 : 0]] : [];
    },
  );
  registerSavings(register, scheduleRegistry);

  function gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    samplesOf: (schedule: WatchedSchedule) => readonly Sample<Label>[],
  ): void {
    register.registerMetric(
      new Gauge({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          for (const [labels, value] of scheduleRegistry.all.flatMap(samplesOf)) this.set(labels, value);
        },
      }),
    );
  }
}

/** The sums are the workflow's, and are in the status; a counter takes them as what they grew by from nothing. */
function registerSavings(register: Registry, scheduleRegistry: Pick<ScheduleRegistry, 'all'>): void {
  counter(
    'lightsout_saved_replica_hours_total',
    'Replica-hours that were not run because of a schedule.',
    ['schedule'],
    ({ name, status }) => [[{ schedule: name }, Number(status.savedReplicaHours ?? Number.NaN)]],
  );
  counter(
    'lightsout_saved_cpu_core_hours_total',
    'CPU core-hours that pods would have requested that were not run because of a schedule.',
    ['schedule', 'namespace'],
    byNamespace('cpuCoreHours'),
  );
  counter(
    'lightsout_saved_memory_gibibyte_hours_total',
    'Memory in GiB-hours that pods would have requested that were not run because of a schedule.',
    ['schedule', 'namespace'],
    byNamespace('memoryGiBHours'),
  );

  function counter<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    samplesOf: (schedule: WatchedSchedule) => readonly Sample<Label>[],
  ): void {
    register.registerMetric(
      new Counter({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          for (const [labels, value] of scheduleRegistry.all.flatMap(samplesOf))
            if (value >= 0) this.inc(labels, value);
        },
      }),
    );
  }
}

function byNamespace(hours: 'cpuCoreHours' | 'memoryGiBHours') {
  return ({ name, status }: WatchedSchedule): readonly Sample<'schedule' | 'namespace'>[] =>
    (status.savings?.namespaces ?? []).map(({ namespace, [hours]: saved }) => [
      { schedule: name, namespace },
      Number(saved),
    ]);
}

type Sample<Label extends string> = readonly [labels: Record<Label, string>, value: number];
