/** What becomes of an open pull request of Headroom's that no decision is about: nobody else may come to look at it. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { staleRequirement } from '../demand/stale-usage.ts';
import { emptyMemory } from '../model/memory.ts';
import { isHeldByOthers, type QuotaObservation } from '../model/observation.ts';
import { summary } from './sentences.ts';
import { cappedRequirement, computeRequirement } from '../sizing/requirement.ts';
import { goneReason } from './abandon.ts';
import { NOTHING_NEEDED } from './idle.ts';
import { partRejected } from './rejection.ts';

/** An open pull request that names a quota, and that the decision in the quota's Lease is not about. */
export interface Orphan {
  /** Whether it has nothing but Headroom's commit. */
  readonly isOwn: boolean;
  /** Who reopened it last; null where nobody did, because only its Lease was lost. */
  readonly reopened: { readonly by: string; readonly at: EpochMs } | null;
}

export type OrphanStep =
  /** For now: it is looked at again. */
  | { readonly kind: 'leave'; readonly why: string }
  /** Its content is people's: they are told once. */
  | { readonly kind: 'leaveToPeople'; readonly why: string }
  /** The quota's next decision takes it over. */
  | { readonly kind: 'takeOver' }
  | { readonly kind: 'close'; readonly why: string };

/**
 * The rejection's time is the cluster's, the reopening's is the forge's and in whole seconds. Nobody rejects in the
 * minute in which they reopen.
 */
const CLOCK_SKEW_MS = 60_000;

/**
 * Whether the quota needs what an orphan is there for. A person who reopens it takes back the rejections from before
 * and ends the cooldown, as the command `skipCooldown` does; whether anything is needed remains the quota's matter.
 */
export function evaluateOrphan(observation: QuotaObservation, orphan: Orphan, now: EpochMs): OrphanStep {
  const { lease, policy, pause } = observation;
  const { decision } = lease;
  if (pause !== null) return leave('it is paused');
  if (policy.mode === 'observe') return leave('the mode is observe');
  const isOver = decision === null || decision.merge !== null;
  if (!isOver && decision.pullRequest === null) return leave(`decision ${decision.id} is about to take it over`);
  if (isOver && isHeldByOthers(lease, null)) return leave(`the Lease ${lease.name} is held by ${lease.holder}`);
  if (!orphan.isOwn) {
    return { kind: 'leaveToPeople', why: 'it has commits that are not of Headroom, so people merge or close it' };
  }
  const gone = goneReason(observation, emptyMemory());
  if (gone !== null) return close(gone.detail);
  if (!policy.enabled) return close('the namespace opted out (resizer.io/enabled is "false")');
  if (decision?.merge)
    return close(`decision ${decision.id} for this quota is merged, and the cluster has yet to follow`);
  if (decision?.pullRequest) return close(`pull request #${decision.pullRequest.number} raises this quota`);
  return evaluateRequirement(observation, orphan, now);
}

function evaluateRequirement(observation: QuotaObservation, { reopened }: Orphan, now: EpochMs): OrphanStep {
  const { lease, policy } = observation;
  const requirement = computeRequirement(observation, lease.lastModified);
  if (requirement === null) {
    if (staleRequirement(observation, lease.lastModified).length > 0) return leave('the usage is contradicted');
    const capped = cappedRequirement(observation, lease.lastModified);
    return close(capped.length > 0 ? capped.join(' ') : NOTHING_NEEDED);
  }
  const heldFrom = reopened === null ? 0 : reopened.at + CLOCK_SKEW_MS;
  const rejections = lease.rejections.filter(({ at }) => at > heldFrom);
  const { rejection } = partRejected(requirement, {
    observation,
    memory: { rejections, cooldownSkippedAt: null },
    now,
  });
  if (rejection === null) return { kind: 'takeOver' };
  const until = formatInstant(rejection.at + policy.rejectionCooldown);
  return close(
    `${rejection.by} rejected ${summary(requirement)} at ${formatInstant(rejection.at)}, and Headroom does not ask for it before ${until}`,
  );
}

function leave(why: string): OrphanStep {
  return { kind: 'leave', why };
}

function close(why: string): OrphanStep {
  return { kind: 'close', why };
}
