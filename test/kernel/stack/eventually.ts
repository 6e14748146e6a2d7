import { setTimeout as sleep } from 'node:timers/promises';

/** Looks again every 50 ms: what is awaited here takes from milliseconds to seconds. */
const EVERY_MS = 50;

/**
 * Asks until the answer is not undefined, null or false.
 *
 * @param what for the message when it never comes: "the pull request is merged".
 * @throws Error after `withinMs` milliseconds, with the last answer's error.
 */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | null | false> | T | undefined | null | false,
  withinMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    let problem = '';
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
    } catch (error) {
      problem = ` (${error instanceof Error ? error.message : String(error)})`;
    }
    if (Date.now() > deadline) throw new Error(`waited ${withinMs / 1000} s in vain until ${what}${problem}`);
    await sleep(EVERY_MS);
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
    await sleep(EVERY_MS);
  }
}
