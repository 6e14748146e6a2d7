/** Phrases that several sentences for people share. */
import { claimedName } from '../../kernel/command-input.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { DecisionFacts, Verifier } from '../model/decision.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';

/** Why a Lease that somebody else holds blocks the decision. */
export function leaseHeldDetail({ lease }: QuotaObservation): string {
  if (lease.hasUnreadDecision === true) {
    return `the Lease ${lease.name} has a decision that this release cannot read, so nothing is decided beside it. Headroom waits until a release that can read it has ended it, or until its annotation resizer.io/decision is deleted`;
  }
  return `the Lease ${lease.name} is held by ${lease.holder}. Headroom waits until it is released`;
}

/** `requests.cpu 2 → 3600m, pods 4 → 5` */
export function summary(proposal: Pick<Proposal, 'changes'>): string {
  return proposal.changes.map((change) => `${change.resource} ${change.from} → ${change.to}`).join(', ');
}

/** The summary of a whole decision: `requests.cpu 2 → 3; quota objects: pods 4 → 5`. */
export function wholeSummary(decision: Pick<DecisionFacts, 'changes' | 'batchedQuotas'>): string {
  const others = (decision.batchedQuotas ?? []).map(({ quota, changes }) => `quota ${quota}: ${summary({ changes })}`);
  return [summary(decision), ...others].join('; ');
}

/** `pull request [#7](https://…)`, Markdown. */
export function linkTo({ number, url }: { readonly number: number; readonly url: string }): string {
  return `pull request [#${number}](${url})`;
}

/** A commit as people read it: its first twelve digits. */
export function short(sha: string): string {
  return sha.slice(0, 12);
}

/** Who approved, and who vouches for the name: `alice (verified by the API server)`, `"alice" (a claimed name)`. */
export function approverName({
  by,
  verified,
}: {
  readonly by: string;
  readonly verified?: Verifier | undefined;
}): string {
  if (verified === undefined) return claimedName(by);
  return `${by} (verified by ${verified === 'kubernetes' ? 'the API server' : 'GitHub'})`;
}

/** `requests.cpu 3600m, pods 5` */
export function describe(limits: ResourceList): string {
  return Object.entries(limits)
    .map(([resource, limit]) => `${resource} ${limit}`)
    .join(', ');
}
