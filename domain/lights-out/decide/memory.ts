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
  /** Of the schedule that all of this is about: another one of the same name begins afresh. */
  readonly uid: string | null;
  /** What an earlier run left in the schedule's status has been taken over. */
  readonly isTakenOver: boolean;
  /** The pause of the schedule as it was read last; it is kept outside of the run. */
  readonly paused: { readonly by: string; readonly reason: string; readonly at: EpochMs } | null;
  /** By command. */
  readonly overrides: readonly Override[];
  readonly approved: { readonly by: string; readonly at: EpochMs } | null;
  readonly inEffect: InEffect | null;
  /** The last moment at which everything was as the schedule wants it, in which state, and when that state began by the crons. */
  readonly completed: {
    readonly state: ScheduleState;
    readonly since: EpochMs | null;
    readonly at: EpochMs;
  } | null;
  /** By workload: how often GitOps scaled it up again in this period, and the earliest moment at which it is put to sleep again. */
  readonly contested: Readonly<Record<string, { readonly times: number; readonly until: EpochMs }>>;
  /** By workload: why it could not be written. */
  readonly failing: Readonly<Record<string, string>>;
  /** `isMany`: more failed than are remembered by name, so nothing is written before the next try. */
  readonly retry: { readonly times: number; readonly at: EpochMs; readonly isMany: boolean } | null;
  readonly savings: Savings;
  readonly lastUpscale: EpochMs | null;
  readonly lastDownscale: EpochMs | null;
  /** What is being done, from the first write until nothing is left to do. */
  readonly run: ScalingRun | null;
  /** Between two batches: when the next of the same direction may begin. */
  readonly nextBatchAt: EpochMs | null;
  readonly batchDirection: ScheduleState | null;
  /** What was written of a priority in this run: those of the next begin when it is ready, however often that is begun anew. */
  readonly stage: Stage | null;
  /** Priorities that were waited for in vain, in words. */
  readonly unready: readonly string[];
  /** Keys of the Events that were written about what is so now: none of them is written again. */
  readonly emitted: readonly string[];
  /** Events about what was done: no later observation leads to them, so they stay here until they are written. */
  readonly pendingEvents: readonly LightsOutEvent[];
}

export interface ScalingRun {
  readonly startedAt: EpochMs;
  readonly up: number;
  readonly down: number;
  /** Whether any of that was for a transition, and not for a scope that changed or somebody else's write. */
  readonly isUpscale: boolean;
  readonly isDownscale: boolean;
  /** Read again before the write, and then left as they are, or gone. */
  readonly skipped: number;
  readonly total: number;
  readonly namespaces: readonly string[];
}

export interface Stage {
  readonly direction: ScheduleState;
  readonly priority: number;
  /** At most `PLAN_LIMIT`, the last ones. */
  readonly items: readonly Pick<PlanItem, 'workload' | 'to'>[];
  /** Null while it is still being written. */
  readonly waitingSince: EpochMs | null;
}

/** Replicas that did not run, times how long: a sum up to `at`, and what it grows by from then on. */
export interface Savings {
  readonly replicaMs: number;
  readonly replicas: number;
  readonly at: EpochMs | null;
}

export const freshMemory: LightsOutMemory = {
  version: 2,
  uid: null,
  isTakenOver: false,
  paused: null,
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

/** What is known of a schedule that took the place of another one of the same name: that it is paused, and no more. */
export function memoryOfAnother({ paused }: LightsOutMemory): LightsOutMemory {
  return { ...freshMemory, paused };
}

/** Version 1 had other names for three fields. Everything may be missing, as it grew by and by. */
interface MemoryVersion1 extends Partial<Omit<LightsOutMemory, 'version' | 'completed' | 'emitted' | 'pendingEvents'>> {
  readonly version: 1;
  readonly settled?: LightsOutMemory['completed'];
  readonly told?: LightsOutMemory['emitted'];
  readonly untold?: LightsOutMemory['pendingEvents'];
}

/**
 * The memory of a run before, from whichever release; what an older version lacks is as in a fresh one.
 *
 * @throws Error when it is of a version that this code does not know, which is a deployment going backwards.
 */
export function upgradeMemory(carried: LightsOutMemory | MemoryVersion1 | undefined): LightsOutMemory {
  if (carried === undefined) return freshMemory;
  if (carried.version === 2) return { ...freshMemory, ...carried };
  if (carried.version !== 1) {
    const { version } = carried as { readonly version: unknown };
    throw new Error(`the memory of the schedule has version ${String(version)}: run a worker of the newer release`);
  }
  const { version: _, settled = null, told = [], untold = [], ...rest } = carried;
  return { ...freshMemory, ...rest, completed: settled, emitted: told, pendingEvents: untold };
}

/** Of Events that cannot be written for days, the last so many are kept. */
const MAX_PENDING_EVENTS = 20;

/** With Events that are to be written, and are kept until they are. */
export function withPendingEvents(memory: LightsOutMemory, events: readonly LightsOutEvent[]): LightsOutMemory {
  return events.length === 0
    ? memory
    : { ...memory, pendingEvents: [...memory.pendingEvents, ...events].slice(-MAX_PENDING_EVENTS) };
}

const MS_PER_HOUR = 3_600_000;

/** The sum as of a moment, with what grows it from then on. */
export function savingsAt(savings: Savings, now: EpochMs, replicas: number): Savings {
  const elapsed = savings.at === null ? 0 : Math.max(0, now - savings.at);
  return { replicaMs: savings.replicaMs + savings.replicas * elapsed, replicas: Math.max(0, replicas), at: now };
}

/** Replica-hours with one decimal. */
export function replicaHours({ replicaMs }: Savings): string {
  return (Math.round((replicaMs / MS_PER_HOUR) * 10) / 10).toFixed(1);
}

/**
 * Takes over what the status says of a run before this one, which was terminated, or of which the history is gone. Only
 * once: from then on the memory is the truth and the status its picture.
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
    // The status has no field for it: what was put to sleep in this night counts as complete unless it was still in progress.
    completed:
      memory.completed ??
      (status.state !== 'Down' ||
      downscaled === null ||
      since === null ||
      downscaled < since ||
      status.scalingProgress !== undefined
        ? null
        : { state: 'Down', since: null, at: downscaled }),
    // Commands that this run took before its first observation are newer.
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
