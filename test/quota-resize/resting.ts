import type { Phase, Reason } from '../../domain/quota-resize/model/verdict.ts';
import type { ResizeStatus } from '../../workflows/quota-resize/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { EPISODE_MS, type WatchedQuota } from '../kernel/stack/watched-quota.ts';

/**
 * Waits until an episode rests in a phase. What people are told there, an Event or a comment, is written in the same phase
 * for the same reason: only an episode that rests says until when, and it has told everything.
 */
export async function restsIn(
  quota: WatchedQuota,
  phase: Phase,
  reason: Reason,
  withinMs = EPISODE_MS,
): Promise<ResizeStatus> {
  return await eventually(
    `${quota.workflowId} rests in ${phase} (${reason})`,
    async () => {
      const seen = await quota.status();
      return seen.phase === phase && seen.reason === reason && seen.until !== undefined && seen;
    },
    withinMs,
    quota.history(),
  );
}
