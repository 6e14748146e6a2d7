import { recommend, rulesOf } from './recommend.ts';
import type { ResourceList } from '../../kernel/resource-list.ts';
import type { ResizePolicy } from '../policy/policy.ts';

/**
 * Whether a quota's own numbers justify an episode: a resource is at its threshold or below its minimum, and not at its
 * maximum. Denials are reported by Events instead; the episode then observes both.
 */
export function isUnderPressure(
  quota: { readonly hard: ResourceList; readonly used: ResourceList },
  policy: ResizePolicy,
): boolean {
  if (!policy.enabled) return false;
  return recommend({ hard: quota.hard, used: quota.used, demand: {}, policy: rulesOf(policy) }).length > 0;
}
