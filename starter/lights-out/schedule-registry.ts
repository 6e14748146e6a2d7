import type { KubernetesObject } from '@kubernetes/client-node';
import type { ObserveScheduleInput } from '../../activities/lights-out/interface.ts';
import { evaluationContext } from '../../activities/lights-out/evaluation-context.ts';
import { type ScheduleNow, scheduleNow } from '../../activities/lights-out/read-schedule-object.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Calendars } from '../../domain/lights-out/schedule/calendar.ts';
import { MANAGED_BY } from '../../domain/lights-out/schedule/names.ts';
import type { Override } from '../../domain/lights-out/schedule/override.ts';
import type { Period } from '../../domain/lights-out/schedule/period.ts';
import type { OtherSchedule, EvaluationContext } from '../../domain/lights-out/workload/evaluation.ts';
import type { ScheduleSpec, ScheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';
import { isInScope } from '../../domain/lights-out/schedule/scope.ts';
import type { ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';

/** A schedule in the cache. */
export interface WatchedSchedule {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Counts the changes of its spec, and its deletion. */
  readonly generation: number;
  readonly isDeleting: boolean;
  /** Only annotations of people for schedules. */
  readonly annotations: Readonly<Record<string, string>>;
  /** Null where it is invalid. */
  readonly spec: ScheduleSpec | null;
  readonly status: ScheduleStatus;
  /** The data that other schedules need. */
  readonly seenByOthers: OtherSchedule;
  /** The object as it was received. */
  readonly object: KubernetesObject;
}

/** A schedule that changes workloads, and the context for evaluating them. */
export interface Evaluator {
  readonly schedule: WatchedSchedule;
  readonly context: EvaluationContext;
}

/** How long an evaluation context is valid without a change of a schedule, in milliseconds. */
const EVALUATORS_MS = 1_000;

/** Only a valid object name: people may write anything into an annotation, and it becomes part of a workflow id. */
const OBJECT_NAME = /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

export interface ScheduleRegistryOptions {
  readonly cluster: string;
  /** Returns all known schedules; called when one of them has changed. */
  readonly schedules: () => readonly WatchedSchedule[];
  /** All known calendars. */
  readonly calendars: () => Calendars;
  readonly protectedNamespaces: readonly string[];
  readonly gitopsManagers: readonly string[];
}

/** What the schedules of a cluster want at a moment, as far as their objects tell. */
export class ScheduleRegistry {
  readonly #options: ScheduleRegistryOptions;
  /** Cached until a schedule changes, so that a thousand schedules are not read for each change of a workload. */
  #cached: {
    readonly all: readonly WatchedSchedule[];
    readonly names: ReadonlySet<string>;
    readonly others: readonly OtherSchedule[];
  } | null = null;
  #evaluators: { readonly evaluators: readonly Evaluator[]; readonly from: EpochMs; readonly to: EpochMs } | null =
    null;
  #now = new WeakMap<WatchedSchedule, { readonly read: ScheduleNow; readonly from: EpochMs; readonly to: EpochMs }>();

  constructor(options: ScheduleRegistryOptions) {
    this.#options = options;
  }

  get all(): readonly WatchedSchedule[] {
    return this.#read().all;
  }

  /** Must be called whenever a schedule is added, changed or deleted. */
  changed(): void {
    this.#cached = null;
    this.#evaluators = null;
  }

  /** Must be called whenever a calendar is added, changed or deleted. */
  calendarsChanged(): void {
    this.#now = new WeakMap();
    this.#evaluators = null;
  }

  /** The schedules whose workflows last observed other calendars than these, as their status has it. */
  withOtherCalendars(now: EpochMs): readonly WatchedSchedule[] {
    return this.all.filter((schedule) => {
      if (schedule.spec === null || schedule.isDeleting) return false;
      const observed = schedule.status.calendarsDigest;
      return this.#at(schedule, now).seen.calendars?.digest !== observed;
    });
  }

  /** The schedules besides one, as possible owners of workloads. */
  othersThan(schedule: string): readonly OtherSchedule[] {
    return this.#read().others.filter(({ name }) => name !== schedule);
  }

  /** All schedules that change workloads, with their context at this moment. */
  evaluators(now: EpochMs): readonly Evaluator[] {
    let cached = this.#evaluators;
    if (cached === null || now < cached.from || now >= cached.to) {
      const evaluators = this.all.flatMap((schedule): Evaluator[] => {
        const context = this.contextOf(schedule, now);
        return context === null ? [] : [{ schedule, context }];
      });
      // Never beyond the next transition of a schedule, or the end of an override.
      const to = this.all.reduce(
        (first, schedule) => Math.min(first, this.#now.get(schedule)?.to ?? now),
        now + EVALUATORS_MS,
      );
      cached = { evaluators, from: now, to };
      this.#evaluators = cached;
    }
    // Overrides on workloads end at moments of their own.
    return cached.evaluators.map(({ schedule, context }) => ({ schedule, context: { ...context, now } }));
  }

  /** The state that its crons and exceptions say; null for an invalid schedule. */
  periodOf(schedule: WatchedSchedule, now: EpochMs): Period | null {
    return this.#at(schedule, now).period;
  }

  /**
   * The context for evaluating workloads; null when the schedule changes none. Only the workflow knows what is
   * contested or failing, and when everything was last as wanted, so such an evaluation is only a reason to wake the
   * workflow.
   */
  contextOf(schedule: WatchedSchedule, now: EpochMs): EvaluationContext | null {
    const { name, isDeleting, spec, status, seenByOthers } = schedule;
    const read = this.#at(schedule, now);
    const { period } = read;
    if (spec === null || period === null) return null;
    if (!isDeleting && (spec.suspend || (seenByOthers.isIdle && !spec.dryRun))) return null;
    const { protectedNamespaces, gitopsManagers } = this.#options;
    const observeInput: Omit<ObserveScheduleInput, 'completedAt'> = {
      target: { cluster: this.#options.cluster, schedule: name },
      overrides: overridesOf(status),
      // The status tells since when it is in effect.
      inEffect: null,
      isApproved: status.approved !== undefined,
      contested: {},
      failing: [],
    };
    // One list for all schedules: nothing is older than itself, so a schedule never counts as another one.
    const { others } = this.#read();
    return evaluationContext({ ...observeInput, completedAt: completedAtOf(status) }, read, others, {
      protectedNamespaces,
      gitopsManagers,
      now,
    });
  }

  /**
   * The schedule that put the workload to sleep and does not exist any more, unless another one takes the workload
   * over; null when there is none.
   */
  orphanedBy(workload: Workload, namespace: ScopedNamespace): string | null {
    const owner = workload.annotations[MANAGED_BY];
    const { names, others } = this.#read();
    if (owner === undefined || names.has(owner)) return null;
    const isTaken = others.some(
      ({ isIdle, spec }) => !isIdle && isInScope(workload, namespace, spec, this.#options.protectedNamespaces),
    );
    return isTaken || !OBJECT_NAME.test(owner) ? null : owner;
  }

  #read() {
    if (this.#cached === null) {
      const all = this.#options.schedules();
      this.#cached = {
        all,
        names: new Set(all.map(({ name }) => name)),
        others: all.map(({ seenByOthers }) => seenByOthers),
      };
    }
    return this.#cached;
  }

  /**
   * Cached until the schedule's state can change, because reading a schedule costs as much as evaluating a hundred
   * workloads.
   */
  #at(schedule: WatchedSchedule, now: EpochMs): ScheduleNow {
    const cached = this.#now.get(schedule);
    if (cached !== undefined && now >= cached.from && now < cached.to) return cached.read;
    const read = scheduleNow(schedule.object, now, this.#options.calendars());
    const { next, nextUpscale, nextDownscale } = read.period ?? {};
    const ends = read.seen.overrides.map(({ until }) => until);
    const moments = [next?.at, nextUpscale, nextDownscale, ...ends].filter((at) => typeof at === 'number');
    this.#now.set(schedule, { read, from: now, to: Math.min(...moments, Number.POSITIVE_INFINITY) });
    return read;
  }
}

/** Whether it may own other workloads than before. */
export function selectsOtherwise(before: WatchedSchedule | undefined, after: WatchedSchedule): boolean {
  return before === undefined || JSON.stringify(before.seenByOthers) !== JSON.stringify(after.seenByOthers);
}

/** When everything was asleep, according to the status; null when unknown or not complete. */
function completedAtOf({ scalingProgress, lastDownscaleTime }: ScheduleStatus): EpochMs | null {
  const at = scalingProgress?.inProgress === true ? Number.NaN : Date.parse(lastDownscaleTime ?? '');
  return Number.isNaN(at) ? null : at;
}

/** Overrides by command, which the workflow writes into the status. */
function overridesOf({ overrides = [] }: ScheduleStatus): readonly Override[] {
  return overrides.flatMap(({ kind, namespace = null, since, until, by, reason = '' }): Override[] => {
    const [from, to] = [Date.parse(since), Date.parse(until)];
    return Number.isNaN(from) || Number.isNaN(to) ? [] : [{ kind, namespace, since: from, until: to, by, reason }];
  });
}
