/**
 * The messages between writers to GitHub and the budget workflow. Names and formats must not change, because workflow
 * histories contain them.
 */
import type { BudgetLimits } from './limits.ts';
import { type WritePriority, writePriorities } from './write-priority.ts';

/** The signal that asks for permits: `Questions`. */
export const ASKED = 'permitsAsked';

/** The key in the budget's memo with the latest `Answers` for one asking process. */
export function answersKey(from: string): string {
  return `answers to ${from}`;
}

/** The signal that GitHub rate-limited a request: `Limited`. */
export const LIMITED = 'limited';

/** One write to GitHub that needs a permit. */
export interface Ask {
  /** Identifies the write: the same in every attempt, so that a retry keeps its place in the queue. */
  readonly id: string;
  /**
   * Identifies the question of one attempt: the same while one caller keeps asking for one use. It distinguishes a
   * permit that never reached its caller, which is given again, from one that may have been used.
   */
  readonly call: string;
  readonly priority: WritePriority;
  /** The quota of the write: `team-a/compute`. */
  readonly target: string;
  readonly cluster: string;
  /** The kind of write: "open pull request". */
  readonly write: string;
  /** How many permits it takes: one request may make several things. Absent: one. */
  readonly permits?: number;
}

/** Questions that arrive together, from one process or several. */
export interface Asked {
  readonly asks: readonly Ask[];
  /** As configured in the asking process; the latest ones apply to all. */
  readonly limits: BudgetLimits;
}

/** The questions of one process at one moment; at least one. */
export interface Questions extends Asked {
  /** Identifies the process, so that it finds its answers. */
  readonly from: string;
  /** The sequence number of the process's questions. */
  readonly batch: number;
}

export type Answer =
  | { readonly granted: true }
  | {
      readonly granted: false;
      /** From 1 on, by priority and then by arrival. */
      readonly position: number;
      /** The length of the queue. */
      readonly of: number;
      /**
       * Milliseconds after which asking again is worthwhile. A span and not a moment, because the clocks of two
       * machines differ.
       */
      readonly waitMs: number;
      /** Why nobody gets a permit, when the reason is not only the queue. */
      readonly because?: string;
    };

export interface Answers {
  readonly batch: number;
  /** In the order of the questions. */
  readonly answers: readonly Answer[];
}

export interface Limited {
  readonly waitMs: number;
  /** GitHub's message. */
  readonly words: string;
}

/** Whether a signal's payload is valid; a signal cannot be rejected, so an invalid one is ignored. */
export function isQuestions(raw: unknown): raw is Questions {
  const { from, batch, asks, limits } = fieldsOf(raw);
  return (
    typeof from === 'string' &&
    typeof batch === 'number' &&
    Array.isArray(asks) &&
    asks.length > 0 &&
    asks.every(isAsk) &&
    isBudgetLimits(limits)
  );
}

function isAsk(raw: unknown): raw is Ask {
  const ask = fieldsOf(raw);
  const isText = ['id', 'call', 'target', 'cluster', 'write'].every((field) => typeof ask[field] === 'string');
  const { permits = 1 } = ask;
  const isCount = typeof permits === 'number' && Number.isInteger(permits) && permits > 0;
  return isText && isCount && writePriorities.some((priority) => priority === ask['priority']);
}

/** Whether a payload says for how long GitHub limits requests. */
export function isLimited(raw: unknown): raw is Limited {
  const { waitMs, words } = fieldsOf(raw);
  return isAboveZero(waitMs) && typeof words === 'string';
}

function isBudgetLimits(raw: unknown): raw is BudgetLimits {
  const { windows, validMs } = fieldsOf(raw);
  return isAboveZero(validMs) && Array.isArray(windows) && windows.length > 0 && windows.every(isWindow);
}

function isWindow(raw: unknown): boolean {
  const { ms, most } = fieldsOf(raw);
  return isAboveZero(ms) && isAboveZero(most) && Number.isInteger(most);
}

function isAboveZero(raw: unknown): raw is number {
  return typeof raw === 'number' && Number.isFinite(raw) && raw > 0;
}

function fieldsOf(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
}
