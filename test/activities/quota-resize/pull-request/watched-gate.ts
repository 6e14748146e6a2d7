/** The gate before a merge, as it is asked and answers. */
import { ApplicationFailure } from '@temporalio/common';
import type { MergeGate } from '../../../../activities/quota-resize/pull-request/merge-gate.ts';
import type { Decision, PullRequestRef } from '../../../../domain/quota-resize/model/decision.ts';
import { candidates, decide, open, openGate, target, type Worker } from '../gitops-fixture.ts';

/** What the gate is asked, and what it hears; it refuses while `refuses` is true. */
export function watchedGate() {
  const heard: string[] = [];
  const state: { refuses: boolean; decision: Decision | null } = { refuses: false, decision: null };
  const given = openGate(() => {
    const { decision } = state;
    const pullRequest = decision?.pullRequest ?? null;
    if (decision === null || pullRequest === null) throw new Error('no pull request');
    return Promise.resolve({ ...decision, pullRequest, merge: null });
  });
  const gate: MergeGate = {
    ...given,
    async merging(owner, asked, merge, reviews) {
      heard.push('asked');
      if (state.refuses) {
        throw ApplicationFailure.create({ type: 'PolicyChanged', message: 'the totals are full', nonRetryable: true });
      }
      return await given.merging(
        owner,
        asked,
        async (checked, expect) =>
          await merge(checked, async () => {
            heard.push('expected');
            return await expect();
          }),
        reviews,
      );
    },
    refused: () => {
      heard.push('refused');
      return Promise.resolve();
    },
    ended: () => {
      heard.push('ended');
      return Promise.resolve();
    },
  };
  return { gate, heard, state };
}

/** A decision that says itself where its values are, as that of a Lease does. */
export async function openPlaced(worker: Worker): Promise<Decision & { pullRequest: PullRequestRef }> {
  const limits = { 'requests.cpu': '3600m' };
  const source = await worker.activities.observeSource({ target, limits, candidates });
  if (source.kind !== 'found') throw new Error(source.message);
  return await open(worker, decide(undefined, { source }));
}
