import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log/log.ts';

export interface WaitOptions {
  readonly log: Log;
  /** Ends the wait; it then throws the signal's reason. */
  readonly signal: AbortSignal;
  /**
   * Called after every failed attempt with the reason, and after the success with `undefined`; for the readiness of the
   * process.
   */
  readonly onWait?: (reason: string | undefined) => void;
}

const FIRST_PAUSE_MS = 250;
// Long enough not to burden a server that comes back, short enough that nobody notices the delay.
const LONGEST_PAUSE_MS = 5_000;
const LOG_EVERY_MS = 10_000;
/** Interval of checks: two per period of ten seconds of a usual probe. */
const CHECK_EVERY_MS = 5_000;

/**
 * Repeats an attempt with exponential backoff until it succeeds or the process stops. The first failure, then one line
 * every ten seconds, and every new reason are logged.
 *
 * @param what the server and its address: "Temporal at localhost:7233".
 * @param reasonOf returns one line for an error.
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
    // Jitter between a half and the whole backoff, so that many processes do not retry at the same time.
    await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/**
 * Checks every few seconds that a server is still available, and logs the reason while it is not, until the process
 * stops. Never rejects.
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
