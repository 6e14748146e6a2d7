/** The policy of a quota in the cluster, with what the growth guardrails allow without a person. */
import type { V1Namespace, V1ResourceQuota } from '@kubernetes/client-node';
import { readableList, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { PolicyDefaults, ResizePolicy } from '../../../domain/quota-resize/policy/policy.ts';
import { resolvePolicy } from '../../../domain/quota-resize/policy/resolve.ts';
import type { RecordedRaise } from '../../../domain/quota-resize/policy/recorded-raise.ts';
import { growthLimits, type UnattendedLimit } from '../../../domain/quota-resize/policy/unattended-limit.ts';

/** The policy by the annotations of the namespace and the quota. @param name of the namespace, which may be gone. */
export function policyOf(
  defaults: PolicyDefaults,
  name: string,
  namespace: V1Namespace | null,
  quota: V1ResourceQuota | null,
): ReturnType<typeof resolvePolicy> {
  const { labels, annotations } = namespace?.metadata ?? {};
  return resolvePolicy({
    defaults,
    namespace: { name, labels, annotations },
    quotaAnnotations: quota?.metadata?.annotations,
  });
}

/** `spec.hard` in canonical quantities, without what cannot be read: such a limit is nobody's to raise. */
export function hardOf(quota: V1ResourceQuota): ResourceList {
  return readableList(quota.spec?.hard ?? {});
}

/** The policy with the growth that is left after these raises, and with further limits. */
export function withUnattendedLimits(
  policy: ResizePolicy,
  hard: ResourceList,
  raises: readonly RecordedRaise[],
  { now, totals = [] }: { readonly now: EpochMs; readonly totals?: readonly UnattendedLimit[] },
): ResizePolicy {
  const unattended = [...growthLimits(policy, hard, raises, now), ...totals];
  return unattended.length === 0 ? policy : { ...policy, unattended };
}
