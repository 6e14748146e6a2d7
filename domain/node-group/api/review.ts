/** What admission says about a NodeGroup that is to be stored. */
import { fieldsOf, textOf } from '../scheduling/read-pod.ts';
import { windowProblems } from '../rules/budget-window.ts';
import { nodeGroupSpec } from './node-group-spec.ts';
import { budgetOf, readNodeGroup } from './read-node-group.ts';

export interface NodeGroupReview {
  /** Sentences in the form of the API server's, each with what would be right; none where it may be stored. */
  readonly problems: readonly string[];
  /** What is stored all the same, and does not do what it seems to. */
  readonly warnings: readonly string[];
}

/**
 * More is refused than makes a stored group invalid: one that was stored with a budget whose window never comes goes on, and the budget
 * holds always.
 *
 * @param object complete, any part of which may be missing. Never throws. What may not change is the definition's matter.
 */
export function reviewNodeGroup(object: unknown): NodeGroupReview {
  const { problems } = readNodeGroup(object, { mode: 'observe' });
  const spec = fieldsOf(fieldsOf(object)['spec']);
  const { data: budgets = [] } = nodeGroupSpec.shape.budgets.safeParse(spec['budgets']);
  return { problems: [...problems, ...windowProblems(budgets.map(budgetOf))], warnings: preferenceWarnings(spec) };
}

/** The VPSie autoscaler takes the first offering then, and says nothing. */
function preferenceWarnings(spec: Readonly<Record<string, unknown>>): readonly string[] {
  const preferred = textOf(spec['preferredInstanceType']);
  const offerings = Array.isArray(spec['offeringIDs']) ? spec['offeringIDs'] : [];
  if (preferred === '' || offerings.length === 0 || offerings.includes(preferred)) return [];
  return [`spec.preferredInstanceType: ${preferred} is none of offeringIDs, so it is not preferred`];
}
