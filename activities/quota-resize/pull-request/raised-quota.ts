/** The quotas that a pull request raises, as the cluster has them at the merge. */
import { compareQuantities, parseQuantity } from '../../../domain/kernel/quantity.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { BatchedQuota, LimitChange, OpenDecision } from '../../../domain/quota-resize/model/decision.ts';
import { mergeHold } from '../../../domain/quota-resize/policy/merge-window.ts';
import { maximumFor, type PolicyDefaults, type ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import type { PullRequestEnds } from '../lease/ends.ts';
import type { LeaseStore } from '../lease/lease.ts';
import type { StoredLease } from '../lease/lease-state.ts';
import { settledLease } from '../lease/raises.ts';
import { hardOf, policyOf, withUnattendedLimits } from '../quota/policy-of-quota.ts';
import type { Totals } from '../quota/totals.ts';
import { policyChanged } from './policy-guard.ts';

interface RaisedQuotaOptions {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
  readonly leases: LeaseStore;
  readonly ends: PullRequestEnds;
}

/** A quota that a decision raises, with the policy in force for it, and what its Lease remembers. */
export interface RaisedQuota {
  readonly target: QuotaTarget;
  readonly changes: readonly LimitChange[];
  readonly policy: ResizePolicy;
  readonly lease: StoredLease;
}

/** The decision's own quota first. */
export type RaisedQuotas = readonly [RaisedQuota, ...RaisedQuota[]];

/**
 * A quota of the pull request with its policy, which lets Headroom merge now.
 *
 * @throws {ApplicationFailure} PolicyChanged when the quota is another one, opted out, observed, above a maximum, left to
 * people, or held by a freeze or a window.
 */
export async function readRaised(
  { kubernetes, policyDefaults, leases, ends }: RaisedQuotaOptions,
  target: QuotaTarget,
  { quotaUid, changes }: Pick<BatchedQuota, 'quotaUid' | 'changes'>,
  { decision, totals }: { readonly decision: OpenDecision; readonly totals: Totals },
): Promise<RaisedQuota> {
  const refuse = (why: string): Error => policyChanged(target, 'merge', why);
  const { namespace: name, quota: quotaName } = target;
  const [namespace, quota, lease] = await Promise.all([
    orNull(kubernetes.core.readNamespace({ name })),
    orNull(kubernetes.core.readNamespacedResourceQuota({ name: quotaName, namespace: name })),
    settledLease({ leases, ends }, target, decision.pullRequest),
  ]);
  if (namespace === null || quota === null) throw refuse('the quota is gone');
  if (quota.metadata?.uid !== quotaUid) throw refuse('the quota was deleted and created again');
  const { policy: annotated } = policyOf(policyDefaults, name, namespace, quota);
  const hard = hardOf(quota);
  const policy = withUnattendedLimits(annotated, hard, lease.raises, {
    now: Date.now(),
    totals: totals(target, hard, decision),
  });
  if (!policy.enabled) throw refuse('it opted out');
  if (policy.mode === 'observe') throw refuse('the mode is observe');
  if (!policy.autoMerge.allowed) throw refuse('auto-merge is off');
  const held = mergeHold(policy, Date.now());
  if (held !== null) throw refuse(held.detail);
  for (const { resource, to } of changes) {
    const maximum = maximumFor(policy, resource);
    if (maximum !== undefined && compareQuantities(parseQuantity(to), parseQuantity(maximum)) > 0) {
      throw refuse(`${resource} ${to} is above its maximum of ${maximum}`);
    }
  }
  const current = changes.map((change) => ({ ...change, from: hard[change.resource] ?? '0' }));
  return { target, changes: current, policy, lease };
}
