/** A resource of the Kubernetes API without its version, as quotas and discovery name it. */

export interface GroupResource {
  /** "" is the core group. */
  readonly group: string;
  /** The plural, in lower case: "deployments". */
  readonly resource: string;
}

/** `deployments.apps`, and `pods` for the core group; it tells one resource from every other. */
export function groupResourceName({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}
