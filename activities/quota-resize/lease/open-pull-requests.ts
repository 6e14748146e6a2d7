/** The pull requests that the Leases of a cluster record as open. */
import { leaseSelector, readLeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import { withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { listAll } from '../../kubernetes/list.ts';

interface Options {
  readonly kubernetes: Pick<Kubernetes, 'coordination'>;
  readonly systemNamespace: string;
}

/** How a pull request is called in such a set: repositories have no case. */
export function pullRequestKey(repository: string, number: number): string {
  return `${repository.toLowerCase()}#${number}`;
}

/** Those of decisions that are not merged, by `pullRequestKey`. */
export function createRecordedPullRequests({
  kubernetes,
  systemNamespace: namespace,
}: Options): () => Promise<ReadonlySet<string>> {
  return withKubernetesFailures(async () => {
    const leases = await listAll((range) =>
      kubernetes.coordination.listNamespacedLease({ namespace, labelSelector: leaseSelector, ...range }),
    );
    const recorded = new Set<string>();
    for (const lease of leases) {
      const { decision } = readLeaseMemory(lease).memory;
      if (decision === null || decision.merge !== null || decision.pullRequest === null) continue;
      recorded.add(pullRequestKey(decision.pullRequest.repository, decision.pullRequest.number));
    }
    return recorded;
  });
}
