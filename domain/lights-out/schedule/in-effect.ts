/** Since when the state of a schedule has applied to its workloads, which may be later than its crons say. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ScheduleState } from './names.ts';
import type { Period } from './period.ts';
import type { ScheduleStatus } from './schedule.ts';

/**
 * The state of a schedule and the moment from which on it applied: what people did to workloads before that moment was
 * not against it. A schedule that is created, edited, resumed or approved in the middle of a night applies from then
 * on.
 */
export interface InEffect {
  readonly state: ScheduleState;
  /** When the state began by the crons. */
  readonly since: EpochMs | null;
  readonly from: EpochMs;
  readonly generation: number;
  /** Not suspended, no dry run, and approved if required. */
  readonly isActive: boolean;
}

/** The state in effect now, given the state at the last observation (null before the first). */
export function inEffectNow(
  before: InEffect | null,
  {
    period: { state, since },
    now,
    generation,
    isActive,
    createdAt,
    status,
  }: {
    readonly period: Pick<Period, 'state' | 'since'>;
    readonly now: EpochMs;
    readonly generation: number;
    readonly isActive: boolean;
    readonly createdAt: EpochMs;
    readonly status: Pick<ScheduleStatus, 'state' | 'stateSince'>;
  },
): InEffect {
  const current = { state, since, generation, isActive };
  if (before === null)
    return { ...current, from: Math.max(since ?? createdAt, createdAt, heldSince(status, state, now)) };
  if (isActive && !before.isActive) return { ...current, from: now };
  if (state === before.state && (since === before.since || generation !== before.generation)) {
    return { ...current, from: before.from };
  }
  // A transition applies from its own moment, however late it is noticed; an edit applies from now on.
  return { ...current, from: generation === before.generation ? Math.max(since ?? now, before.from) : now };
}

/** The moment according to the status of an earlier run that was terminated. */
function heldSince(
  { state, stateSince }: Pick<ScheduleStatus, 'state' | 'stateSince'>,
  now: ScheduleState,
  at: EpochMs,
): EpochMs {
  const since = stateSince === undefined || state !== now ? Number.NaN : Date.parse(stateSince);
  return Number.isNaN(since) || since > at ? Number.NEGATIVE_INFINITY : since;
}
