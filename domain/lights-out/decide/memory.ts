/** What the workflow of a schedule carries from one reconcile pass to the next, and through continue-as-new. */
import type { EpochMs } from '../../kernel/time.ts';
import type { InEffect } from '../schedule/in-effect.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { Override } from '../schedule/override.ts';
import type { PlanItem } from '../workload/evaluation.ts';
import type { ScheduleStatus } from '../schedule/schedule.ts';
import type { LightsOutEvent } from './verdict.ts';

export interface LightsOutMemory {
  readonly version: 2;
  /** The uid of the schedule that the memory is about; a new schedule of the same name begins with a new memory. */
  readonly uid: string | null;
  /** Whether the overrides that an earlier run left in the schedule's status were taken over. */
  readonly isTakenOver: boolean;
  /** Overrides by command. */
  readonly overrides: readonly Override[];
  readonly approved: { readonly by: string; readonly at: EpochMs } | null;
  readonly inEffect: InEffect | null;
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
  /** `isMany`: more workloads failed than are remembered by name, so nothing is written before the next try. */
  readonly retry: { readonly times: number; readonly at: EpochMs; readonly isMany: boolean } | null;
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
  /** At most `PLAN_LIMIT`, the most recent ones. */
  readonly items: readonly Pick<PlanItem, 'workload' | 'to'>[];
  /** Null while the priority is still being written. */
  readonly waitingSince: EpochMs | null;
}

/** Replicas × time that did not run: the sum until `at`, and the number of replicas that increases it afterwards. */
export interface Savings {
  readonly replicaMs: number;
  readonly replicas: number;
  readonly at: EpochMs | null;
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
  savings: { replicaMs: 0, replicas: 0, at: null },
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

/** Version 1 had other names for three fields, and the pause, which the frame carries now. Any field may be missing, because they were added over time. */
interface MemoryVersion1 extends Partial<Omit<LightsOutMemory, 'version' | 'completed' | 'emitted' | 'pendingEvents'>> {
  readonly version: 1;
  readonly paused?: unknown;
  readonly settled?: LightsOutMemory['completed'];
  readonly told?: LightsOutMemory['emitted'];
  readonly untold?: LightsOutMemory['pendingEvents'];
}

/**
 * The memory of a run of any earlier release; missing fields get their initial values.
 *
 * @throws Error for a version that this code does not know, which happens when a deployment is rolled back.
 */
export function upgradeMemory(carried: LightsOutMemory | MemoryVersion1 | undefined): LightsOutMemory {
  if (carried === undefined) return freshMemory;
  if (carried.version === 2) return { ...freshMemory, ...carried };
  if (carried.version !== 1) {
    const { version } = carried as { readonly version: unknown };
    throw new Error(`the memory of the schedule has version ${String(version)}: run a worker of the newer release`);
  }
  const { version: _version, paused: _paused, settled = null, told = [], untold = [], ...rest } = carried;
  return { ...freshMemory, ...rest, completed: settled, emitted: told, pendingEvents: untold };
}

/** How many Events are kept when they cannot be written for days. */
const MAX_PENDING_EVENTS = 20;

/** The memory with further Events, which are kept until they are written. */
export function withPendingEvents(memory: LightsOutMemory, events: readonly LightsOutEvent[]): LightsOutMemory {
  return events.length === 0
    ? memory
    : { ...memory, pendingEvents: [...memory.pendingEvents, ...events].slice(-MAX_PENDING_EVENTS) };
}

const MS_PER_HOUR = 3_600_000;

/** The sum up to a moment, and the replicas that increase it from then on. */
export function savingsAt(savings: Savings, now: EpochMs, replicas: number): Savings {
  const elapsed = savings.at === null ? 0 : Math.max(0, now - savings.at);
  return { replicaMs: savings.replicaMs + savings.replicas * elapsed, replicas: Math.max(0, replicas), at: now };
}

/** Replica-hours with one decimal. */
export function replicaHours({ replicaMs }: Savings): string {
  return (Math.round((replicaMs / MS_PER_HOUR) * 10) / 10).toFixed(1);
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
  const hours = Number(status.savedReplicaHours ?? '0');
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
      (status.approved === undefined || approvedAt === null ? null : { by: status.approved.by, at: approvedAt }),
    savings:
      Number.isFinite(hours) && hours > 0
        ? { ...memory.savings, replicaMs: memory.savings.replicaMs + hours * MS_PER_HOUR }
        : memory.savings,
    lastUpscale: memory.lastUpscale ?? moment(status.lastUpscaleTime),
    lastDownscale: memory.lastDownscale ?? moment(status.lastDownscaleTime),
  };
}
