/** Coalesces the changes of a namespace into few recounts: at once while little changes, after a gap while much does. */
import type { MonotonicMs } from '../kernel/time.ts';

/** The state of one namespace. JSON only. */
export interface CoalesceState {
  /** When the next recount is due; null without a pending change. */
  readonly dueAt: MonotonicMs | null;
  /** Milliseconds: the minimum interval between the last recount and the next. */
  readonly gapMs: number;
  readonly lastRecountAt: MonotonicMs | null;
  /** How many recounts may follow the last one without a gap; a fraction grows to a whole one with time. */
  readonly credit: number;
}

/** A change: `moved` may free or move usage, `charged` was probably charged by admission, `urgent` is not delayed. */
export type ChangeKind = 'moved' | 'charged' | 'urgent';

/** Milliseconds between two recounts of a namespace whose credit is used up: at first, doubled each time, and at most. */
const FIRST_GAP_MS = 20;
const GAP_MS = 150;
/**
 * So many recounts of a namespace follow each other without a gap, and one more for each span of time since. A controller
 * that changes a pod every second or two never waits, and neither does somebody who ends a few pods at once; a rolling update
 * and a batch of jobs are counted at the pace of the gap.
 */
const CREDIT = 4;
const MS_PER_CREDIT = 500;
/** A recount takes at most the tenth part of the time, so that a huge namespace does not hold up all others. */
const SHARE = 10;
/**
 * Milliseconds: admission charges an object before it is there, and the quota's watch may tell of it after the object's.
 * By then the status is true in nearly every case, and a count finds nothing to write.
 */
const CHARGED_DEBOUNCE_MS = 200;

export const idleState: CoalesceState = { dueAt: null, gapMs: 0, lastRecountAt: null, credit: CREDIT };

/**
 * Adds a change at `now`. The recount is due as soon as the interval since the last one is over, and never later than
 * before: changes in between join the pending recount.
 */
export function noteChange(before: CoalesceState, kind: ChangeKind, now: MonotonicMs): CoalesceState {
  const state = isForgettable(before, now) ? idleState : before;
  // If the clock was set back, a namespace must not wait for longer than its interval.
  const held = state.lastRecountAt === null ? 0 : Math.min(state.gapMs, state.lastRecountAt + state.gapMs - now);
  const due = kind === 'urgent' ? now : now + Math.max(kind === 'charged' ? CHARGED_DEBOUNCE_MS : 0, held);
  return {
    ...state,
    dueAt: state.dueAt === null ? due : Math.min(state.dueAt, due),
  };
}

/** Records a recount at `now`. */
export function noteRecount(state: CoalesceState, now: MonotonicMs): CoalesceState {
  const credit = Math.max(0, creditAt(state, now) - 1);
  const gapMs = credit >= 1 ? 0 : Math.min(GAP_MS, Math.max(FIRST_GAP_MS, 2 * state.gapMs));
  return { dueAt: null, gapMs, lastRecountAt: now, credit };
}

/** The credit at a moment; none is lost where the clock was set back. */
function creditAt({ lastRecountAt, credit }: CoalesceState, now: MonotonicMs): number {
  const elapsed = lastRecountAt === null ? 0 : Math.max(0, now - lastRecountAt);
  return Math.min(CREDIT, credit + elapsed / MS_PER_CREDIT);
}

/** Records how many milliseconds the last recount took. */
export function noteDuration(state: CoalesceState, tookMs: number): CoalesceState {
  return { ...state, gapMs: Math.max(state.gapMs, SHARE * tookMs) };
}

/** Whether the state equals an initial one, so that it can be dropped: no change is pending, and no recount has to wait. */
export function isForgettable(state: CoalesceState, now: MonotonicMs): boolean {
  if (state.dueAt !== null) return false;
  if (state.lastRecountAt === null) return true;
  return now - state.lastRecountAt >= state.gapMs && creditAt(state, now) === CREDIT;
}
