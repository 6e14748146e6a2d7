/** What people see of an episode besides its phase, and the memory does not hold. */
import { formatInstant } from '../../domain/kernel/time.ts';
import { approvalOf, decisionOf, type ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import { describeChange } from '../../domain/quota-resize/sizing/requirement.ts';

/** It is the same before and after continue-as-new. */
export interface Shown {
  readonly approvedBy: string | null;
  /** The decision in hand, or the last one that was merged, in the details of the cooldown. */
  readonly achieved: readonly string[];
  readonly isAchieved: boolean;
}

export const NOTHING_SHOWN: Shown = { approvedBy: null, achieved: [], isAchieved: false };

/** The memory forgets an approval with the merge, and the decision with the sync; people still ask for both. */
export function nextShown(shown: Shown, memory: ResizeMemory): Shown {
  const decision = decisionOf(memory);
  const approval = approvalOf(memory);
  if (decision === null) return shown;
  const { changes, pullRequest, merge } = decision;
  const given = approval === null ? null : `${approval.by} at ${formatInstant(approval.at)}`;
  const approvedBy = merge === null ? given : shown.approvedBy;
  return {
    approvedBy,
    achieved: [
      ...changes.map(describeChange),
      ...(pullRequest ? [`pull request [#${pullRequest.number}](${pullRequest.url})`] : []),
      ...(approvedBy === null ? [] : [`approved by ${approvedBy}`]),
      ...(merge ? [`merged ${formatInstant(merge.at)} by ${merge.by}`] : []),
    ],
    isAchieved: merge !== null,
  };
}

/** The lines about the decision. */
export function decisionFacts({ achieved, isAchieved }: Shown, { state }: ResizeMemory): readonly string[] {
  return state.kind !== 'Idle' || isAchieved ? achieved : [];
}
