/** Coalesces the changes of a namespace into few recounts: the first at once, the others after a short gap. */
import type { EpochMs } from '../kernel/time.ts';

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

/** Milliseconds between two recounts: of a namespace in which little changes, and of one in which much does. */
const GAP_MS = 75;
const BUSY_GAP_MS = 150;
/**
 * A namespace is busy with more than one change per so many milliseconds since its last recount. A controller that
 * changes a pod every second or two does not make it busy; a rolling update or a batch of jobs does.
 */
const BUSY_MS_PER_CHANGE = 500;
/** A recount takes at most the tenth part of the time, so that a huge namespace does not hold up all others. */
const SHARE = 10;
/**
 * Milliseconds: admission charges an object before it is there, and the quota's watch may tell of it after the object's.
 * By then the status is true in nearly every case, and a count finds nothing to write.
 */
const CHARGED_DEBOUNCE_MS = 200;

/**
 * Adds a change at `now`. The recount is due as soon as the interval since the last one is over, and never later than
 * before: changes in between join the pending recount.
 */
export function noteChange(before: CoalesceState, kind: ChangeKind, now: EpochMs): CoalesceState {
  const state = isForgettable(before, now) ? idleState : before;
  // If the clock was set back, a namespace must not wait for longer than its interval.
  const held = state.lastRecountAt === null ? 0 : Math.min(state.gapMs, state.lastRecountAt + state.gapMs - now);
  const due = kind === 'urgent' ? now : now + Math.max(kind === 'charged' ? CHARGED_DEBOUNCE_MS : 0, held);
  return {
    ...state,
    dueAt: state.dueAt === null ? due : Math.min(state.dueAt, due),
    changesSince: state.changesSince + 1,
  };
}

/** Records a recount at `now`. */
export function noteRecount(state: CoalesceState, now: EpochMs): CoalesceState {
  const elapsed = state.lastRecountAt === null ? Number.POSITIVE_INFINITY : now - state.lastRecountAt;
  const isBusy = elapsed < state.changesSince * BUSY_MS_PER_CHANGE;
  return { dueAt: null, gapMs: isBusy ? BUSY_GAP_MS : GAP_MS, lastRecountAt: now, changesSince: 0 };
}

/** Records how many milliseconds the last recount took. */
export function noteDuration(state: CoalesceState, tookMs: number): CoalesceState {
  return { ...state, gapMs: Math.max(state.gapMs, SHARE * tookMs) };
}

/**
 * Whether the state equals an initial one, so that it can be dropped: no change is pending, and none came for a whole
 * interval after a recount was possible.
 */
export function isForgettable(state: CoalesceState, now: EpochMs): boolean {
  if (state.dueAt !== null) return false;
  return state.lastRecountAt === null || now - state.lastRecountAt >= 2 * state.gapMs;
}
