/** What an object of any kind is charged for its existence. */
import { type GroupResource, groupResourceName } from '../kernel/group-resource.ts';
import type { ResourceList } from '../kernel/resource-list.ts';

/** Core resources whose bare name quotas counted before `count/` existed. */
export const legacyCountResources = ['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets'] as const;

const LEGACY_COUNTS: ReadonlySet<string> = new Set(legacyCountResources);

/** The names under which objects of a resource are counted: `count/jobs.batch`; `count/secrets` and `secrets`. */
export function objectCountNames(resource: GroupResource): readonly string[] {
  const names = [`count/${groupResourceName(resource)}`];
  return resource.group === '' && LEGACY_COUNTS.has(resource.resource) ? [...names, resource.resource] : names;
}

/**
 * The charge for one object of a resource and its API group ("" is the core group): `count/jobs.batch` for a Job,
 * `count/secrets` and `secrets` for a Secret. Pods, claims and services have further charges.
 */
export function objectCharge(resource: string, group: string): ResourceList {
  return Object.fromEntries(objectCountNames({ resource, group }).map((name) => [name, '1']));
}
