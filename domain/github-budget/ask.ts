/** What is said between those who write to GitHub and the budget. Names and forms are fixed: histories hold them. */
import type { BudgetLimits } from './limits.ts';
import { type WritePriority, writePriorities } from './write-priority.ts';

/** The signal by which permits are asked for: `Questions`. */
export const ASKED = 'permitsAsked';

/** The key of the budget's memo that has the `Answers` to what one asker asked last. */
export function answersKey(from: string): string {
  return `answers to ${from}`;
}

/** The signal that GitHub refused a request for one of its limits: `Limited`. */
export const LIMITED = 'limited';

/** One write to GitHub that somebody wants to make. */
export interface Ask {
  /** Names the write: the same in every attempt at it, so that an attempt that comes back has its place in the queue still. */
  readonly id: string;
  /**
   * Names this attempt's question: the same while one caller goes on asking for one use. It is how a permit that never
   * reached its asker is told from one that may have been used: only the former is given again.
   */
  readonly call: string;
  readonly priority: WritePriority;
  /** For whom: `team-a/compute`. */
  readonly target: string;
  readonly cluster: string;
  /** What: "open pull request". */
  readonly write: string;
}

/** What is asked at one moment, by one or by several. */
export interface Asked {
  readonly asks: readonly Ask[];
  /** As the asker is configured; the newest ones hold for all. */
  readonly limits: BudgetLimits;
}

/** What one process asks at one moment. At least one question. */
export interface Questions extends Asked {
  /** Names the asker, so that it finds its answers. */
  readonly from: string;
  /** Counts the questions of the asker. */
  readonly batch: number;
}

export type Answer =
  | { readonly granted: true }
  | {
      readonly granted: false;
      /** From 1 on, by urgency and then by arrival. */
      readonly position: number;
      /** How many wait. */
      readonly of: number;
      /** Milliseconds until it is worth asking again. A span and not a moment: clocks of two machines differ. */
      readonly waitMs: number;
      /** Why nobody gets a permit, where it is not only a matter of the place. */
      readonly because?: string;
    };

export interface Answers {
  readonly batch: number;
  /** In the order of the questions. */
  readonly answers: readonly Answer[];
}

export interface Limited {
  readonly waitMs: number;
  /** GitHub's own words. */
  readonly words: string;
}

/** Whether what came over the wire is questions; a signal cannot be refused, so anything else is left alone. */
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
  return isText && writePriorities.some((priority) => priority === ask['priority']);
}

/** Whether what people or an activity sent says for how long GitHub limits. */
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
