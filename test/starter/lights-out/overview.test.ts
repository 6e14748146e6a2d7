import { describe, expect, it } from 'vitest';
import { NO_CALENDARS } from '../../../domain/lights-out/schedule/calendar.ts';
import { scheduleOverview } from '../../../starter/lights-out/overview.ts';
import { ScheduleRegistry, type WatchedSchedule } from '../../../starter/lights-out/schedule-registry.ts';
import { scheduleAs } from './schedules.ts';

/** A Monday at noon. */
const NOW = Date.UTC(2026, 10, 16, 12);
const HOUR = 3_600_000;
const spec = { upscale: '0 6 * * *', downscale: '0 20 * * *', namespaces: ['team-a'] };
const early = { ...spec, downscale: '0 18 * * *' };

function ask(schedules: readonly WatchedSchedule[], namespace: string | null = null) {
  const options = { cluster: 'c1', calendars: () => NO_CALENDARS, protectedNamespaces: [], gitopsManagers: [] };
  const registry = new ScheduleRegistry({ ...options, schedules: () => schedules });
  const { waiting, tables } = scheduleOverview('c1', registry)({ namespace, now: NOW });
  const [table] = tables;
  return { waiting, table, rows: table?.rows(0, table.total) ?? [] };
}

describe('the schedules of the overview', () => {
  it('come in the order of what changes next, with what is asleep and what that has saved', () => {
    const night = scheduleAs('night', spec, {
      status: {
        state: 'Up',
        stateSince: '2026-11-16T06:00:00Z',
        workloadStats: { deploymentsManaged: 3, deploymentsScaled: 1 },
        savedReplicaHours: '12.5',
        savings: {
          since: '2026-11-01T00:00:00Z',
          until: '2026-11-16T06:00:00Z',
          months: [{ month: '2026-11', replicaHours: '12.50', cpuCoreHours: '3.25', memoryGiBHours: '6.00' }],
          namespaces: [],
        },
      },
    });
    const { rows, table } = ask([night, scheduleAs('early', early)]);
    expect(rows.map(({ cells }) => cells[0]?.text)).toEqual(['early', 'night']);
    expect(rows[1]?.cells.slice(1)).toEqual([
      { text: 'awake since', at: NOW - 6 * HOUR },
      { text: 'falls asleep', at: NOW + 8 * HOUR },
      { text: '1 of 3' },
      { text: '12.5 replica-hours', detail: '2026-11: 3.25 CPU core-hours, 6.00 GiB-hours' },
    ]);
    expect(rows[1]).toMatchObject({
      workflow: 'lights-out/c1/night',
      command: 'kubectl headroom lights-out status night',
    });
    expect(table?.summary).toBe('What changes next comes first; 1 workload is asleep.');
  });

  it('say where the workloads are not as the schedule says, and what is suspended or invalid', () => {
    const late = scheduleAs('late', spec, { status: { state: 'Down', stateSince: '2026-11-15T20:00:00Z' } });
    expect(ask([late]).rows[0]?.cells[1]).toEqual({ text: 'awake', detail: 'the workloads are asleep' });
    expect(ask([scheduleAs('off', { ...spec, suspend: true })]).rows[0]?.cells[0]?.detail).toBe('suspended');
    const { rows } = ask([scheduleAs('wrong', { ...spec, upscale: 'never' })]);
    expect(rows[0]?.cells.slice(0, 3)).toEqual([
      { text: 'wrong', detail: 'invalid' },
      { text: 'nothing' },
      { text: 'nothing' },
    ]);
  });

  it('are those that are about a namespace, where one is chosen', () => {
    const night = scheduleAs('night', spec, { status: { namespaces: ['team-a'] } });
    expect(ask([night], 'team-a').rows).toHaveLength(1);
    expect(ask([night], 'team-b').table).toMatchObject({ total: 0, empty: 'No LightsOutSchedule is about team-b.' });
  });
});

describe('a schedule that waits', () => {
  it('for its approval has the command for exactly what is in its scope', () => {
    const status = { scope: { digest: '0123456789abcdef', workloads: 3 }, workloadStats: { deploymentsManaged: 3 } };
    const asking = scheduleAs('careful', { ...spec, requireApproval: true }, { status });
    expect(ask([asking]).waiting).toMatchObject([
      {
        what: 'schedule careful',
        isForPeople: true,
        why: 'An approval of its first run, of 3 workloads.',
        command: 'kubectl headroom lights-out approve careful --digest 0123456789abcdef --reason WHY',
      },
    ]);
    const approved = { ...status, approved: { by: 'alice', at: '2026-11-16T10:00:00Z' } };
    expect(ask([scheduleAs('careful', { ...spec, requireApproval: true }, { status: approved })]).waiting).toEqual([]);
  });

  it('for a person says why and since when, and for its workloads how many there are', () => {
    const at = '2026-11-16T11:00:00Z';
    const failing = scheduleAs('failing', spec, {
      status: {
        conditions: [
          { type: 'Ready', status: 'False', reason: 'Forbidden', message: 'it may not', lastTransitionTime: at },
        ],
        scalingProgress: { total: 4, completed: 1, failed: 1, inProgress: true },
      },
    });
    expect(ask([failing]).waiting).toMatchObject([
      { isForPeople: true, since: NOW - HOUR, why: 'Forbidden: It may not.' },
      { isForPeople: false, whom: 'the workloads', why: '1 of 4 are as the schedule says.' },
    ]);
  });
});
