/**
 * Coalesces the changes of a namespace into few recounts: at once while it is quiet, less and less often while it is
 * busy.
 */
import type { EpochMs } from '../kernel/time.ts';

export interface CoalesceLimits {
  /** Milliseconds: debounce of the first recount after a change. */
  readonly debounceMs: number;
  /** Milliseconds: debounce of a change that admission has probably charged already (a new object). */
  readonly chargedDebounceMs: number;
  /** Milliseconds: the longest interval between two recounts of a busy namespace. */
  readonly maxGapMs: number;
}

/** The state of one namespace. JSON only. */
export interface CoalesceState {
  /** When the next recount is due; null without a pending change. */
  readonly dueAt: EpochMs | null;
  /** Milliseconds: the minimum interval between the last recount and the next. */
  readonly gapMs: number;
  readonly lastRecountAt: EpochMs | null;
  /** Changes since the last recount. */
  readonly changesSince: number;
}

export const idleState: CoalesceState = { dueAt: null, gapMs: 0, lastRecountAt: null, changesSince: 0 };

/** A change: `moved` may free or move usage, `charged` was probably charged by admission, `urgent` is not delayed. */
export type ChangeKind = 'moved' | 'charged' | 'urgent';

/** The interval after a recount of a quiet namespace: too short to be noticed, and the value that is doubled. */
const SHORTEST_GAP_MS = 100;
/**
 * A namespace is busy with more than one change per so many milliseconds since its last recount. A controller that
 * changes a pod every second or two does not make it busy; a rolling update or a batch of jobs does.
 */
const BUSY_MS_PER_CHANGE = 500;

/** The settings may have changed since the interval was computed. */
function gapOf(state: CoalesceState, limits: CoalesceLimits): number {
  return Math.min(state.gapMs, limits.maxGapMs);
}

/** How long a change waits for others like it when nothing holds it back. */
function debounceOf(kind: Exclude<ChangeKind, 'urgent'>, limits: CoalesceLimits): number {
  return kind === 'charged' ? limits.chargedDebounceMs : limits.debounceMs;
}

/**
 * Adds a change at `now`. The recount is due after the debounce and the interval since the last recount, and never
 * later than before: changes in between join the pending recount.
 */
export function noteChange(
  before: CoalesceState,
  kind: ChangeKind,
  now: EpochMs,
  limits: CoalesceLimits,
): CoalesceState {
  const state = isForgettable(before, now, limits) ? idleState : before;
  const gap = gapOf(state, limits);
  // If the clock was set back, a namespace must not wait for longer than its interval.
  const held = state.lastRecountAt === null ? 0 : Math.min(gap, state.lastRecountAt + gap - now);
  const due = kind === 'urgent' ? now : now + Math.max(debounceOf(kind, limits), held);
  return {
    ...state,
    dueAt: state.dueAt === null ? due : Math.min(state.dueAt, due),
    changesSince: state.changesSince + 1,
  };
}

/**
 * Records a recount at `now`. The interval doubles while the namespace is busy and halves when it is not, so a recount
 * is delayed by about the time that the namespace has been busy, and by `maxGapMs` at most.
 */
export function noteRecount(state: CoalesceState, now: EpochMs, limits: CoalesceLimits): CoalesceState {
  const elapsed = state.lastRecountAt === null ? Number.POSITIVE_INFINITY : now - state.lastRecountAt;
  const isBusy = elapsed < state.changesSince * BUSY_MS_PER_CHANGE;
  const gap = isBusy ? state.gapMs * 2 : Math.floor(state.gapMs / 2);
  return {
    dueAt: null,
    gapMs: Math.min(limits.maxGapMs, Math.max(SHORTEST_GAP_MS, gap)),
    lastRecountAt: now,
    changesSince: 0,
  };
}

/**
 * Whether the state equals an initial one, so that it can be dropped: no change is pending, and none came for a whole
 * interval after a recount was possible.
 */
export function isForgettable(state: CoalesceState, now: EpochMs, limits: CoalesceLimits): boolean {
  if (state.dueAt !== null) return false;
  return state.lastRecountAt === null || now - state.lastRecountAt >= 2 * gapOf(state, limits);
}
