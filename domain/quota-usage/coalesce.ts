/** Makes few recounts of the many changes of one namespace: at once where it is quiet, ever less often while it is busy. */
import type { EpochMs } from '../kernel/time.ts';

export interface CoalesceLimits {
  /** Milliseconds: the first recount after a change waits this long for others that come with it. */
  readonly debounceMs: number;
  /** Milliseconds: how long a change waits that admission has most likely charged already (an object that came). */
  readonly chargedDebounceMs: number;
  /** Milliseconds: the longest gap between two recounts of a namespace however busy it is. */
  readonly maxGapMs: number;
}

/** What is known of one namespace. JSON only. */
export interface CoalesceState {
  /** When it is to be recounted; null while no change waits for it. */
  readonly dueAt: EpochMs | null;
  /** Milliseconds: how long after the last recount the next one may be at the earliest. */
  readonly gapMs: number;
  readonly lastRecountAt: EpochMs | null;
  /** Changes since the last recount. */
  readonly changesSince: number;
}

export const idleState: CoalesceState = { dueAt: null, gapMs: 0, lastRecountAt: null, changesSince: 0 };

/** A change: `moved` frees or moves usage, `charged` was most likely charged by admission, `urgent` is not held back. */
export type ChangeKind = 'moved' | 'charged' | 'urgent';

/** The gap after a recount of a quiet namespace. A second change is not noticeably late by it, and it is what doubles. */
const SHORTEST_GAP_MS = 100;
/**
 * A namespace with more than one change in so many milliseconds since its last recount is busy. A controller that moves a
 * pod every second or two is not; a rollout or a batch of jobs is.
 */
const BUSY_MS_PER_CHANGE = 500;

/** The settings may have changed since the gap was found. */
function gapOf(state: CoalesceState, limits: CoalesceLimits): number {
  return Math.min(state.gapMs, limits.maxGapMs);
}

/** How long a change waits for others like it when nothing holds it back. */
function debounceOf(kind: Exclude<ChangeKind, 'urgent'>, limits: CoalesceLimits): number {
  return kind === 'charged' ? limits.chargedDebounceMs : limits.debounceMs;
}

/**
 * A change at `now`. It is due when it has settled and the gap since the last recount is over, and never later than a change
 * before it: what comes in between comes along.
 */
export function noteChange(
  before: CoalesceState,
  kind: ChangeKind,
  now: EpochMs,
  limits: CoalesceLimits,
): CoalesceState {
  const state = isForgettable(before, now, limits) ? idleState : before;
  const gap = gapOf(state, limits);
  // A clock that was set back must not hold a namespace for longer than its gap.
  const held = state.lastRecountAt === null ? 0 : Math.min(gap, state.lastRecountAt + gap - now);
  const due = kind === 'urgent' ? now : now + Math.max(debounceOf(kind, limits), held);
  return {
    ...state,
    dueAt: state.dueAt === null ? due : Math.min(state.dueAt, due),
    changesSince: state.changesSince + 1,
  };
}

/**
 * The namespace was recounted at `now`. The gap doubles while it is busy and halves when it is not, so a recount is late by
 * about as long as the namespace has been busy, `maxGapMs` at most.
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
 * Whether the state says nothing that an idle one does not, so that it can be forgotten: no change waits, and none came for a
 * whole gap after one was allowed to be counted again.
 */
export function isForgettable(state: CoalesceState, now: EpochMs, limits: CoalesceLimits): boolean {
  if (state.dueAt !== null) return false;
  return state.lastRecountAt === null || now - state.lastRecountAt >= 2 * gapOf(state, limits);
}
