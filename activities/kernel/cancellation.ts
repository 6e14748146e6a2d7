import { asyncLocalStorage } from '@temporalio/activity';

/** The reason that Temporal's SDK gives when the worker's grace is half over. */
const WORKER_SHUTDOWN = 'WORKER_SHUTDOWN';

/**
 * Ends the requests of the activity that runs now when nobody wants their answer any more; undefined outside of an
 * activity. A read ends at once. A write is let finish when people or the workflow cancel it, so that less has to be
 * looked for afterwards, and broken off when the worker shuts down and has waited for it.
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

/** Whether people or the workflow cancelled the activity that runs now: what it has not begun is not to be begun. */
export function isInterrupted(): boolean {
  const cancelled = asyncLocalStorage.getStore()?.cancellationSignal;
  return cancelled?.aborted === true && !isShutdown(cancelled);
}

function isShutdown({ reason }: AbortSignal): boolean {
  return reason instanceof Error && reason.message === WORKER_SHUTDOWN;
}
