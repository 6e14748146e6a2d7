import { asyncLocalStorage } from '@temporalio/activity';
import { untilAborted } from '../../domain/kernel/until-aborted.ts';

/** The cancellation reason of Temporal's SDK when half of the worker's shutdown grace time is over. */
const WORKER_SHUTDOWN = 'WORKER_SHUTDOWN';

/**
 * A signal that aborts requests of the running activity when it is cancelled; undefined outside of an activity. A read
 * is aborted at once. A write is completed when people or the workflow cancel it, so that its outcome need not be
 * looked for later, and aborted only when the worker's shutdown has waited for it.
 */
export function requestCancellation(method: string): AbortSignal | undefined {
  const cancelled = asyncLocalStorage.getStore()?.cancellationSignal;
  if (cancelled === undefined || method === 'GET') return cancelled;
  const stopping = new AbortController();
  const onCancel = (): void => {
    if (isShutdown(cancelled)) stopping.abort(cancelled.reason);
  };
  if (cancelled.aborted) onCancel();
  else cancelled.addEventListener('abort', onCancel, { once: true });
  return stopping.signal;
}

/** Whether people or the workflow cancelled the running activity, so that it must begin nothing new. */
export function isInterrupted(): boolean {
  return interruption()();
}

/** The same of the activity that runs now, to be asked also where it is not known any more. */
export function interruption(): () => boolean {
  const cancelled = asyncLocalStorage.getStore()?.cancellationSignal;
  return () => cancelled?.aborted === true && !isShutdown(cancelled);
}

/** Runs what is done although the activity is cancelled, to put something in order or for others: its requests are not aborted. */
export function despiteCancellation<T>(cleanUp: () => Promise<T>): Promise<T> {
  return asyncLocalStorage.exit(cleanUp);
}

/**
 * What the running activity waits for, which others may wait for too.
 *
 * @throws {CancelledFailure} as soon as the activity is cancelled; what it waited for goes on.
 */
export async function unlessCancelled<T>(wait: () => Promise<T>): Promise<T> {
  const signal = asyncLocalStorage.getStore()?.cancellationSignal;
  if (signal === undefined) return await wait();
  signal.throwIfAborted();
  return await untilAborted(wait(), signal);
}

/** Runs something with a time limit, at which its reads are aborted. @throws what aborted it. */
export async function abortedAfter<T>(milliseconds: number, run: () => Promise<T>): Promise<T> {
  const limit = AbortSignal.timeout(milliseconds);
  const activity = asyncLocalStorage.getStore();
  if (activity === undefined) return await untilAborted(run(), limit);
  const cancellationSignal = AbortSignal.any([activity.cancellationSignal, limit]);
  const limited = Object.create(activity, { cancellationSignal: { value: cancellationSignal } }) as typeof activity;
  return await untilAborted(asyncLocalStorage.run(limited, run), cancellationSignal);
}

function isShutdown({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.message === WORKER_SHUTDOWN;
}
