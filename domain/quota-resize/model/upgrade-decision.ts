/** Converts decisions of version 1, from Leases and carried memories, to those of this release. */
import type { SourceCandidate } from '../git/locate/candidate/source-candidate.ts';
import type { BatchedQuota, Decision, DecisionFacts } from './decision.ts';
import type { Placement } from './placement.ts';

type CandidateV1 = Omit<SourceCandidate, 'learntFrom'> & { readonly said: string };

type PlacementV1 = Omit<Placement, 'candidate'> & { readonly hint: CandidateV1 };

type BatchedQuotaV1 = Omit<BatchedQuota, 'approvalRequirement' | 'candidates' | 'placement'> & {
  readonly gate: BatchedQuota['approvalRequirement'];
  readonly hints: readonly CandidateV1[];
  readonly placement?: PlacementV1;
};

type SourceV1 = Omit<NonNullable<DecisionFacts['source']>, 'placement'> & { readonly placement?: PlacementV1 };

/** Version 1 called the approval requirement `gate`, batched quotas `companions`, and source candidates `hints`. */
export type DecisionV1 = Omit<DecisionFacts, 'approvalRequirement' | 'source' | 'batchedQuotas'> &
  Pick<Decision, 'pullRequest' | 'merge'> & {
    readonly gate: DecisionFacts['approvalRequirement'];
    readonly source?: SourceV1 | null;
    readonly companions?: readonly BatchedQuotaV1[] | undefined;
  };

export function upgradeDecision({ gate, source, companions, ...rest }: DecisionV1): Decision {
  return {
    ...rest,
    approvalRequirement: gate,
    ...(source === undefined ? {} : { source: source === null ? null : withPlacement(source) }),
    ...(companions === undefined ? {} : { batchedQuotas: companions.map(upgradeBatchedQuota) }),
  };
}

function upgradeBatchedQuota({ gate, hints, ...rest }: BatchedQuotaV1): BatchedQuota {
  return { ...withPlacement(rest), approvalRequirement: gate, candidates: hints.map(upgradeCandidate) };
}

function withPlacement<Located extends { readonly placement?: PlacementV1 }>({
  placement,
  ...rest
}: Located): Omit<Located, 'placement'> & { readonly placement?: Placement } {
  if (placement === undefined) return rest;
  const { hint, ...found } = placement;
  return { ...rest, placement: { ...found, candidate: upgradeCandidate(hint) } };
}

function upgradeCandidate({ said, ...rest }: CandidateV1): SourceCandidate {
  return { ...rest, learntFrom: said };
}
