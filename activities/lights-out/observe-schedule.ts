import { type PauseInForce, pauseSentence, type PauseSubject } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { formatMoment } from '../../domain/lights-out/schedule/moment.ts';
import { KIND } from '../../domain/lights-out/schedule/names.ts';
import type { LightsOutObservation, LightsOutTimings } from '../../domain/lights-out/decide/observation.ts';
import type { Period } from '../../domain/lights-out/schedule/period.ts';
import { NOTES_LIMIT, type Plan, planSchedule } from '../../domain/lights-out/decide/plan.ts';
import { type PauseOptions, readPausesFor } from '../kernel/pause.ts';
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
 * Observes the schedule and everything that it selects or ever put to sleep. If something cannot be listed, the whole
 * observation fails: incomplete data would leave workloads asleep, or assign their annotations to another schedule.
 */
export async function observeSchedule(
  options: ObserveOptions,
  observeInput: ObserveScheduleInput,
): Promise<LightsOutObservation> {
  const { kubernetes, timings } = options;
  const { schedule } = observeInput.target;
  const at = options.now();
  const subject = { controller: 'lights-out', name: schedule } as const;
  const [object, pauseOf] = await Promise.all([
    readScheduleObject(kubernetes, schedule),
    readPausesFor(options, subject),
  ]);
  const paused = new PausedNamespaces(pauseOf);
  const own = object === null ? null : scheduleNow(object, at);
  const whole =
    own !== null && own.seen.spec === null && !own.seen.isDeleting
      ? null
      : await planNow(options, observeInput, { own, isPaused: (namespace) => paused.has(namespace), now: at });
  const plan = whole === null ? null : paused.noted(whole, at);
  reconcileMetric(schedule, at);
  return {
    at,
    timings,
    schedule: own?.seen ?? null,
    period: own?.period ?? null,
    inEffect: inEffectOf(observeInput, own, at),
    local: localMoments(own),
    plan: plan === null ? null : withNotes(plan, schedule, own?.annotationProblems ?? []),
    pause: pauseOf(subject),
  };
}

async function planNow(
  { kubernetes, protectedNamespaces, gitopsManagers }: ObserveOptions,
  observeInput: ObserveScheduleInput,
  {
    own,
    isPaused,
    now,
  }: {
    readonly own: ScheduleNow | null;
    readonly isPaused: (namespace: string) => boolean;
    readonly now: EpochMs;
  },
): Promise<Plan> {
  // Workloads are listed before schedules: a schedule that annotated one of them is then in the list, unless it was
  // deleted.
  const { workloads, missing } = await listWorkloads(kubernetes);
  const [namespaces, schedules] = await Promise.all([listNamespaces(kubernetes), listSchedules(kubernetes)]);
  const others = othersThan(observeInput.target.schedule, schedules);
  const context = evaluationContext(observeInput, own, others, { protectedNamespaces, gitopsManagers, now });
  return planSchedule({ context, namespaces, workloads, missing, isPaused });
}

/**
 * How soon a paused namespace is observed again, in milliseconds. The schedule itself is not paused then, so it waits for
 * no resume, and a worker's view of the pauses may be behind when something else wakes it.
 */
const PAUSED_RECHECK_MS = 60_000;

/** Collects the paused namespaces that contain planned changes. */
class PausedNamespaces {
  readonly #pauseOf: (subject: PauseSubject) => PauseInForce | null;
  readonly #asked = new Map<string, PauseInForce | null>();

  constructor(pauseOf: (subject: PauseSubject) => PauseInForce | null) {
    this.#pauseOf = pauseOf;
  }

  has(namespace: string): boolean {
    const cached = this.#asked.get(namespace);
    if (cached !== undefined) return cached !== null;
    const pause = this.#pauseOf({ controller: 'lights-out', namespace });
    // A pause of a wider scope applies to the whole schedule.
    const own = pause?.scope === 'namespace' ? pause : null;
    this.#asked.set(namespace, own);
    return own !== null;
  }

  /** The plan with notes on what is withheld and why. */
  noted(plan: Plan, at: EpochMs): Plan {
    const paused = [...this.#asked].flatMap(([namespace, pause]) => (pause === null ? [] : [{ namespace, pause }]));
    if (paused.length === 0) return plan;
    const notes = paused.map(({ namespace, pause }) => ({
      workload: `namespace ${namespace}`,
      reason: 'Paused' as const,
      detail: pauseSentence(pause),
    }));
    return {
      ...plan,
      notes: [...notes, ...plan.notes].slice(0, NOTES_LIMIT),
      notesTotal: plan.notesTotal + notes.length,
      until: Math.min(plan.until ?? Number.POSITIVE_INFINITY, at + PAUSED_RECHECK_MS),
    };
  }
}

function localMoments(own: ScheduleNow | null): LightsOutObservation['local'] {
  const { timezone = 'UTC' } = own?.seen.spec ?? {};
  const { next, nextUpscale, nextDownscale }: Partial<Period> = own?.period ?? {};
  const local = (at: EpochMs | null | undefined): string | null => (at == null ? null : formatMoment(at, timezone));
  return { next: local(next?.at), nextUpscale: local(nextUpscale), nextDownscale: local(nextDownscale) };
}

/** The plan with notes on problems in the schedule's own annotations. */
function withNotes(plan: Plan, schedule: string, problems: readonly string[]): Plan {
  if (problems.length === 0) return plan;
  const own = problems.map((detail) => ({ workload: `${KIND} ${schedule}`, reason: 'BadAnnotation' as const, detail }));
  return {
    ...plan,
    notes: [...own, ...plan.notes].slice(0, NOTES_LIMIT),
    notesTotal: plan.notesTotal + own.length,
  };
}
