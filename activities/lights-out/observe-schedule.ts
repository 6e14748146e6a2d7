import { type PauseInForce, pauseSentence, type PauseSubject } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { formatMoment } from '../../domain/lights-out/schedule/moment.ts';
import { KIND } from '../../domain/lights-out/schedule/names.ts';
import type { LightsOutObservation, LightsOutTimings } from '../../domain/lights-out/decide/observation.ts';
import type { Period } from '../../domain/lights-out/schedule/period.ts';
import { NOTES_LIMIT, type Plan, planSchedule } from '../../domain/lights-out/decide/plan.ts';
import { type PauseOptions, readPauses } from '../kernel/pause.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import type { ObserveScheduleInput } from './interface.ts';
import { reconcileMetric } from './metrics.ts';
import { type ContextSettings, inEffectOf, othersThan, evaluationContext } from './evaluation-context.ts';
import { listNamespaces, listSchedules, listWorkloads, readScheduleObject } from './read-cluster.ts';
import { type ScheduleNow, scheduleNow } from './read-schedule-object.ts';

export interface ObserveOptions extends ContextSettings {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly timings: LightsOutTimings;
  readonly now: () => EpochMs;
}

/**
 * Observes the schedule and everything that it selects or ever put to sleep. What cannot be listed fails the observation as a whole: half
 * of the truth would leave workloads down, or give their annotations to another schedule.
 */
export async function observeSchedule(
  options: ObserveOptions,
  observeInput: ObserveScheduleInput,
): Promise<LightsOutObservation> {
  const { kubernetes, timings } = options;
  const { schedule } = observeInput.target;
  const at = options.now();
  const [object, pauseOf] = await Promise.all([readScheduleObject(kubernetes, schedule), readPauses(options)]);
  const pause = pauseOf({ controller: 'lights-out', name: schedule });
  const own = object === null ? null : scheduleNow(object, at);
  const whole =
    own !== null && own.seen.spec === null && !own.seen.isDeleting
      ? null
      : await planNow(options, observeInput, own, at);
  const plan = whole === null ? null : withoutPaused(whole, pauseOf, at);
  reconcileMetric(schedule, at);
  return {
    at,
    timings,
    schedule: own?.seen ?? null,
    period: own?.period ?? null,
    inEffect: inEffectOf(observeInput, own, at),
    local: localMoments(own),
    plan: plan === null ? null : withNotes(plan, schedule, own?.annotationProblems ?? []),
    globalPause: pause === null || pause.scope === 'target' ? null : pauseSentence(pause),
    paused: pause?.scope === 'target' ? pause : null,
  };
}

async function planNow(
  { kubernetes, protectedNamespaces, gitopsManagers }: ObserveOptions,
  observeInput: ObserveScheduleInput,
  own: ScheduleNow | null,
  now: EpochMs,
): Promise<Plan> {
  // The workloads first: whoever annotated one of them is in the list of schedules that follows, unless it is gone.
  const { workloads, missing } = await listWorkloads(kubernetes);
  const [namespaces, schedules] = await Promise.all([listNamespaces(kubernetes), listSchedules(kubernetes)]);
  const others = othersThan(observeInput.target.schedule, schedules);
  const context = evaluationContext(observeInput, own, others, { protectedNamespaces, gitopsManagers, now });
  return planSchedule({ context, namespaces, workloads, missing });
}

/** How soon a paused namespace is looked at again, in milliseconds. */
const PAUSED_RECHECK_MS = 60_000;

/** The plan without what is in a paused namespace, which it says instead; it is still counted as to be done. */
function withoutPaused(plan: Plan, pauseOf: (subject: PauseSubject) => PauseInForce | null, at: EpochMs): Plan {
  const namespaces = new Set(plan.items.map(({ workload }) => workload.namespace));
  const pauses = new Map(
    [...namespaces].flatMap((namespace) => {
      const pause = pauseOf({ controller: 'lights-out', namespace });
      return pause?.scope === 'namespace' ? [[namespace, pause] as const] : [];
    }),
  );
  if (pauses.size === 0) return plan;
  const items = plan.items.filter(({ workload }) => !pauses.has(workload.namespace));
  const notes = [...pauses].map(([namespace, pause]) => ({
    workload: `namespace ${namespace}`,
    reason: 'Paused' as const,
    detail: pauseSentence(pause),
  }));
  return {
    ...plan,
    items,
    notes: [...notes, ...plan.notes].slice(0, NOTES_LIMIT),
    notesTotal: plan.notesTotal + notes.length,
    until: Math.min(plan.until ?? Number.POSITIVE_INFINITY, at + PAUSED_RECHECK_MS),
  };
}

function localMoments(own: ScheduleNow | null): LightsOutObservation['local'] {
  const { timezone = 'UTC' } = own?.seen.spec ?? {};
  const { next, nextUpscale, nextDownscale }: Partial<Period> = own?.period ?? {};
  const local = (at: EpochMs | null | undefined): string | null => (at == null ? null : formatMoment(at, timezone));
  return { next: local(next?.at), nextUpscale: local(nextUpscale), nextDownscale: local(nextDownscale) };
}

/** The plan, and what is wrong with the schedule's own annotations. */
function withNotes(plan: Plan, schedule: string, problems: readonly string[]): Plan {
  if (problems.length === 0) return plan;
  const own = problems.map((detail) => ({ workload: `${KIND} ${schedule}`, reason: 'BadAnnotation' as const, detail }));
  return {
    ...plan,
    notes: [...own, ...plan.notes].slice(0, NOTES_LIMIT),
    notesTotal: plan.notesTotal + own.length,
  };
}
