/** What attempts of an activity leave to those after them, in the details of its heartbeat: lost where a process is killed. */
import { asyncLocalStorage } from '@temporalio/activity';
import { isRecord } from '../../../domain/kernel/record.ts';
import type { ScaledUp } from '../interface.ts';

export interface Progress {
  /** What was created; null where nothing was, or nobody knows. */
  readonly created: Extract<ScaledUp, { kind: 'created' }> | null;
  /** The machines that were given up, each a sentence. */
  readonly failed: readonly string[];
}

export function progressBefore(): Progress {
  const details: unknown = asyncLocalStorage.getStore()?.info.heartbeatDetails;
  return isRecord(details) && Array.isArray(details['failed'])
    ? (details as unknown as Progress)
    : { created: null, failed: [] };
}

export function keepProgress(progress: Progress): void {
  asyncLocalStorage.getStore()?.heartbeat(progress);
}
