/** Observations of a schedule, for tests of what is decided by them. */
import type { LightsOutObservation, SeenSchedule } from '../../../domain/lights-out/decide/observation.ts';
import type { Period } from '../../../domain/lights-out/schedule/period.ts';
import type { PlanItem } from '../../../domain/lights-out/workload/evaluation.ts';
import type { Plan } from '../../../domain/lights-out/decide/plan.ts';
import { scheduleSpec, type ScheduleSpec } from '../../../domain/lights-out/schedule/schedule.ts';

export const NOON = Date.UTC(2026, 10, 20, 12);
export const HOUR = 3_600_000;

export function specOf(spec: Partial<ScheduleSpec> = {}): ScheduleSpec {
  return scheduleSpec.parse({ upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a'], ...spec });
}

export function scheduleOf(schedule: Partial<SeenSchedule> = {}): SeenSchedule {
  return {
    uid: 'uid-1',
    generation: 1,
    resourceVersion: '10',
    createdAt: NOON - 1_000 * HOUR,
    isDeleting: false,
    hasFinalizer: true,
    spec: specOf(),
    problems: [],
    overrides: [],
    status: {},
    ...schedule,
  };
}

export const down: Period = {
  state: 'Down',
  since: NOON - HOUR,
  exception: null,
  next: { at: NOON + 12 * HOUR, state: 'Up', exception: null },
  nextUpscale: NOON + 12 * HOUR,
  nextDownscale: NOON + 24 * HOUR,
};

export const up: Period = {
  state: 'Up',
  since: NOON - HOUR,
  exception: null,
  next: { at: NOON + 6 * HOUR, state: 'Down', exception: null },
  nextUpscale: NOON + 24 * HOUR,
  nextDownscale: NOON + 6 * HOUR,
};

export function itemOf(name: string, item: Partial<PlanItem> = {}): PlanItem {
  return {
    workload: { kind: 'Deployment', namespace: 'team-a', name },
    direction: 'Down',
    reason: 'Down',
    from: 3,
    to: 0,
    priority: 0,
    ...item,
  };
}

export function planOf(items: readonly PlanItem[] = [], plan: Partial<Plan> = {}): Plan {
  return {
    namespaces: ['team-a'],
    items,
    total: items.length,
    stats: {
      deploymentsManaged: 2,
      deploymentsScaled: 0,
      statefulsetsManaged: 0,
      statefulsetsScaled: 0,
      cronjobsManaged: 0,
      cronjobsSuspended: 0,
      rolloutsManaged: 0,
      rolloutsScaled: 0,
      scaledjobsManaged: 0,
      scaledjobsPaused: 0,
    },
    notes: [],
    notesTotal: 0,
    until: null,
    ...plan,
  };
}

export function observationOf(observeInput: Partial<LightsOutObservation> = {}): LightsOutObservation {
  return {
    at: NOON,
    timings: { retryMin: 15_000, retryMax: 600_000, contestedMin: 60_000, contestedMax: 3_600_000 },
    schedule: scheduleOf(),
    period: down,
    inEffect: { state: 'Down', since: down.since, from: down.since ?? 0, generation: 1, isActive: true },
    local: { next: 'Sat 2026-11-21 00:00 +00:00', nextUpscale: 'u', nextDownscale: 'd' },
    plan: planOf(),
    pause: null,
    ...observeInput,
  };
}
