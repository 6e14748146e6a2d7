/** How the pods of a Memcached are replaced. */
import { matchesSelector } from '../../kernel/label-selector.ts';
import { isAutoscaled, type MemcachedSpec } from '../api/memcached.ts';

type Constraint = NonNullable<NonNullable<MemcachedSpec['highAvailability']>['topologySpreadConstraints']>[number];

const HOSTNAME = 'kubernetes.io/hostname';

/**
 * Whether there may be no node for one pod more than there are to be, so that a new pod has to wait until an old one is gone: with as
 * many pods as nodes, two of which must not share one (ADR 82).
 *
 * @param labels of the pods.
 */
export function needsPlaceOfOld(
  spec: Pick<MemcachedSpec, 'highAvailability' | 'replicas' | 'autoscaling'>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const { antiAffinityPreset, topologySpreadConstraints = [] } = spec.highAvailability ?? {};
  const pods = isAutoscaled(spec) ? (spec.autoscaling?.maxReplicas ?? 1) : (spec.replicas ?? 1);
  return antiAffinityPreset === 'hard' || topologySpreadConstraints.some((each) => limitsPods(each, pods, labels));
}

/**
 * Whether a constraint may leave no place for one pod more. A node that takes none of them, or too few domains, counts as a domain of 0
 * pods, and then there are no more than `maxSkew` in each of the others.
 */
function limitsPods(
  { whenUnsatisfiable, topologyKey, minDomains, maxSkew, labelSelector, matchLabelKeys = [] }: Constraint,
  pods: number,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    whenUnsatisfiable === 'DoNotSchedule' &&
    (topologyKey === HOSTNAME || minDomains !== undefined) &&
    maxSkew <= pods &&
    // By this label of Kubernetes', pods of the old template do not count.
    !matchLabelKeys.includes('pod-template-hash') &&
    matchesSelector(labelSelector, labels)
  );
}

/**
 * `spec.strategy` of the Deployment. A pod that goes takes its items with it, so that they go one after the other. The next one is
 * there before, where there is a place for it.
 */
export function rolloutStrategy(
  spec: Parameters<typeof needsPlaceOfOld>[0],
  labels: Readonly<Record<string, string>>,
): object {
  const rollingUpdate = needsPlaceOfOld(spec, labels)
    ? { maxSurge: 0, maxUnavailable: 1 }
    : { maxSurge: 1, maxUnavailable: 0 };
  return { type: 'RollingUpdate', rollingUpdate };
}
