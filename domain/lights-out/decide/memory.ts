/** What the workflow of a schedule carries from one reconcile pass to the next, and through continue-as-new. */
import { requireVersion } from '../../kernel/carried-version.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { InEffect } from '../schedule/in-effect.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { Override } from '../schedule/override.ts';
import type { ScheduleStatus } from '../schedule/schedule.ts';
import type { Approval, Approving } from '../workload/approved.ts';
import type { JoinedWorkloads, Unmarked } from '../workload/unmarked.ts';
import { freshSavings, OTHERS, type Savings, savingsOf } from './savings.ts';
import type { LightsOutEvent } from './verdict.ts';

export interface LightsOutMemory {
  readonly version: 2;
  /** The uid of the schedule that the memory is about; a new schedule of the same name begins with a new memory. */
  readonly uid: string | null;
  /** Whether the overrides that an earlier run left in the schedule's status were taken over. */
  readonly isTakenOver: boolean;
  /** Overrides by command. */
  readonly overrides: readonly Override[];
  readonly approved: Approval | null;
  /** Absent: nothing. */
  readonly approving?: Approving | null;
  readonly inEffect: InEffect | null;
  /** Namespaces that came into scope in this night, and when. Absent: none. */
  readonly joined?: Readonly<Record<string, EpochMs>>;
  /** The same of single workloads. Absent: none. */
  readonly joinedWorkloads?: readonly JoinedWorkloads[];
  /** What was to be asleep and was not, at the last observation. Absent before the first. */
  readonly unmarked?: Unmarked;
  /** When everything was last as the schedule wants it, in which state, and when that state began by the crons. */
  readonly completed: {
    readonly state: ScheduleState;
    readonly since: EpochMs | null;
    readonly at: EpochMs;
  } | null;
  /**
   * By workload: how often GitOps scaled it up again in this period, and when it may be put to sleep again at the
   * earliest.
   */
  readonly contested: Readonly<Record<string, { readonly times: number; readonly until: EpochMs }>>;
  /** By workload: the error of its last write. */
  readonly failing: Readonly<Record<string, string>>;
  /**
   * `isMany`: more workloads failed than are remembered by name, so nothing of this direction is written before the next
   * try. What failed in the night does not hold up the morning. `direction` is absent in the memory of an older release.
   */
  readonly retry: {
    readonly times: number;
    readonly at: EpochMs;
    readonly isMany: boolean;
    readonly direction?: ScheduleState;
  } | null;
  readonly savings: Savings;
  readonly lastUpscale: EpochMs | null;
  readonly lastDownscale: EpochMs | null;
  /** The current scaling run, from the first write until nothing is left to do. */
  readonly run: ScalingRun | null;
  /** When the next batch of the same direction may begin. */
  readonly nextBatchAt: EpochMs | null;
  readonly batchDirection: ScheduleState | null;
  /**
   * The workloads of the current priority that were written in this run: the next priority begins when they are ready,
   * even if the plan is made again meanwhile.
   */
  readonly stage: Stage | null;
  /** Priorities whose readiness timeout passed, as sentences. */
  readonly unready: readonly string[];
  /** Keys of the Events about conditions that still hold: they are not written again. */
  readonly emitted: readonly string[];
  /**
   * Events about completed actions: no later observation produces them again, so they are kept until they are written.
   */
  readonly pendingEvents: readonly LightsOutEvent[];
}

export interface ScalingRun {
  readonly startedAt: EpochMs;
  readonly up: number;
  readonly down: number;
  /** Those of `down` that only keep another number than before. Absent: none. */
  readonly resized?: number;
  /** Whether a transition caused some of the writes, and not a changed scope or another writer. */
  readonly isUpscale: boolean;
  readonly isDownscale: boolean;
  /** Items that were evaluated again before the write and then left alone, or that are gone. */
  readonly skipped: number;
  readonly total: number;
  readonly namespaces: readonly string[];
}

export interface Stage {
  readonly direction: ScheduleState;
  readonly priority: number;
  /** As `packItem` has them; the most recent ones. */
  readonly workloads: readonly string[];
  /** Null while the priority is still being written. */
  readonly waitingSince: EpochMs | null;
}

export const freshMemory: LightsOutMemory = {
  version: 2,
  uid: null,
  isTakenOver: false,
  overrides: [],
  approved: null,
  inEffect: null,
  completed: null,
  contested: {},
  failing: {},
  retry: null,
  savings: freshSavings,
  lastUpscale: null,
  lastDownscale: null,
  run: null,
  nextBatchAt: null,
  batchDirection: null,
  stage: null,
  unready: [],
  emitted: [],
  pendingEvents: [],
};

/** Earlier, only replicas were counted, all namespaces together. */
interface SavedReplicas {
  readonly replicaMs: number;
  readonly replicas: number;
  readonly at: EpochMs | null;
}

function upgradeSavings(savings: Savings | SavedReplicas | undefined): Savings {
  if (savings === undefined) return freshSavings;
  if ('namespaces' in savings) return savings;
  const { replicaMs, replicas, at } = savings;
  return {
    ...freshSavings,
    at,
    idle: { [OTHERS]: [replicas, 0, 0] },
    namespaces: { [OTHERS]: [replicaMs / MS_PER_HOUR, 0, 0] },
  };
}

/**
 * The memory that the run before carried. Fields are added over time: a missing one gets its initial value.
 *
 * @throws Error for a version that this code does not know, which happens when a deployment is rolled back.
 */
export function upgradeMemory(carried: LightsOutMemory | undefined): LightsOutMemory {
  if (carried === undefined) return freshMemory;
  requireVersion('the memory of the schedule', carried, 2);
  return { ...freshMemory, ...carried, savings: upgradeSavings(carried.savings) };
}

const MS_PER_HOUR = 3_600_000;
/** How many Events are kept when they cannot be written for days. */
const MAX_PENDING_EVENTS = 20;

/** The memory with further Events, which are kept until they are written. */
export function withPendingEvents(memory: LightsOutMemory, events: readonly LightsOutEvent[]): LightsOutMemory {
  return events.length === 0
    ? memory
    : { ...memory, pendingEvents: [...memory.pendingEvents, ...events].slice(-MAX_PENDING_EVENTS) };
}

function approvalOf({ by, digest, workloads }: NonNullable<ScheduleStatus['approved']>, at: EpochMs): Approval {
  return {
    by,
    at,
    ...(digest === undefined ? {} : { digest }),
    ...(workloads === undefined ? {} : { workloads }),
  };
}

/**
 * Takes over overrides and progress from the status, written by a run that was terminated or whose history is gone.
 * Only once: afterwards the memory is the source and the status a copy.
 */
export function takeOver(memory: LightsOutMemory, status: ScheduleStatus): LightsOutMemory {
  if (memory.isTakenOver) return memory;
  const moment = (text: string | undefined): EpochMs | null => {
    const at = text === undefined ? Number.NaN : Date.parse(text);
    return Number.isNaN(at) ? null : at;
  };
  const approvedAt = moment(status.approved?.at);
  const overrides = (status.overrides ?? []).flatMap(({ kind, namespace, since, until, by, reason }): Override[] => {
    const [from, to] = [moment(since), moment(until)];
    if (from === null || to === null) return [];
    return [{ kind, namespace: namespace ?? null, since: from, until: to, by, reason: reason ?? '' }];
  });
  const downscaled = moment(status.lastDownscaleTime);
  const since = moment(status.stateSince);
  return {
    ...memory,
    isTakenOver: true,
    // The status has no field for this: what was put to sleep in this night counts as complete unless it was still in
    // progress.
    completed:
      memory.completed ??
      (status.state !== 'Down' ||
      downscaled === null ||
      since === null ||
      downscaled < since ||
      status.scalingProgress !== undefined
        ? null
        : { state: 'Down', since: null, at: downscaled }),
    // Commands before the first observation of this run are more recent than the status.
    overrides: [
      ...overrides.filter((old) => memory.overrides.every(({ namespace }) => namespace !== old.namespace)),
      ...memory.overrides,
    ],
    approved:
      memory.approved ??
      (status.approved === undefined || approvedAt === null ? null : approvalOf(status.approved, approvedAt)),
    savings: memory.savings.at === null ? savingsOf(status) : memory.savings,
    lastUpscale: memory.lastUpscale ?? moment(status.lastUpscaleTime),
    lastDownscale: memory.lastDownscale ?? moment(status.lastDownscaleTime),
  };
}
