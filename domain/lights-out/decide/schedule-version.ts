/** What a plan depends on of its schedule, to notice before each batch that it is another one by now. */
import { formatInstant } from '../../kernel/time.ts';
import type { SeenSchedule } from './observation.ts';

/** Its status and other annotations do not count. */
export interface ScheduleVersion {
  readonly generation: number;
  readonly isDeleting: boolean;
  /** Of its annotations, as `wake 2026-11-20T22:00:00Z`. */
  readonly overrides: readonly string[];
  /** The digest of its calendars. Absent: it has none. */
  readonly calendars?: string;
}

/** Null: the schedule is gone. */
export function scheduleVersion(schedule: SeenSchedule | null): ScheduleVersion | null {
  if (schedule === null) return null;
  const { generation, isDeleting, overrides, calendars } = schedule;
  return {
    generation,
    isDeleting,
    overrides: overrides.map(({ kind, until }) => `${kind} ${formatInstant(until)}`),
    ...(calendars === undefined ? {} : { calendars: calendars.digest }),
  };
}

export function isSameVersion(a: ScheduleVersion | null, b: ScheduleVersion | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
