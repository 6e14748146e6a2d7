/** Whether a person has to approve, and whether before the pull request or before the merge. */
import {
  addQuantities,
  compareQuantities,
  isZero,
  parseQuantity,
  type Quantity,
  subtractQuantities,
} from '../../kernel/quantity.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { DecisionFacts, ApprovalRequirement, LimitChange } from '../model/decision.ts';
import { maxStepExceeded, type ResizePolicy } from '../policy/policy.ts';
import type { UnattendedLimit } from '../policy/unattended-limit.ts';

/**
 * The approval that a raise requires: for a step above the policy's max-step, for any raise from 0, for a limit above
 * what the platform's guardrails allow without a person, for every raise if `resizer.io/approval` says so, and for a
 * demand that only the message of an Event tells of; null where none is required. It is required before the merge, unless the policy
 * says before the pull request.
 */
export function approvalRequirementOf(
  policy: ResizePolicy,
  changes: readonly LimitChange[],
  demandByMessage = false,
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
  const beyond = changes.flatMap(({ resource, from: before, to: after }) => {
    const limit = policy.unattended?.find(
      (candidate) =>
        candidate.resource === resource &&
        compareQuantities(withShares(after, candidate, changes), parseQuantity(candidate.limit)) > 0,
    );
    return limit === undefined ? [] : [{ ...limit, before, after }];
  })[0];
  if (beyond !== undefined) {
    const message = `${beyond.resource} from ${beyond.before} to ${beyond.after} is above ${beyond.limit}, ${beyond.why}`;
    return { reason: 'GuardrailExceeded', message, ...before };
  }
  if (changes.length === 0) return null;
  if (policy.approval === 'none') return demandByMessage ? BY_MESSAGE : null;
  const what = policy.approval === 'before-pull-request' ? 'before a pull request is opened' : 'before a merge';
  const message = `every raise of this quota needs an approval ${what} (resizer.io/approval is ${policy.approval})`;
  return { reason: 'ApprovalRequired', message, ...before };
}

/** A limit, and what other raises of the same quota take from the same amount. */
function withShares(after: string, { sharedWith = [] }: UnattendedLimit, changes: readonly LimitChange[]): Quantity {
  return changes
    .filter(({ resource }) => sharedWith.includes(resource))
    .map(({ from, to }) => subtractQuantities(parseQuantity(to), parseQuantity(from)))
    .filter(({ nano }) => nano > 0n)
    .reduce(addQuantities, parseQuantity(after));
}

/** Anybody who may create Events may have written it. */
const BY_MESSAGE: ApprovalRequirement = {
  reason: 'DemandByMessage',
  message:
    'only the message of an Event tells of a part of the demand, because Headroom cannot read the object that was denied',
};

/**
 * The approval that a decision requires: for its own quota by the current policy, or else for one of its batched
 * quotas.
 *
 * @param hard the limits in force, from which the step is measured; a limit that is not in it is as it was decided.
 */
export function approvalRequirementOfDecision(
  policy: ResizePolicy,
  {
    changes,
    demandByMessage,
    batchedQuotas = [],
  }: Pick<DecisionFacts, 'changes' | 'batchedQuotas'> & Partial<Pick<DecisionFacts, 'demandByMessage'>>,
  hard: ResourceList = {},
): ApprovalRequirement | null {
  const own = approvalRequirementOf(policy, fromInForce(changes, hard), demandByMessage);
  if (own !== null) return own;
  const theirs = batchedQuotas.find(({ approvalRequirement }) => approvalRequirement !== null);
  if (!theirs?.approvalRequirement) return null;
  return { ...theirs.approvalRequirement, message: `quota ${theirs.quota}: ${theirs.approvalRequirement.message}` };
}

/** The changes as steps from the limits in force; a limit that is not among them is as it was decided. */
export function fromInForce(changes: readonly LimitChange[], hard: ResourceList): readonly LimitChange[] {
  return changes.map((change) => ({ ...change, from: hard[change.resource] ?? change.from }));
}

/** Whether the approval is required before the pull request is opened. */
export function isBeforePullRequest(approvalRequirement: ApprovalRequirement | null): boolean {
  return approvalRequirement?.before === 'pull-request';
}
