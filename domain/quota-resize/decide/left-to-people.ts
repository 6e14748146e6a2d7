/** What only a person merges, whatever the policy allows and whoever approved it. */
import type { DecisionFacts } from '../model/decision.ts';
import type { Placement } from '../model/placement.ts';

/** Why Headroom does not merge; a clause that follows "a person merges it: ". */
export interface LeftToPeople {
  readonly reason: 'NotProved' | 'BranchNotProtected';
  readonly why: string;
}

/**
 * Whether a person has to merge the decision's pull request: because it is not proved that it changes this quota's own
 * limits, or because only an annotation names the base branch and the branch is not protected. Null where neither holds.
 */
export function leftToPeople(
  decision: Pick<DecisionFacts, 'source' | 'batchedQuotas'>,
  base: { readonly name: string; readonly isProtected: boolean },
): LeftToPeople | null {
  const notProved = notProvedOf(decision);
  if (notProved !== null) return { reason: 'NotProved', why: notProved };
  const { source, batchedQuotas = [] } = decision;
  const isNamedByAnnotation = [source?.placement, ...batchedQuotas.map(({ placement }) => placement)].some(
    (placement) => placement?.branchBy === 'annotation',
  );
  if (!isNamedByAnnotation || base.isProtected) return null;
  const why = `only an annotation names the branch ${base.name}, and it is not protected`;
  return { reason: 'BranchNotProtected', why };
}

/** What is not proved about the places that a decision writes to, a clause; null where all is. */
export function notProvedOf({
  source,
  batchedQuotas = [],
}: Pick<DecisionFacts, 'source' | 'batchedQuotas'>): string | null {
  const clauses = [
    ...clausesOf(source?.placement),
    ...batchedQuotas.flatMap(({ quota, placement }) =>
      clausesOf(placement).map((clause) => `quota ${quota}: ${clause}`),
    ),
  ];
  return clauses.length === 0 ? null : `not proved: ${clauses.join('; ')}`;
}

function clausesOf(placement: Placement | undefined): readonly string[] {
  return placement?.notProved === undefined ? [] : [placement.notProved];
}
