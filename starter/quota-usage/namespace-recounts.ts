import type { MonotonicMs } from '../../domain/kernel/time.ts';
import {
  type ChangeKind,
  type CoalesceState,
  idleState,
  isForgettable,
  noteChange,
  noteDuration,
  noteRecount,
} from '../../domain/quota-usage/coalesce.ts';

interface PendingNamespace {
  state: CoalesceState;
  timer: Timer | null;
  /** When the first change that no recount has included happened. */
  changedAt: MonotonicMs | null;
}

interface Timer {
  readonly clear: () => void;
}

/** Calls back after so many milliseconds; without any, when the events that have arrived together are processed. */
function startTimer(callback: () => void, ms: number): Timer {
  if (ms > 0) {
    const timeout = setTimeout(callback, ms);
    return { clear: () => clearTimeout(timeout) };
  }
  const immediate = setImmediate(callback);
  return { clear: () => clearImmediate(immediate) };
}

/**
 * Schedules the recounts of each namespace: soon after a change in a quiet one, less often in a busy one. The domain
 * has the rule; this class has the timers.
 */
export class NamespaceRecounts {
  readonly #recount: (namespace: string, changedAt: MonotonicMs) => void;
  readonly #namespaces = new Map<string, PendingNamespace>();
  #stopped = false;

  /** @param recount counts the quotas of a namespace; `changedAt` is the moment of the oldest change that it is for. */
  constructor(recount: (namespace: string, changedAt: MonotonicMs) => void) {
    this.#recount = recount;
  }

  /** Adds a change in the namespace. */
  note(namespace: string, kind: ChangeKind): void {
    if (this.#stopped) return;
    const now = performance.now();
    const pending = this.#namespaces.get(namespace) ?? { state: idleState, timer: null, changedAt: null };
    this.#namespaces.set(namespace, pending);
    const before = pending.state.dueAt;
    pending.state = noteChange(pending.state, kind, now);
    pending.changedAt ??= now;
    const { dueAt } = pending.state;
    if (dueAt === null || (pending.timer !== null && dueAt === before)) return;
    pending.timer?.clear();
    pending.timer = startTimer(() => this.#due(namespace, pending), dueAt - now);
  }

  /** Namespaces with a change that is not counted yet. */
  get waiting(): number {
    return [...this.#namespaces.values()].filter(({ timer }) => timer !== null).length;
  }

  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#namespaces.values()) timer?.clear();
    this.#namespaces.clear();
  }

  #due(namespace: string, pending: PendingNamespace): void {
    const now = performance.now();
    const changedAt = pending.changedAt ?? now;
    pending.timer = null;
    pending.changedAt = null;
    const began = performance.now();
    pending.state = noteRecount(pending.state, now);
    this.#recount(namespace, changedAt);
    pending.state = noteDuration(pending.state, performance.now() - began);
    this.#forgetQuiet(now);
  }

  /** Periodically drops quiet namespaces, so that deleted ones leave nothing behind. */
  #forgetQuiet(now: number): void {
    if (this.#namespaces.size < FORGET_FROM) return;
    for (const [name, { state, timer }] of this.#namespaces) {
      if (timer === null && isForgettable(state, now)) this.#namespaces.delete(name);
    }
  }
}

/** Below this number dropping is not worthwhile. */
const FORGET_FROM = 256;
