import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import { mergeHold } from '../../../domain/quota-resize/policy/merge-window.ts';
import type { PolicyDefaults } from '../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../domain/quota-resize/policy/resolve.ts';
import { failure } from '../../kernel/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { orNull, withKubernetesFailures } from '../../kubernetes/failure.ts';

/** The action to be checked: opening or updating a pull request, or a merge. */
export type GuardedAction = 'propose' | 'merge';

/**
 * Checks that the present policy still allows an action that was decided earlier: because of rate limits and the budget
 * a write may wait for an hour, in which a namespace may opt out, a freeze begin or a window close.
 *
 * @returns a function that throws `PolicyChanged` (not retried: the workflow observes again) when it does not.
 */
export function createPolicyGuard({
  kubernetes,
  policyDefaults: defaults,
}: {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
}): (target: QuotaTarget, action: GuardedAction) => Promise<void> {
  return withKubernetesFailures(async (target: QuotaTarget, action: GuardedAction) => {
    const { namespace: name, quota: quotaName } = target;
    const [namespace, quota] = await Promise.all([
      orNull(kubernetes.core.readNamespace({ name })),
      orNull(kubernetes.core.readNamespacedResourceQuota({ name: quotaName, namespace: name })),
    ]);
    if (namespace === null || quota === null) throw policyChanged(target, action, 'the quota is gone');
    const { policy } = resolvePolicy({
      defaults,
      namespaceAnnotations: namespace.metadata?.annotations,
      quotaAnnotations: quota.metadata?.annotations,
    });
    if (!policy.enabled) throw policyChanged(target, action, 'it opted out');
    if (policy.mode === 'observe') throw policyChanged(target, action, 'the mode is observe');
    if (action === 'propose') return;
    if (!policy.autoMerge.allowed) throw policyChanged(target, action, 'auto-merge is off');
    const held = mergeHold(policy, Date.now());
    if (held !== null) throw policyChanged(target, action, held.detail);
  });
}

/** The failure of an action that is not allowed any more, after which the workflow decides again. */
export function policyChanged(target: QuotaTarget, action: GuardedAction, why: string): Error {
  const what = action === 'merge' ? 'merged' : 'opened';
  return failure({
    type: 'PolicyChanged',
    nonRetryable: true,
    message: `nothing is ${what} for ${targetName(target)}: ${why} now, which it was not when it was decided`,
  });
}
