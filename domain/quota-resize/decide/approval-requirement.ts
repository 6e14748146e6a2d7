/** Whether a person has to approve, and whether before the pull request or before the merge. */
import { isZero, parseQuantity } from '../../kernel/quantity.ts';
import type { DecisionFacts, ApprovalRequirement, LimitChange } from '../model/decision.ts';
import { maxStepExceeded, type ResizePolicy } from '../policy/policy.ts';

/**
 * The approval that a raise requires: for a step above the policy's max-step, for any raise from 0, and for every raise
 * if `resizer.io/approval` says so; null where none is required. It is required before the merge, unless the policy
 * says before the pull request.
 */
export function approvalRequirementOf(
  policy: ResizePolicy,
  changes: readonly LimitChange[],
): ApprovalRequirement | null {
  const before = policy.approval === 'before-pull-request' ? { before: 'pull-request' as const } : {};
  const from = Object.fromEntries(changes.map((change) => [change.resource, change.from]));
  const to = Object.fromEntries(changes.map((change) => [change.resource, change.to]));
  const exceeded = maxStepExceeded(policy, from, to);
  const fromZero = exceeded.find((step) => isZero(parseQuantity(step.from)));
  if (fromZero !== undefined) {
    const message = `${fromZero.resource} is 0, which is deliberate, and would become ${fromZero.to}`;
    return { reason: 'RaiseFromZero', message, ...before };
  }
  const [first] = exceeded;
  if (first !== undefined) {
    const message = `${first.resource} from ${first.from} to ${first.to} is more than ${policy.maxStep} × the limit (resizer.io/max-step)`;
    return { reason: 'MaxStepExceeded', message, ...before };
  }
  if (policy.approval === 'none' || changes.length === 0) return null;
  const what = policy.approval === 'before-pull-request' ? 'before a pull request is opened' : 'before a merge';
  const message = `every raise of this quota needs an approval ${what} (resizer.io/approval is ${policy.approval})`;
  return { reason: 'ApprovalRequired', message, ...before };
}

/**
 * The approval that a decision requires: for its own quota by the current policy, or else for one of its batched
 * quotas.
 */
export function approvalRequirementOfDecision(
  policy: ResizePolicy,
  { changes, batchedQuotas = [] }: Pick<DecisionFacts, 'changes' | 'batchedQuotas'>,
): ApprovalRequirement | null {
  const own = approvalRequirementOf(policy, changes);
  if (own !== null) return own;
  const theirs = batchedQuotas.find(({ approvalRequirement }) => approvalRequirement !== null);
  if (!theirs?.approvalRequirement) return null;
  return { ...theirs.approvalRequirement, message: `quota ${theirs.quota}: ${theirs.approvalRequirement.message}` };
}

/** Whether the approval is required before the pull request is opened. */
export function isBeforePullRequest(approvalRequirement: ApprovalRequirement | null): boolean {
  return approvalRequirement?.before === 'pull-request';
}
