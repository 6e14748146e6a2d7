/** The status of a schedule's workflow as people see it. */
import type { ScheduleTarget } from '../../domain/lights-out/target.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import { counted } from '../../domain/lights-out/decide/sentences.ts';
import type { LightsOutMemory } from '../../domain/lights-out/decide/memory.ts';
import { replicaHours } from '../../domain/lights-out/decide/savings.ts';
import type { LightsOutObservation } from '../../domain/lights-out/decide/observation.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import type { LightsOutStatus } from './messages.ts';

type LightsOutRunStatus = Pick<LightsOutStatus, 'phase' | 'reason' | 'detail' | 'facts'>;
export type LightsOutRun = ControllerRun<LightsOutRunStatus, LightsOutMemory>;

export const FIRST_STATUS: LightsOutRunStatus = {
  phase: 'Starting',
  reason: 'FirstObservation',
  detail: 'Headroom reads the schedule',
  facts: [],
};

/** The lines below the detail. */
export function shownFacts(status: LightsOutRunStatus, { run, failing, savings }: LightsOutMemory): string[] {
  return [
    ...(run === null ? [] : [progressSentence(run, Object.keys(failing).length)]),
    ...status.facts,
    `Saved so far: ${replicaHours(savings)} replica-hours`,
  ];
}

function progressSentence(
  { up, down, resized = 0, skipped, total }: NonNullable<LightsOutMemory['run']>,
  failed: number,
): string {
  const parts = [
    ...(down > resized ? [`${down - resized} put to sleep`] : []),
    ...(resized > 0 ? [`${resized} kept at another number`] : []),
    ...(up > 0 ? [`${up} woken`] : []),
    ...(skipped > 0 ? [`${skipped} left`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  return `Progress: ${up + down + skipped} of ${counted(total, 'workload')}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

/** What the query `status` answers; `seen` is the last observation, null before the first. */
export function statusAnswer(
  target: ScheduleTarget,
  run: LightsOutRun,
  seen: LightsOutObservation | null,
): LightsOutStatus {
  const moment = (at: EpochMs | null | undefined): string | null => (at == null ? null : formatInstant(at));
  const { run: scaling, failing, overrides, savings } = run.memory;
  const { phase, reason, detail, facts } = run.status;
  const pause = run.pauses.inForce;
  const failures = Object.entries(failing);
  return {
    target,
    phase,
    reason,
    detail,
    facts,
    since: formatInstant(run.since),
    state: seen?.period?.state ?? null,
    nextUpscale: moment(seen?.period?.nextUpscale),
    nextDownscale: moment(seen?.period?.nextDownscale),
    overrides: [...overrides, ...(seen?.schedule?.overrides ?? [])]
      .filter(({ until }) => until > Date.now())
      .map(({ kind, namespace, until, by, reason }) => ({ kind, namespace, until: formatInstant(until), by, reason })),
    progress:
      scaling === null
        ? null
        : {
            total: scaling.total,
            completed: scaling.up + scaling.down + scaling.skipped,
            failed: failures.length,
          },
    failing: failures.map(([workload, message]) => ({ workload, message })),
    savedReplicaHours: replicaHours(savings),
    paused: pause === null ? null : { by: pause.by, reason: pause.reason, at: moment(pause.at) },
    lastCommand: run.lastCommand,
  };
}
