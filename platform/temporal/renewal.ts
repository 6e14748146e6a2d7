/** Connections to Temporal take over certificates and an API key that were replaced while the process runs. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { WaitOptions } from '../process/availability.ts';
import type { TemporalTarget } from './temporal-target.ts';

/** Mounted Secrets follow a change within a minute; the files are small. */
const LOOK_EVERY_MS = 5_000;

/** What a connection is made with. */
export type Credentials = ReturnType<TemporalTarget['connection']['reveal']>;

/**
 * Looks for other credentials until the process stops, and has them taken over. Those that Temporal rejects are logged and
 * tried again, and the ones before stay in use. Never rejects.
 *
 * @param takeOver connects with others; throws where that fails.
 * @param reasonOf one line for its error. `used` are the credentials in use.
 */
export async function keepRenewed(
  { connection }: Pick<TemporalTarget, 'connection'>,
  takeOver: (credentials: Credentials) => Promise<void>,
  reasonOf: (error: unknown) => string,
  { log, signal, used }: Pick<WaitOptions, 'log' | 'signal'> & { readonly used: Credentials },
): Promise<void> {
  let current = used;
  let rejected = '';
  for (;;) {
    await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const now = connection.reveal();
    if (isDeepStrictEqual(now, current)) continue;
    try {
      await takeOver(now);
      current = now;
      rejected = '';
      log.info('the certificates or the API key for Temporal were replaced, and are in use');
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== rejected) {
        log.warn({ reason }, `the new certificates or API key for Temporal are not taken over: ${reason}`);
      }
      rejected = reason;
    }
  }
}
