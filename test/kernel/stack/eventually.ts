import { setTimeout as sleep } from 'node:timers/promises';
import type { HistoryWatch } from './history-watch.ts';

/** Milliseconds between two questions at first: what is awaited here takes from milliseconds to seconds. */
const EVERY_MS = 50;
/** Milliseconds between two questions later. A question costs the servers and the worker several milliseconds of a core. */
const EVERY_AT_MOST_MS = 500;
/** Milliseconds between two questions whether something happens that must not: what they ask about stays true for longer. */
const NEVER_EVERY_MS = 250;

/**
 * Milliseconds until the next question. After a long wait the next one may be a quarter longer, and a question that the
 * servers need long for is asked less often. Questions every 50 ms took a quarter of the cores from what a dozen tests at
 * once wait for.
 */
function pause(waitedMs: number, askedForMs: number): number {
  return Math.max(EVERY_MS, Math.min(waitedMs / 4, EVERY_AT_MOST_MS), Math.min(askedForMs * 2, 500));
}

/** Milliseconds that a question asked at the last moment may take. One without an end would say nothing of what it was. */
const LAST_ANSWER_MS = 20_000;

async function answerOf<T>(ask: () => Promise<T> | T, withinMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('the last question was not answered')), withinMs);
  });
  try {
    return await Promise.race([ask(), overdue]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Asks until the answer is not undefined, null or false.
 *
 * @param what for the message when it never comes: "the pull request is merged"; a function says it when it is needed.
 * @param history of the workflow that is asked: its next event is waited for, in place of a span of time.
 * @throws Error after `withinMs` milliseconds, with the last answer's error.
 */
export async function eventually<T>(
  what: string | (() => string),
  ask: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = 60_000,
  history?: HistoryWatch,
): Promise<T> {
  const started = Date.now();
  for (;;) {
    const asked = Date.now();
    let problem = '';
    await history?.mark();
    try {
      const answer = await answerOf(ask, started + withinMs - asked + LAST_ANSWER_MS);
      if (answer !== undefined && answer !== null && answer !== false) return answer;
    } catch (error) {
      problem = ` (${error instanceof Error ? error.message : String(error)})`;
    }
    const now = Date.now();
    if (now > started + withinMs) {
      const condition = typeof what === 'string' ? what : what();
      throw new Error(`waited ${withinMs / 1000} s in vain until ${condition}${problem}`);
    }
    await (history === undefined ? sleep(pause(now - started, now - asked)) : history.next());
  }
}

/**
 * Proves that something does not happen: asks for the whole span, and gives up as soon as it is true.
 *
 * @throws Error as soon as `ask` is true.
 */
export async function never(what: string, ask: () => Promise<boolean> | boolean, forMs: number): Promise<void> {
  const deadline = Date.now() + forMs;
  while (Date.now() < deadline) {
    if (await ask()) throw new Error(`it happened after all: ${what}`);
    await sleep(NEVER_EVERY_MS);
  }
}
