/** What a pod requests, by the arithmetic of kube-scheduler (`PodRequests` in component-helpers). */
import { isRecord } from './record.ts';
import { type Amounts, addAmounts, amountsOf, maxAmounts } from './amounts.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Resources that a pod can request as a whole, besides huge pages. */
const POD_LEVEL = new Set(['cpu', 'memory']);

/**
 * Containers and sidecars together, or an init container with the sidecars that were started before it, whichever is more;
 * then what the pod requests as a whole, and its overhead.
 *
 * @param spec of the pod.
 */
export function podRequests(spec: Fields): Amounts {
  let sidecars: Amounts = {};
  let init: Amounts = {};
  for (const container of listOf(spec['initContainers'])) {
    const requests = requestsOf(container);
    if (container['restartPolicy'] === 'Always') {
      sidecars = addAmounts(sidecars, requests);
      init = maxAmounts(init, sidecars);
    } else init = maxAmounts(init, addAmounts(sidecars, requests));
  }
  const containers = listOf(spec['containers']).map(requestsOf).reduce(addAmounts, sidecars);
  const together = maxAmounts(containers, init);
  const whole = Object.entries(listedIn(spec, 'requests')).filter(
    ([resource]) => POD_LEVEL.has(resource) || resource.startsWith('hugepages-'),
  );
  return addAmounts({ ...together, ...Object.fromEntries(whole) }, amountsOf(spec['overhead']));
}

/** A limit without a request is one. The API server stores a pod so, but neither the template of a workload nor of a DaemonSet. */
function requestsOf(container: Fields): Amounts {
  return { ...listedIn(container, 'limits'), ...listedIn(container, 'requests') };
}

function listedIn({ resources }: Fields, list: 'requests' | 'limits'): Amounts {
  return isRecord(resources) ? amountsOf(resources[list]) : {};
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
