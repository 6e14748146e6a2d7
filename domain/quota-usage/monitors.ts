/** Which resources can be watched for quotas, and which of them are needed. */
import { type GroupResource, groupResourceName } from '../kernel/group-resource.ts';
import { resourcesToCount } from './calculate.ts';
import type { Evaluator, MatchContext } from './evaluator.ts';
import type { CountingQuota } from './scopes.ts';

/** A resource from API discovery, in the server's preferred version. */
export interface DiscoveredResource extends GroupResource {
  readonly version: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}

/** One round of discovery. */
export type Discovery =
  | {
      readonly kind: 'discovered';
      readonly resources: readonly DiscoveredResource[];
      /** The group-versions whose discovery failed: "metrics.k8s.io/v1beta1", "v1" for the core group. */
      readonly failed: readonly string[];
    }
  | { readonly kind: 'failed'; readonly reason: string };

/** A resource that can be watched for quotas. */
export interface Monitored extends GroupResource {
  readonly version: string;
}

/** Resources without these verbs are not counted, as in Kubernetes' GetQuotableResources. */
const NEEDED_VERBS = ['create', 'list', 'watch', 'delete'];

/** Never counted, whatever their verbs: resources that are not stored, and events. Kubernetes' default for quotas. */
const IGNORED: ReadonlySet<string> = new Set([
  'bindings',
  'componentstatuses',
  'events',
  'events.events.k8s.io',
  'localsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectaccessreviews.authorization.k8s.io',
  'selfsubjectreviews.authentication.k8s.io',
  'selfsubjectrulesreviews.authorization.k8s.io',
  'subjectaccessreviews.authorization.k8s.io',
  'tokenreviews.authentication.k8s.io',
]);

function isQuotable(resource: DiscoveredResource): boolean {
  return (
    resource.namespaced &&
    // "pods/status" is a subresource.
    !resource.resource.includes('/') &&
    NEEDED_VERBS.every((verb) => resource.verbs.includes(verb)) &&
    !IGNORED.has(groupResourceName(resource))
  );
}

function groupVersion({ group, version }: Monitored): string {
  return group === '' ? version : `${group}/${version}`;
}

/**
 * The resources that can be watched after a round of discovery: one version of each, sorted by name.
 *
 * For a group-version whose discovery failed, the earlier result and version are kept. A round that failed, or found
 * nothing to count, changes nothing: a cluster without pods is a server with a problem.
 */
export function nextMonitors(previous: readonly Monitored[], round: Discovery): readonly Monitored[] {
  const found = round.kind === 'discovered' ? round.resources.filter(isQuotable) : [];
  if (round.kind === 'failed' || found.length === 0) return previous;
  const failed = new Set(round.failed);
  const monitors = new Map<string, Monitored>();
  for (const resource of [...previous.filter((existing) => failed.has(groupVersion(existing))), ...found]) {
    const name = groupResourceName(resource);
    if (!monitors.has(name))
      monitors.set(name, { group: resource.group, resource: resource.resource, version: resource.version });
  }
  return [...monitors].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, monitored]) => monitored);
}

/**
 * The resources that have to be watched to count these quotas, sorted by name, according to the evaluators; the caller
 * checks whether the cluster has them.
 */
export function neededResources(
  specs: Iterable<CountingQuota>,
  evaluators: readonly Evaluator[],
  context: MatchContext,
): readonly GroupResource[] {
  const limited = new Set([...specs].flatMap(({ hard = {} }) => Object.keys(hard)));
  return resourcesToCount([...limited], evaluators, context).toSorted((a, b) =>
    groupResourceName(a) < groupResourceName(b) ? -1 : 1,
  );
}
