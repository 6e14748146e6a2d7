/** What people see of an episode besides its phase and what the memory does not hold. */
import { formatInstant } from '../../domain/kernel/time.ts';
import { approvalOf, decisionOf, type ResizeMemory } from '../../domain/quota-resize/model/memory.ts';
import { sharedWith } from '../../domain/quota-resize/decide/joined.ts';
import { approverName, linkTo } from '../../domain/quota-resize/decide/sentences.ts';
import { describeChange } from '../../domain/quota-resize/sizing/requirement.ts';

/** Kept across continue-as-new. */
export interface Shown {
  readonly approvedBy: string | null;
  /** Lines about the current decision, or about the last merged one during the cooldown. */
  readonly achieved: readonly string[];
  readonly isAchieved: boolean;
}

export const NOTHING_SHOWN: Shown = { approvedBy: null, achieved: [], isAchieved: false };

/** The memory drops an approval at the merge and the decision at the sync, but people still ask for both afterwards. */
export function nextShown(shown: Shown, memory: ResizeMemory): Shown {
  const decision = decisionOf(memory);
  const approval = approvalOf(memory);
  if (decision === null) return shown;
  const { changes, pullRequest, merge } = decision;
  const given = approval === null ? null : `${approverName(approval)} at ${formatInstant(approval.at)}`;
  const approvedBy = merge === null ? given : shown.approvedBy;
  return {
    approvedBy,
    achieved: [
      ...changes.map(describeChange),
      ...(pullRequest ? [`${linkTo(pullRequest)}${sharedWith(decision)}`] : []),
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
