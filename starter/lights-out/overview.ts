/** What the overview shows of schedules: what sleeps, what wakes next, and what that saves. */
import { conditionIn } from '../../domain/kernel/condition.ts';
import { sentence } from '../../domain/kernel/sentence.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { levelText } from '../../domain/lights-out/schedule/level.ts';
import type { Period } from '../../domain/lights-out/schedule/period.ts';
import type { ScheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';
import { lightsOutId } from '../../domain/lights-out/target.ts';
import { totalOf } from '../../domain/lights-out/workload/kinds.ts';
import type { Overview, OverviewCell, OverviewRow, Waiting } from '../overview/part.ts';
import type { ScheduleRegistry, WatchedSchedule } from './schedule-registry.ts';

export function scheduleOverview(cluster: string, registry: Pick<ScheduleRegistry, 'all' | 'periodOf'>): Overview {
  const workflowOf = ({ name }: WatchedSchedule): string => lightsOutId({ cluster, schedule: name });
  return ({ namespace, now }) => {
    const shown = registry.all
      .filter(({ status }) => namespace === null || (status.namespaces ?? []).includes(namespace))
      .map((schedule) => ({ schedule, period: registry.periodOf(schedule, now) }))
      .toSorted((a, b) => nextAt(a.period) - nextAt(b.period) || (a.schedule.name < b.schedule.name ? -1 : 1));
    const asleep = shown.reduce((sum, { schedule: { status } }) => sum + asleepIn(status), 0);
    return {
      waiting: shown.flatMap(({ schedule }) => waitingOf(schedule, workflowOf(schedule))),
      tables: [
        {
          id: 'schedules',
          title: 'Schedules',
          columns: ['Schedule', 'Now', 'Next', 'Asleep', 'Saved'],
          empty: namespace === null ? 'There is no LightsOutSchedule.' : `No LightsOutSchedule is about ${namespace}.`,
          summary: `What changes next comes first; ${asleep === 1 ? '1 workload is' : `${asleep} workloads are`} asleep.`,
          total: shown.length,
          rows: (from, to) =>
            shown.slice(from, to).map(
              ({ schedule, period }): OverviewRow => ({
                cells: [
                  { text: schedule.name, detail: notesOf(schedule) },
                  nowCell(schedule, period),
                  nextCell(period),
                  { text: asleepText(schedule.status) },
                  savedCell(schedule.status),
                ],
                links: [],
                workflow: workflowOf(schedule),
                command: `kubectl headroom lights-out status ${schedule.name}`,
              }),
            ),
        },
      ],
    };
  };
}

function nextAt(period: Period | null): EpochMs {
  return period?.next?.at ?? Number.POSITIVE_INFINITY;
}

function asleepIn({ workloadStats = {} }: ScheduleStatus): number {
  return totalOf(workloadStats, 'asleep');
}

function asleepText(status: ScheduleStatus): string {
  return `${asleepIn(status)} of ${totalOf(status.workloadStats ?? {}, 'managed')}`;
}

function notesOf({ spec, isDeleting }: WatchedSchedule): string {
  if (isDeleting) return 'being deleted';
  if (spec === null) return 'invalid';
  return [...(spec.suspend ? ['suspended'] : []), ...(spec.dryRun ? ['dry run'] : [])].join(', ');
}

function nowCell({ status: { state, stateSince = '' } }: WatchedSchedule, period: Period | null): OverviewCell {
  const says = period === null ? 'nothing' : period.state === 'Down' ? 'asleep' : 'awake';
  const since = Date.parse(stateSince);
  const isTrue = state === undefined || period === null || state === period.state;
  const detail =
    period?.exception ?? (isTrue ? undefined : `the workloads are ${state === 'Down' ? 'asleep' : 'awake'}`);
  return {
    text: Number.isNaN(since) || !isTrue ? says : `${says} since`,
    ...(Number.isNaN(since) || !isTrue ? {} : { at: since }),
    ...(detail === undefined ? {} : { detail }),
  };
}

function nextCell(period: Period | null): OverviewCell {
  const next = period?.next ?? null;
  if (next === null) return { text: 'nothing' };
  const keeps = next.level === undefined ? null : levelText(next.level);
  const notes = [...(keeps === null ? [] : [`keeps ${keeps}`]), ...(next.exception === null ? [] : [next.exception])];
  return {
    text: next.state === 'Down' ? 'falls asleep' : 'wakes',
    at: next.at,
    ...(notes.length === 0 ? {} : { detail: notes.join(', ') }),
  };
}

/** The sums are the workflow's. */
function savedCell({ savedReplicaHours, savings }: ScheduleStatus): OverviewCell {
  const [month] = savings?.months ?? [];
  const text = savedReplicaHours === undefined ? 'nothing yet' : `${savedReplicaHours} replica-hours`;
  if (month === undefined) return { text };
  const { cpuCoreHours, memoryGiBHours } = month;
  return { text, detail: `${month.month}: ${cpuCoreHours} CPU core-hours, ${memoryGiBHours} GiB-hours` };
}

function waitingOf(schedule: WatchedSchedule, workflow: string): readonly Waiting[] {
  const { name, spec, status } = schedule;
  const common = { what: `schedule ${name}`, links: [], workflow };
  if (spec?.requireApproval === true && !spec.suspend && status.approved === undefined) {
    const digest = status.scope === undefined ? '' : ` --digest ${status.scope.digest}`;
    return [
      {
        ...common,
        whom: 'a person',
        isForPeople: true,
        since: null,
        why: `An approval of its first run, of ${totalOf(status.workloadStats ?? {}, 'managed')} workloads.`,
        command: `kubectl headroom lights-out approve ${name}${digest} --reason WHY`,
      },
    ];
  }
  const ready = conditionIn(status, 'Ready');
  const failing: readonly Waiting[] =
    ready?.status === 'False' && status.paused === undefined
      ? [
          {
            ...common,
            whom: 'a person',
            isForPeople: true,
            since: ready.since,
            why: `${ready.reason}: ${sentence(ready.message)}`,
            command: `kubectl headroom lights-out status ${name}`,
          },
        ]
      : [];
  const { scalingProgress: progress } = status;
  if (progress?.inProgress !== true) return failing;
  const moving: Waiting = {
    ...common,
    whom: 'the workloads',
    isForPeople: false,
    since: null,
    why: `${progress.completed} of ${progress.total} are as the schedule says.`,
    command: `kubectl headroom lights-out status ${name}`,
  };
  return [...failing, moving];
}
