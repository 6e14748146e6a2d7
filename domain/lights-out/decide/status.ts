import { formatInstant } from '../../kernel/time.ts';
import type { LightsOutMemory } from './memory.ts';
import type { LightsOutObservation } from './observation.ts';
import { replicaHours, savingsStatus } from './savings.ts';
import { leftAloneOf } from './sentences.ts';
import type { ScheduleStatus } from '../schedule/schedule.ts';

/** How many names a status lists without becoming slow to read. */
export const NAMED_NAMESPACES = 1_000;

/**
 * The status of a schedule after an observation, without the fields that the writer adds: conditions and the
 * generation.
 */
export function statusOf(
  { at, schedule, period, inEffect, plan, pause }: LightsOutObservation,
  memory: LightsOutMemory,
): Omit<ScheduleStatus, 'conditions' | 'observedGeneration'> {
  const { run, failing, approved, lastUpscale, lastDownscale } = memory;
  const savings = savingsStatus(memory.savings);
  const leftAlone = plan === null ? [] : leftAloneOf(plan);
  const overrides = memory.overrides.filter(({ until }) => until > at);
  const moment = (name: string, when: number | null): Readonly<Record<string, string>> =>
    when === null ? {} : { [name]: formatInstant(when) };
  return {
    state: schedule?.spec == null || period === null ? 'Unknown' : period.state,
    ...moment('stateSince', inEffect?.from ?? null),
    ...moment('lastUpscaleTime', lastUpscale),
    ...moment('lastDownscaleTime', lastDownscale),
    ...moment('nextUpscaleTime', period?.nextUpscale ?? null),
    ...moment('nextDownscaleTime', period?.nextDownscale ?? null),
    ...(plan === null ? {} : { namespaces: plan.namespaces.slice(0, NAMED_NAMESPACES), workloadStats: plan.stats }),
    ...(plan?.scope === undefined
      ? {}
      : { scope: { ...plan.scope, ...(leftAlone.length === 0 ? {} : { leftAlone: [...leftAlone] }) } }),
    ...(schedule?.calendars === undefined ? {} : { calendarsDigest: schedule.calendars.digest }),
    ...(run === null
      ? {}
      : {
          scalingProgress: {
            total: run.total,
            completed: run.up + run.down + run.skipped,
            failed: Object.keys(failing).length,
            inProgress: true,
          },
        }),
    ...(overrides.length === 0
      ? {}
      : {
          overrides: overrides.map(({ kind, namespace, since, until, by, reason }) => ({
            kind,
            ...(namespace === null ? {} : { namespace }),
            since: formatInstant(since),
            until: formatInstant(until),
            by,
            ...(reason === '' ? {} : { reason }),
          })),
        }),
    ...(pause === null
      ? {}
      : {
          paused: {
            by: pause.by,
            ...(pause.at === null ? {} : { at: formatInstant(pause.at) }),
            ...(pause.reason === '' ? {} : { reason: pause.reason }),
          },
        }),
    savedReplicaHours: replicaHours(memory.savings),
    ...(savings === undefined ? {} : { savings }),
    ...(approved === null ? {} : { approved: { ...approved, at: formatInstant(approved.at) } }),
  };
}
