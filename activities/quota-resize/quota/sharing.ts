/** Which decisions share the pull request of a decision: those that joined it, and those that may. */
import { quotaPauseSubject, type QuotaTarget } from '../../../domain/kernel/target.ts';
import { joinedDecision, mayJoin } from '../../../domain/quota-resize/decide/joined.ts';
import {
  type Decision,
  type DecisionRef,
  isHeldIn,
  leaseHolder,
  type PullRequestRef,
} from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseRecord, Sharing, SharingDecision } from '../../../domain/quota-resize/model/observation.ts';
import type { PolicyDefaults, ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { JUST_READ_MS, type PauseOptions, readPauses } from '../../kernel/pause.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { LeaseNamespace } from '../../kubernetes/lease-object.ts';
import type { LeaseStore } from '../lease/lease.ts';
import { sharersOf } from '../lease/sharers.ts';
import { policyOf } from './policy-of-quota.ts';

interface SharingOptions extends LeaseNamespace, Pick<PauseOptions, 'pauses'> {
  readonly policyDefaults: PolicyDefaults;
  readonly leases: LeaseStore;
}

/** More decisions would make a pull request that nobody reads. */
const MOST_SHARING = 20;

/** How many of them are read in parallel. */
const READ_AT_ONCE = 4;

/** @param policy of the quota whose decision it is. */
export async function readSharing(
  options: SharingOptions,
  target: QuotaTarget,
  policy: ResizePolicy,
  { decision }: Pick<LeaseRecord, 'decision'>,
): Promise<Sharing | null> {
  const pullRequest = decision?.pullRequest ?? null;
  if (decision === null || pullRequest === null || decision.merge !== null) return null;
  const { joinedTo } = pullRequest;
  if (joinedTo !== undefined) {
    return { kind: 'joined', isJoined: await isHeldBy(options, { target, decision, pullRequest, joinedTo }) };
  }
  const sharers = (await sharersOf(options, target, decision)).slice(0, MOST_SHARING);
  if (sharers.length === 0) return null;
  const pauseOf = await readPauses(options, JUST_READ_MS);
  const others = await inParallel(READ_AT_ONCE, sharers, async ({ namespace, quota, holder }) => {
    const other = { ...target, namespace, quota };
    if (pauseOf(quotaPauseSubject('quota-resize', other)) !== null) return [];
    const joining = await governed(options, other);
    if (joining === null || !mayJoin(joining, { decision, policy }, Date.now())) return [];
    const isAsked = holder === null || holder === leaseHolder(joining.decision.id);
    return isAsked && isOpenTo(joining.decision, pullRequest, decision.id) ? [sharing(other, joining.decision)] : [];
  });
  return { kind: 'owner', others: others.flat() };
}

/** Whether the owner of the pull request still has a commit of the decision in it. */
async function isHeldBy(
  { leases }: SharingOptions,
  {
    target,
    decision,
    pullRequest,
    joinedTo,
  }: {
    readonly target: QuotaTarget;
    readonly decision: Decision;
    readonly pullRequest: PullRequestRef;
    readonly joinedTo: DecisionRef;
  },
): Promise<boolean> {
  const { namespace, quota } = joinedTo;
  const { decision: owner } = await leases.read({ ...target, namespace, quota });
  if (owner?.id !== joinedTo.decision || owner.pullRequest?.number !== pullRequest.number) return false;
  return (owner.joined ?? []).some((joined) => joined.decision === decision.id && isHeldIn(joined));
}

/** The decision that holds a quota's Lease, with that and the policy in force for it; null where there is none. */
async function governed(
  { kubernetes, policyDefaults, leases }: SharingOptions,
  target: QuotaTarget,
): Promise<Parameters<typeof mayJoin>[0] | null> {
  const { namespace: name, quota: quotaName } = target;
  const [namespace, quota, lease] = await Promise.all([
    orNull(kubernetes.core.readNamespace({ name })),
    orNull(kubernetes.core.readNamespacedResourceQuota({ name: quotaName, namespace: name })),
    leases.read(target),
  ]);
  const { decision, holder } = lease;
  if (decision === null || holder !== leaseHolder(decision.id) || quota?.metadata?.uid !== decision.quotaUid)
    return null;
  return { decision, lease, policy: policyOf(policyDefaults, name, namespace, quota).policy };
}

/** Whether a decision has no pull request, or this one by joining it. */
function isOpenTo({ pullRequest: own, merge }: Decision, shared: PullRequestRef, owner: string): boolean {
  if (merge !== null) return false;
  return own === null || (own.number === shared.number && own.joinedTo?.decision === owner);
}

function sharing(target: QuotaTarget, decision: Decision): SharingDecision {
  const { readyAt } = decision;
  return { ...joinedDecision(target, decision), ...(readyAt === undefined ? {} : { readyAt }) };
}
