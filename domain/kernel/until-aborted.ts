/**
 * What a promise comes to, unless a signal aborts before.
 *
 * @throws the reason of the signal, as soon as it aborts; the promise is not waited for any longer.
 */
export async function untilAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([answer, aborted.promise]);
  } finally {
    // A time limit lives on until it is over, and with it whatever listens: for half a minute that was every answer.
    signal.removeEventListener('abort', onAbort);
  }
}
