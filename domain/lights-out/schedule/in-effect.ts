/** Since when the state of a schedule has applied to its workloads, which may be later than its crons say. */
import type { EpochMs } from '../../kernel/time.ts';
import type { ScheduleState } from './names.ts';
import type { Period } from './period.ts';
import type { WorkloadSelection } from './scope.ts';
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
  /** The digest of its calendars. Absent: it has none. */
  readonly calendars?: string;
  /** Not suspended, no dry run, and approved if required. */
  readonly isActive: boolean;
  /** Which workloads of its namespaces it selects. Absent in the memory of an earlier release. */
  readonly selection?: WorkloadSelection;
  /** Edits since `from` that may have widened that: until when which selection held. The newest ones; absent: none. */
  readonly earlier?: readonly { readonly until: EpochMs; readonly selection: WorkloadSelection }[];
}

/** Edits of one night that are remembered. */
const EARLIER = 5;

/** The state in effect now, given the state at the last observation (null before the first). */
export function inEffectNow(
  before: InEffect | null,
  {
    period: { state, since },
    now,
    generation,
    calendars,
    isActive,
    createdAt,
    status,
    selection,
  }: {
    readonly period: Pick<Period, 'state' | 'since'>;
    readonly now: EpochMs;
    readonly generation: number;
    readonly calendars?: string | undefined;
    readonly isActive: boolean;
    readonly createdAt: EpochMs;
    readonly status: Pick<ScheduleStatus, 'state' | 'stateSince'>;
    readonly selection?: WorkloadSelection;
  },
): InEffect {
  const current = {
    state,
    since,
    generation,
    isActive,
    ...(calendars === undefined ? {} : { calendars }),
    ...(selection === undefined ? {} : { selection }),
  };
  if (before === null)
    return { ...current, from: Math.max(since ?? createdAt, createdAt, heldSince(status, state, now)) };
  if (isActive && !before.isActive) return { ...current, from: now };
  const isEdited = isEditedSince(before, { generation, calendars });
  if (state === before.state && (since === before.since || isEdited)) {
    const earlier = earlierSelections(before, selection, now);
    return { ...current, from: before.from, ...(earlier.length === 0 ? {} : { earlier }) };
  }
  // A transition applies from its own moment, however late it is noticed; an edit applies from now on.
  return { ...current, from: isEdited ? now : Math.max(since ?? now, before.from) };
}

/** Whether the schedule or one of its calendars is another one by now. */
export function isEditedSince(
  before: Pick<InEffect, 'generation' | 'calendars'>,
  { generation, calendars }: { readonly generation: number; readonly calendars: string | undefined },
): boolean {
  return generation !== before.generation || calendars !== before.calendars;
}

function earlierSelections(
  { selection: before, earlier = [] }: InEffect,
  selection: WorkloadSelection | undefined,
  now: EpochMs,
): NonNullable<InEffect['earlier']> {
  if (before === undefined || JSON.stringify(before) === JSON.stringify(selection)) return earlier;
  return [...earlier, { until: now, selection: before }].slice(-EARLIER);
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
