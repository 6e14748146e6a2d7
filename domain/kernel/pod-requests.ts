/** What a pod requests, by the arithmetic of kube-scheduler 1.35 (`PodRequests` in component-helpers). */
import { type Amounts, quantitiesOf, readAmounts } from './amounts.ts';
import { containersTogether, type Sums } from './containers-together.ts';
import { addInt64, type Int64Quantity, maxInt64 } from './int64-quantity.ts';
import { isRecord } from './record.ts';

type Fields = Readonly<Record<string, unknown>>;
type Quantities = ReadonlyMap<string, Int64Quantity>;

/** Resources that a pod can request as a whole, besides huge pages. */
const POD_LEVEL = new Set(['cpu', 'memory']);
const NOTHING: Quantities = new Map();
const SUMS: Sums<Quantities> = { none: NOTHING, add: added, max: larger };

/**
 * Containers and sidecars together, or an init container with the sidecars that were started before it, whichever is more;
 * then what the pod requests as a whole, and its overhead. Quantities are added as they are written, and rounded once at the end.
 *
 * @param pod or a template: its `spec`, and its `status`, by which a pod that is being resized counts.
 */
export function podRequests({ spec, status }: { readonly spec?: unknown; readonly status?: unknown }): Amounts {
  const pod = isRecord(spec) ? spec : {};
  const inUse = resizing(isRecord(status) ? status : {});
  const ofContainers = containersTogether(
    { containers: listOf(pod['containers']), initContainers: listOf(pod['initContainers']) },
    (container, isPassing) => (isPassing ? requestsOf(container) : inUse(container)),
    SUMS,
  );
  const whole = [...listedIn(pod, 'requests')].filter(
    ([resource]) => POD_LEVEL.has(resource) || resource.startsWith('hugepages-'),
  );
  const together = new Map([...ofContainers, ...whole]);
  return readAmounts(added(together, quantitiesOf(pod['overhead'])));
}

/**
 * What a container counts with while its pod is resized in place: the most of what is asked for, what the kubelet has allocated and
 * what the container has. What is asked for is left out where the node can never have it.
 */
function resizing(status: Fields): (container: Fields) => Quantities {
  const statuses = new Map(
    [...listOf(status['containerStatuses']), ...listOf(status['initContainerStatuses'])].map((each) => [
      each['name'],
      each,
    ]),
  );
  const resize = listOf(status['conditions']).find(({ type }) => type === 'PodResizePending');
  const isInfeasible = resize?.['reason'] === 'Infeasible';
  return (container) => {
    const asked = requestsOf(container);
    const has = statuses.get(container['name']);
    if (has === undefined || !isRecord(has['resources'])) return asked;
    const actual = listedIn(has, 'requests');
    return larger(isInfeasible ? actual : larger(asked, actual), quantitiesOf(has['allocatedResources']));
  };
}

/** A limit without a request is one. The API server stores a pod so, but neither the template of a workload nor of a DaemonSet. */
function requestsOf(container: Fields): Quantities {
  return new Map([...listedIn(container, 'limits'), ...listedIn(container, 'requests')]);
}

function listedIn({ resources }: Fields, list: 'requests' | 'limits'): Quantities {
  return isRecord(resources) ? quantitiesOf(resources[list]) : NOTHING;
}

function added(a: Quantities, b: Quantities): Quantities {
  return merged(a, b, addInt64);
}

function larger(a: Quantities, b: Quantities): Quantities {
  return merged(a, b, maxInt64);
}

function merged(a: Quantities, b: Quantities, pick: (x: Int64Quantity, y: Int64Quantity) => Int64Quantity): Quantities {
  const sum = new Map(a);
  for (const [resource, quantity] of b) {
    const before = sum.get(resource);
    sum.set(resource, before === undefined ? quantity : pick(before, quantity));
  }
  return sum;
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
