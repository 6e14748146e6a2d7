import { recommend, rulesOf } from './recommend.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { ResizePolicy } from '../policy/policy.ts';

/**
 * Whether a quota's own numbers are reason enough to start an episode: any resource at its threshold or below its minimum,
 * and not at its maximum. What was refused is known from Events; the episode looks at both afresh.
 */
export function isUnderPressure(
  quota: { readonly hard: ResourceList; readonly used: ResourceList },
  policy: ResizePolicy,
): boolean {
  if (!policy.enabled) return false;
  return recommend({ hard: quota.hard, used: quota.used, demand: {}, policy: rulesOf(policy) }).length > 0;
}
