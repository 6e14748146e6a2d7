import { setTimeout as sleep } from 'node:timers/promises';

/** npm passes a Ctrl-C on that the terminal has sent already, so one key press arrives twice within milliseconds. */
const ONE_KEY_PRESS_MS = 500;

/** 128 + 2: what a shell says of a program that Ctrl-C ended. */
export const INTERRUPTED = 130;

/**
 * Aborted by the first Ctrl-C or SIGTERM, for an orderly end. Another one ends the process at once; the servers go with it,
 * because whatever supervises them sees the process end.
 */
export function interruptSignal(): AbortSignal {
  const interrupt = new AbortController();
  let first = 0;
  const onSignal = (): void => {
    if (!interrupt.signal.aborted) {
      first = Date.now();
      interrupt.abort();
    } else if (Date.now() - first > ONE_KEY_PRESS_MS) process.exit(INTERRUPTED);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return interrupt.signal;
}

/** Resolves when the signal is aborted, at once if it is already. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** Ends the process at an interrupt before everything is started: what it has started goes with it. */
export async function unlessInterrupted<Parts>(
  { interrupt }: { readonly interrupt: AbortSignal },
  start: () => Promise<Parts>,
): Promise<Parts> {
  const interrupted = untilAborted(interrupt).then(() => 'interrupted' as const);
  const parts = await Promise.race([start(), interrupted]);
  if (parts === 'interrupted') process.exit(INTERRUPTED);
  return parts;
}

/** Waits so many milliseconds, or until the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
