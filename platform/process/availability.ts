import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';

export interface WaitOptions {
  readonly log: Log;
  /** Ends the wait; it then throws the signal's reason. */
  readonly signal: AbortSignal;
  /** Told of every failed attempt, and of the success with `undefined`: for the readiness of the process. */
  readonly onWait?: (reason: string | undefined) => void;
}

const FIRST_PAUSE_MS = 250;
// Long enough not to burden a server that comes back, short enough that nobody waits for us then.
const LONGEST_PAUSE_MS = 5_000;
const LOG_EVERY_MS = 10_000;
/** Between two looks at a server that was there: two for each of a probe's usual ten seconds. */
const CHECK_EVERY_MS = 5_000;

/**
 * Tries until it succeeds or the process stops, with growing pauses. The first failure, then one line every ten seconds,
 * and every new reason says what is awaited and why.
 *
 * @param what the server and where it is: "Temporal at localhost:7233".
 * @param reasonOf one line from the error of an attempt.
 */
export async function untilAvailable<T>(
  what: string,
  attempt: () => Promise<T>,
  reasonOf: (error: unknown) => string,
  { log, signal, onWait }: WaitOptions,
): Promise<T> {
  const started = Date.now();
  let lastLine = { at: Number.NEGATIVE_INFINITY, reason: '' };
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      const result = await attempt();
      const waited = Math.round((Date.now() - started) / 1000);
      if (lastLine.reason !== '') log.info({ waitedSeconds: waited }, `${what} is there after ${waited} s`);
      onWait?.(undefined);
      return result;
    } catch (error) {
      signal.throwIfAborted();
      const reason = reasonOf(error);
      onWait?.(`waiting for ${what}: ${reason}`);
      if (reason !== lastLine.reason || Date.now() - lastLine.at >= LOG_EVERY_MS) {
        log.warn({ reason }, `waiting for ${what}: ${reason}`);
        lastLine = { at: Date.now(), reason };
      }
    }
    // Between a half and the whole pause, so that many processes do not come back in step.
    await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * Looks every few seconds whether a server that was there still is, and says what the process waits for while it is not,
 * until the process stops. Never rejects.
 */
export async function watchAvailability<T>(
  what: string,
  attempt: () => Promise<T>,
  reasonOf: (error: unknown) => string,
  options: WaitOptions,
): Promise<void> {
  const { signal } = options;
  try {
    for (;;) {
      await sleep(CHECK_EVERY_MS, undefined, { signal });
      await untilAvailable(what, attempt, reasonOf, options);
    }
  } catch {
    // Both only end with the signal.
  }
}
