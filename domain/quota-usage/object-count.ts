/** What an object of any kind is charged for being there. */
import type { ResourceList } from '../kernel/resource-list.ts';

/** Core resources that quotas counted by their bare name before `count/` existed. */
const LEGACY_COUNTS: ReadonlySet<string> = new Set([
  'configmaps',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
]);

/**
 * The charge for one object of a resource and its API group ("" is the core group): `count/jobs.batch` for a Job,
 * `count/secrets` and `secrets` for a Secret. Pods, claims and services have charges of their own besides.
 */
export function objectCharge(resource: string, group: string): ResourceList {
  if (group !== '') {
    return { [`count/${resource}.${group}`]: '1' };
  }
  return { [`count/${resource}`]: '1', ...(LEGACY_COUNTS.has(resource) ? { [resource]: '1' } : {}) };
}
