/** Since when the state of a schedule has held for its workloads, which is not always what its crons say. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ScheduleState } from './names.ts';
import type { Period } from './period.ts';
import type { ScheduleStatus } from './schedule.ts';

/**
 * The state that a schedule is in, and from when on it was in effect: what people did to workloads before that was not done
 * against it. A schedule that is made, edited, resumed or approved in the middle of a night begins there.
 */
export interface InEffect {
  readonly state: ScheduleState;
  /** When the crons say that it began. */
  readonly since: EpochMs | null;
  readonly from: EpochMs;
  readonly generation: number;
  /** Not suspended, no dry run, and approved where that is asked for. */
  readonly isActive: boolean;
}

/** What is in effect now, given what was in effect at the last observation (null before the first). */
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
  // A transition counts from its own moment, however late it is noticed; an edit has none.
  return { ...current, from: generation === before.generation ? Math.max(since ?? now, before.from) : now };
}

/** What the status says of a run before this one, which was terminated. */
function heldSince(
  { state, stateSince }: Pick<ScheduleStatus, 'state' | 'stateSince'>,
  now: ScheduleState,
  at: EpochMs,
): EpochMs {
  const since = stateSince === undefined || state !== now ? Number.NaN : Date.parse(stateSince);
  return Number.isNaN(since) || since > at ? Number.NEGATIVE_INFINITY : since;
}
