/** A resource of the Kubernetes API without its version, as named by quotas and discovery. */

export interface GroupResource {
  /** "" is the core group. */
  readonly group: string;
  /** The plural, in lower case: "deployments". */
  readonly resource: string;
}

/** `deployments.apps`, and `pods` for the core group; unique for each resource. */
export function groupResourceName({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** The API group of a group-version: `apps` of `apps/v1`, and the core group, which is empty, of `v1`. */
export function groupOf(groupVersion: string): string {
  return groupVersion.includes('/') ? groupVersion.slice(0, groupVersion.indexOf('/')) : '';
}
