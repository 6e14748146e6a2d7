import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { GuardrailInForce } from '../../../domain/quota-resize/policy/guardrail.ts';
import type { PolicyDefaults } from '../../../domain/quota-resize/policy/policy.ts';
import { failure } from '../../kernel/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { orNull, withKubernetesFailures } from '../../kubernetes/failure.ts';
import { policyOf } from '../quota/policy-of-quota.ts';

/** The action to be checked: opening or updating a pull request, or a merge. */
export type GuardedAction = 'propose' | 'merge';

/**
 * Checks that the present policy still allows to open or update a pull request: because of rate limits and the budget a
 * write may wait for an hour, in which a namespace may opt out.
 *
 * @returns a function that throws `PolicyChanged` (not retried: the workflow observes again) when it does not.
 */
export function createPolicyGuard({
  kubernetes,
  policyDefaults: defaults,
}: {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
}): (target: QuotaTarget) => Promise<void> {
  return withKubernetesFailures(async (target: QuotaTarget) => {
    const { namespace: name, quota: quotaName } = target;
    const [namespace, quota] = await Promise.all([
      orNull(kubernetes.core.readNamespace({ name })),
      orNull(kubernetes.core.readNamespacedResourceQuota({ name: quotaName, namespace: name })),
    ]);
    if (namespace === null || quota === null) throw policyChanged(target, 'propose', 'the quota is gone');
    const { policy } = policyOf(defaults, name, namespace, quota);
    if (!policy.enabled) throw policyChanged(target, 'propose', 'it opted out');
    if (policy.mode === 'observe') throw policyChanged(target, 'propose', 'the mode is observe');
  });
}

/** Reads which places in Git the platform allows for a quota: whoever opens its pull request is told of a policy, and may lie. */
export function createGuardrailReader({
  kubernetes,
  policyDefaults: defaults,
}: {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
}): (target: QuotaTarget) => Promise<GuardrailInForce> {
  return withKubernetesFailures(async ({ namespace: name }: QuotaTarget) => {
    const namespace = await orNull(kubernetes.core.readNamespace({ name }));
    return policyOf(defaults, name, namespace, null).policy.guardrail;
  });
}

/** The failure of an action that is not allowed any more, after which the workflow decides again. */
export function policyChanged(target: QuotaTarget, action: GuardedAction, why: string): Error {
  const what = action === 'merge' ? 'merged' : 'opened';
  return failure({
    type: 'PolicyChanged',
    nonRetryable: true,
    message: `nothing is ${what} as decided any more for ${targetName(target)}: ${why}`,
  });
}
