/** Merging a pull request, by itself, through the merge queue of its base branch, or by the forge's own auto-merge. */
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import * as applyOutcome from '../../domain/quota-resize/decide/apply-outcome.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { requireState } from '../../domain/quota-resize/model/memory.ts';
import type { Act } from '../../domain/quota-resize/model/verdict.ts';
import { summary } from '../../domain/quota-resize/decide/sentences.ts';
import { brief } from '../kernel/visibility.ts';
import { ensuring } from './activities.ts';
import { type ApplyOutcome, block, emitEvent } from './report.ts';

export async function merge(
  target: QuotaTarget,
  verdict: Extract<Act, { kind: 'merge' }>,
  seen: Seen,
): Promise<ApplyOutcome> {
  const { decision, blockedKey: key } = verdict;
  const number = decision.pullRequest?.number;
  if (decision.approval !== undefined) {
    const about = { summary: brief(`approved by ${decision.approval.by}`) };
    await ensuring.ensureLeaseUpdated.executeWithOptions(about, [{ target, decision }]);
  }
  const isQueued = seen.pullRequest?.queueEntry?.isOwn === true;
  const outcome = await ensuring.ensureMerged.executeWithOptions({ summary: `pull request #${number}` }, [
    {
      target,
      decision,
      entersQueue: true,
      ...(isQueued ? { isQueued } : {}),
      ...(verdict.enablesAutoMerge === true ? { enablesAutoMerge: true } : {}),
    },
  ]);
  switch (outcome.kind) {
    case 'merged': {
      const { kind: _, ...done } = outcome;
      const merged: Decision = { ...decision, merge: done };
      await ensuring.ensureLeaseReleased.executeWithOptions({ summary: `pull request #${number} is merged` }, [
        { target, decision: merged, rejection: null },
      ]);
      const message = `${summary(decision)}: pull request #${number} is merged`;
      await emitEvent(target, seen, { reason: 'QuotaResizeMerged', message, key: decision.id });
      return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, done);
    }
    case 'queued': {
      const at = Date.now();
      return (memory) => applyOutcome.queued(requireState(memory, 'Open'), at);
    }
    case 'moved':
      return (memory) => applyOutcome.withoutEffect(memory, outcome.why);
    case 'blocked':
      return await block(target, seen, { reason: outcome.reason, message: outcome.message, key });
  }
}

/** Also during a pause: nothing else keeps the forge from merging what is in its queue, or what auto-merge is enabled for. */
export async function dequeue(
  target: QuotaTarget,
  { decision, reason }: Extract<Act, { kind: 'dequeue' }>,
): Promise<ApplyOutcome> {
  const outcome = await ensuring.ensureDequeued.executeWithOptions({ summary: reason }, [{ target, decision }]);
  return outcome.kind === 'dequeued'
    ? (memory) => applyOutcome.dequeued(requireState(memory, 'Open'))
    : (memory) => applyOutcome.withoutEffect(memory, outcome.why);
}
