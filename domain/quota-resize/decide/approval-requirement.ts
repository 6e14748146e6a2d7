/** Whether a person has to agree, and before what. */
import { isZero, parseQuantity } from '../../kernel/quantity.ts';
import type { DecisionFacts, Gate, LimitChange } from '../model/decision.ts';
import { maxStepExceeded, type ResizePolicy } from '../policy/policy.ts';

/**
 * The approval that a raise needs: for a step above the policy's max-step, for any raise from 0, and for every raise where
 * `resizer.io/approval` asks for it. Null where none is needed. It is needed before the merge, unless the policy wants it
 * before the pull request.
 */
export function gateOf(policy: ResizePolicy, changes: readonly LimitChange[]): Gate | null {
  const before = policy.approval === 'before-pull-request' ? { before: 'pull-request' as const } : {};
  const from = Object.fromEntries(changes.map((change) => [change.resource, change.from]));
  const to = Object.fromEntries(changes.map((change) => [change.resource, change.to]));
  const exceeded = maxStepExceeded(policy, from, to);
  const fromZero = exceeded.find((step) => isZero(parseQuantity(step.from)));
  if (fromZero !== undefined) {
    const message = `${fromZero.resource} is 0 on purpose, raising it to ${fromZero.to} needs an approval`;
    return { reason: 'RaiseFromZero', message, ...before };
  }
  const [first] = exceeded;
  if (first !== undefined) {
    const message = `${first.resource} from ${first.from} to ${first.to} is more than ${policy.maxStep} × the limit (resizer.io/max-step) and needs an approval`;
    return { reason: 'MaxStepExceeded', message, ...before };
  }
  if (policy.approval === 'none' || changes.length === 0) return null;
  const what = policy.approval === 'before-pull-request' ? 'before a pull request is opened' : 'before a merge';
  const message = `every raise of this quota needs an approval ${what} (resizer.io/approval is ${policy.approval})`;
  return { reason: 'ApprovalRequired', message, ...before };
}

/** The approval that a decision needs, for its own quota by the policy as it is now, or for one of its companions. */
export function gateOfDecision(
  policy: ResizePolicy,
  { changes, companions = [] }: Pick<DecisionFacts, 'changes' | 'companions'>,
): Gate | null {
  const own = gateOf(policy, changes);
  if (own !== null) return own;
  const theirs = companions.find(({ gate }) => gate !== null);
  if (!theirs?.gate) return null;
  return { ...theirs.gate, message: `quota ${theirs.quota}: ${theirs.gate.message}` };
}

/** Whether the approval is needed before there is a pull request. */
export function isBeforePullRequest(gate: Gate | null): boolean {
  return gate?.before === 'pull-request';
}
