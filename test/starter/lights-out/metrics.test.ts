import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { NO_CALENDARS } from '../../../domain/lights-out/schedule/calendar.ts';
import { registerScheduleMetrics } from '../../../starter/lights-out/metrics.ts';
import { ScheduleRegistry, type WatchedSchedule } from '../../../starter/lights-out/schedule-registry.ts';
import { asleep, scheduleAs } from './schedules.ts';

/** A registry of the metrics of these schedules, with the samples of one metric, as `labels value`. */
function measured(schedules: () => readonly WatchedSchedule[]) {
  const registry = new Registry();
  const scheduleRegistry = new ScheduleRegistry({
    cluster: 'test',
    calendars: () => NO_CALENDARS,
    schedules,
    protectedNamespaces: [],
    gitopsManagers: [],
  });
  registerScheduleMetrics(registry, scheduleRegistry);
  const samples = async (metric: string): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith(`${metric}{`))
      .map((line) => line.slice(metric.length));
  return { registry, scheduleRegistry, samples };
}

const spec = { ...asleep, namespaces: ['team-a'] };
const at = '2026-11-16T20:00:00Z';
const ready = (status: 'True' | 'False' | 'Unknown') => ({
  conditions: [{ type: 'Ready', status, reason: 'X', message: '', lastTransitionTime: at }],
});

describe('the metrics of schedules', () => {
  it('are what their statuses say', async () => {
    const night = scheduleAs('night', spec, {
      status: {
        state: 'Down',
        workloadStats: { deploymentsManaged: 3, deploymentsScaled: 2, statefulsetsManaged: 1, cronjobsManaged: 0 },
        savedReplicaHours: '12.5',
        savings: {
          since: at,
          until: at,
          months: [],
          namespaces: [{ namespace: 'team-a', replicaHours: '12.50', cpuCoreHours: '3.25', memoryGiBHours: '6.00' }],
        },
        ...ready('False'),
      },
    });
    const day = scheduleAs('day', spec, { status: { state: 'Up', ...ready('True') } });
    const { registry, samples } = measured(() => [night, day]);
    expect(await samples('lightsout_schedule_state')).toEqual(['{schedule="night"} 0', '{schedule="day"} 1']);
    expect(await samples('lightsout_managed_workloads')).toEqual([
      '{schedule="night",workload_type="Deployment"} 3',
      '{schedule="night",workload_type="StatefulSet"} 1',
      '{schedule="night",workload_type="CronJob"} 0',
    ]);
    expect(await samples('lightsout_saved_replica_hours_total')).toEqual(['{schedule="night"} 12.5']);
    const labels = '{schedule="night",namespace="team-a"}';
    expect(await samples('lightsout_saved_cpu_core_hours_total')).toEqual([`${labels} 3.25`]);
    expect(await samples('lightsout_saved_memory_gibibyte_hours_total')).toEqual([`${labels} 6`]);
    expect(await samples('headroom_lights_out_ready')).toEqual(['{schedule="night"} 0', '{schedule="day"} 1']);
    expect(await registry.metrics()).toContain('# TYPE lightsout_saved_replica_hours_total counter');
  });

  it('count down to the next transitions with every pass', async () => {
    const hourly = scheduleAs('hourly', { upscale: '0 * * * *', downscale: '30 * * * *', namespaces: ['team-a'] });
    const { samples } = measured(() => [hourly]);
    const seconds = (await samples('lightsout_next_transition_seconds')).map((line) => Number(line.split(' ')[1]));
    expect(seconds).toHaveLength(2);
    const [upscale = 0, downscale = 0] = seconds;
    expect(Math.abs(upscale - downscale)).toBeCloseTo(1_800, 3);
    expect(Math.min(...seconds)).toBeGreaterThan(0);
    expect(Math.max(...seconds)).toBeLessThanOrEqual(3_600);
  });

  it('have no series of what is not known, nor of a schedule that is gone', async () => {
    let schedules = [
      scheduleAs('night', spec, { status: { state: 'Unknown', savedReplicaHours: 'many', ...ready('Unknown') } }),
      scheduleAs('broken', { ...spec, upscale: 'never' }, { status: { state: 'Up', savedReplicaHours: '1.0' } }),
    ];
    const { registry, scheduleRegistry, samples } = measured(() => schedules);
    expect(await samples('lightsout_schedule_state')).toEqual(['{schedule="broken"} 1']);
    expect(await samples('lightsout_saved_replica_hours_total')).toEqual(['{schedule="broken"} 1']);
    expect(await samples('headroom_lights_out_ready')).toEqual([]);
    expect(await samples('lightsout_next_transition_seconds')).toEqual([
      expect.stringContaining('{schedule="night",transition_type="upscale"}'),
      expect.stringContaining('{schedule="night",transition_type="downscale"}'),
    ]);
    schedules = [];
    scheduleRegistry.changed();
    expect((await registry.metrics()).split('\n').filter((line) => line.includes('schedule='))).toEqual([]);
  });
});
