import { recommend } from './recommend.ts';
import type { ResourceList } from '../kernel/resource-list.ts';
import { incrementFor, type ResizePolicy, thresholdFor } from './policy.ts';

/**
 * Whether a quota's own numbers are reason enough to start an episode: any resource at its threshold. What was refused is
 * known from Events; the episode looks at both afresh.
 */
export function isUnderPressure(
  quota: { readonly hard: ResourceList; readonly used: ResourceList },
  policy: ResizePolicy,
): boolean {
  if (!policy.enabled) return false;
  const raises = recommend({
    hard: quota.hard,
    used: quota.used,
    demand: {},
    policy: {
      threshold: (resource) => thresholdFor(policy, resource),
      increment: (resource) => incrementFor(policy, resource),
    },
  });
  return raises.length > 0;
}
