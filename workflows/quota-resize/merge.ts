/** Merging a pull request, by itself, through the merge queue of its base branch, or by the forge's own auto-merge. */
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import type { Act } from '../../domain/quota-resize/model/verdict.ts';
import { summary } from '../../domain/quota-resize/decide/sentences.ts';
import { brief } from '../kernel/visibility.ts';
import type { Acting } from './acting.ts';
import { ensuring } from './activities.ts';
import { stepsObserve } from './quota-reader.ts';
import { type ApplyOutcome, block, eventOf, releaseWithEvent } from './report.ts';

export async function merge(acting: Acting, verdict: Extract<Act, { kind: 'merge' }>): Promise<ApplyOutcome> {
  const { target, seen, quota } = acting;
  const { decision, blockedKey: key } = verdict;
  const number = decision.pullRequest?.number;
  if (decision.approval !== undefined) {
    const about = { summary: brief(`approved by ${decision.approval.by}`) };
    await ensuring.ensureLeaseUpdated.executeWithOptions(about, [{ target, decision }]);
  }
  const isQueued = seen.pullRequest?.queueEntry?.isOwn === true;
  const reason = `pull request #${number} is merged`;
  const event = { reason: 'QuotaResizeMerged', message: `${summary(decision)}: ${reason}`, key: decision.id } as const;
  const writes = stepsObserve() ? eventOf(acting, event) : null;
  const outcome = await ensuring.ensureMerged.executeWithOptions({ summary: `pull request #${number}` }, [
    {
      target,
      decision,
      entersQueue: true,
      ...(writes === null ? {} : { event: writes, ...quota.asks() }),
      ...(isQueued ? { isQueued } : {}),
      ...(verdict.enablesAutoMerge === true ? { enablesAutoMerge: true } : {}),
    },
  ]);
  switch (outcome.kind) {
    case 'merged': {
      const { kind: _, concluded, ...done } = outcome;
      const merged: Decision = { ...decision, merge: done };
      if (concluded === undefined) {
        await releaseWithEvent(acting, { decision: merged, rejection: null }, { reason, event });
      } else quota.found(concluded);
      return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, done);
    }
    case 'queued': {
      const at = Date.now();
      return (memory) => applyOutcome.queued(requireState(memory, 'Open'), at);
    }
    case 'moved':
      return (memory) => applyOutcome.withoutEffect(memory, outcome.why);
    case 'blocked':
      return await block(acting, { reason: outcome.reason, message: outcome.message, key });
  }
}

/** Also during a pause: nothing else keeps the forge from merging what is in its queue, or what auto-merge is enabled for. */
export async function dequeue(
  { target }: Acting,
  { decision, reason }: Extract<Act, { kind: 'dequeue' }>,
): Promise<ApplyOutcome> {
  const outcome = await ensuring.ensureDequeued.executeWithOptions({ summary: reason }, [{ target, decision }]);
  return outcome.kind === 'dequeued'
    ? (memory) => applyOutcome.dequeued(requireState(memory, 'Open'))
    : (memory) => applyOutcome.withoutEffect(memory, outcome.why);
}
