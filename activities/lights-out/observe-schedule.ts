import { type PauseInForce, pauseSentence, type PauseSubject } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Calendars } from '../../domain/lights-out/schedule/calendar.ts';
import { isEditedSince } from '../../domain/lights-out/schedule/in-effect.ts';
import { formatMoment } from '../../domain/lights-out/schedule/moment.ts';
import { KIND } from '../../domain/lights-out/schedule/names.ts';
import type { LightsOutTimings, PackedObservation } from '../../domain/lights-out/decide/observation.ts';
import { packPlan } from '../../domain/lights-out/decide/packed-plan.ts';
import type { Period } from '../../domain/lights-out/schedule/period.ts';
import { NOTES_LIMIT } from '../../domain/lights-out/decide/notes.ts';
import { type Plan, planSchedule } from '../../domain/lights-out/decide/plan.ts';
import type { OtherSchedule } from '../../domain/lights-out/workload/evaluation.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../../domain/lights-out/workload/workload.ts';
import { joinedNamespaces } from '../../domain/lights-out/workload/joined.ts';
import { namespacesInScope } from '../../domain/lights-out/schedule/scope.ts';
import { outdated, withoutWorkload } from '../../domain/lights-out/workload/remembered.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import type { ObserveScheduleInput } from './interface.ts';
import { type ContextSettings, inEffectOf, othersThan, evaluationContext } from './evaluation-context.ts';
import { listNamespaces, listSchedules, listWorkloads, readScheduleObject } from './read-cluster.ts';
import { type ScheduleNow, scheduleWith } from './read-schedule-object.ts';
import type { OwnerKinds, Owners } from './owners.ts';
import type { KeptMemory } from './scaling-memory.ts';

/** Entries of the memory that are taken away at once; the others follow. */
const MOST_FORGOTTEN = 100;

/** Everything besides the schedule itself that an observation is made of. */
export interface ClusterView {
  readonly others: readonly OtherSchedule[];
  readonly namespaces: readonly ScopedNamespace[];
  readonly workloads: readonly Workload[];
  /** Targets of annotated autoscalers that do not exist, as `missingTargets` has them. */
  readonly missing: readonly Workload[];
  /** The objects that own workloads. */
  readonly owners: Pick<Owners, 'get'>;
}

export interface ObserveOptions extends ContextSettings {
  readonly kubernetes: Kubernetes;
  /** The view is as new as the call, or at least as new as `observeInput.atLeast`. */
  readonly view: (observeInput: ObserveScheduleInput) => Promise<ClusterView>;
  /** The calendars of the cluster, as new as the view. */
  readonly calendars: () => Promise<Calendars>;
  /** The pauses that hold for subjects. */
  readonly pausesFor: (subject: PauseSubject) => Promise<(subject: PauseSubject) => PauseInForce | null>;
  readonly timings: LightsOutTimings;
  /** What is kept of a schedule outside of the workloads. */
  readonly memory: (schedule: string, scheduleUid: string) => Promise<KeptMemory>;
  readonly now: () => EpochMs;
}

/**
 * Observes the schedule and everything that it selects or ever put to sleep. The schedule itself is read from the API
 * server. If something cannot be read, the whole observation fails: incomplete data would leave workloads asleep, or
 * assign their annotations to another schedule.
 */
export async function observeSchedule(
  options: ObserveOptions,
  observeInput: ObserveScheduleInput,
): Promise<PackedObservation> {
  const { kubernetes, timings } = options;
  const { schedule } = observeInput.target;
  const at = options.now();
  const subject = { controller: 'lights-out', name: schedule } as const;
  const [object, pauseOf] = await Promise.all([readScheduleObject(kubernetes, schedule), options.pausesFor(subject)]);
  const paused = new PausedNamespaces(pauseOf);
  const own = await scheduleWith(object, at, options.calendars);
  const whole =
    own !== null && own.seen.spec === null && !own.seen.isDeleting
      ? null
      : await planNow(options, observeInput, { own, isPaused: (namespace) => paused.has(namespace), now: at });
  const plan = whole === null ? null : paused.noted(whole, at);
  return {
    at,
    timings,
    schedule: own?.seen ?? null,
    period: own?.period ?? null,
    inEffect: inEffectOf(observeInput, own, at),
    local: localMoments(own),
    plan: plan === null ? null : packPlan(withNotes(plan, schedule, own?.annotationProblems ?? [])),
    pause: pauseOf(subject),
  };
}

async function planNow(
  { view, memory, protectedNamespaces, gitopsManagers }: ObserveOptions,
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
  const [{ others, namespaces, workloads, missing, owners }, kept] = await Promise.all([
    view(observeInput),
    memory(observeInput.target.schedule, own?.seen.uid ?? ''),
  ]);
  const { remembered } = kept;
  const settled = { protectedNamespaces, gitopsManagers, now, kept };
  const joined = joinedNow(observeInput, own, { namespaces, protectedNamespaces, now });
  const context = evaluationContext({ ...observeInput, joined }, own, others, settled);
  const alone = withoutWorkload(remembered, workloads, (mark, namespace) => owners.get(mark, namespace));
  const made = planSchedule({ context, namespaces, workloads, missing: [...missing, ...alone], isPaused });
  const plan = Object.keys(joined).length === 0 ? made : { ...made, joined };
  // What is put to sleep now is remembered again.
  const planned = new Set(plan.items.map(({ workload }) => workloadName(workload)));
  const forgettable = outdated(remembered, [...workloads, ...alone]).filter((uid) => {
    const entry = remembered.get(uid);
    return entry === undefined || !planned.has(workloadName(entry));
  });
  return forgettable.length === 0 ? plan : { ...plan, outdated: forgettable.slice(0, MOST_FORGOTTEN) };
}

/** The namespaces that came into scope in this night. The status has those of the last observation. */
function joinedNow(
  { joined = {}, inEffect: before }: ObserveScheduleInput,
  own: ScheduleNow | null,
  {
    namespaces,
    protectedNamespaces,
    now,
  }: {
    readonly namespaces: readonly ScopedNamespace[];
    readonly protectedNamespaces: readonly string[];
    readonly now: EpochMs;
  },
): Readonly<Record<string, EpochMs>> {
  const spec = own?.seen.spec ?? null;
  if (own === null || spec === null || before === null) return {};
  const { state, from, since } = before;
  const { generation, calendars } = own.seen;
  const isEdited = isEditedSince(before, { generation, calendars: calendars?.digest });
  const isSameNight = own.period?.state === state && (own.period.since === since || isEdited);
  const [all, byName] = [own.namespaces, new Map(namespaces.map((namespace) => [namespace.name, namespace]))];
  return joinedNamespaces(isSameNight ? joined : {}, isSameNight ? all : null, {
    inScope: namespacesInScope(spec, namespaces, protectedNamespaces),
    createdAt: (name) => byName.get(name)?.createdAt ?? null,
    from,
    now,
  });
}

/** The view of a schedule by what was listed. */
export function viewOf({ schedules, ...listed }: ListedCluster, schedule: string): ClusterView {
  return { ...listed, others: othersThan(schedule, schedules) };
}

interface ListedCluster extends Omit<ClusterView, 'others'> {
  /** As they are written. */
  readonly schedules: readonly unknown[];
}

/** The view of a process without caches. */
export async function listView(kubernetes: Kubernetes, kinds: OwnerKinds, schedule: string): Promise<ClusterView> {
  return viewOf(await listCluster(kubernetes, kinds), schedule);
}

/** Everything that any schedule's view is made of. */
export async function listCluster(kubernetes: Kubernetes, kinds: OwnerKinds): Promise<ListedCluster> {
  // Workloads are listed before schedules: a schedule that annotated one of them is then in the list, unless it was
  // deleted.
  const { workloads, missing, owners } = await listWorkloads(kubernetes, kinds);
  const [namespaces, schedules] = await Promise.all([listNamespaces(kubernetes), listSchedules(kubernetes)]);
  return { schedules, namespaces, workloads, missing, owners };
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
      leftAlone: { ...plan.leftAlone, Paused: plan.withheld ?? 0 },
      notes: [...notes, ...plan.notes].slice(0, NOTES_LIMIT),
      notesTotal: plan.notesTotal + notes.length,
      until: Math.min(plan.until ?? Number.POSITIVE_INFINITY, at + PAUSED_RECHECK_MS),
    };
  }
}

function localMoments(own: ScheduleNow | null): PackedObservation['local'] {
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
