import { addQuantities, type Quantity, quantityOf } from '../../domain/kernel/quantity.ts';
import { type ResourceList, resourceEntries, resourceList } from '../../domain/kernel/resource-list.ts';
import { objectCharge } from '../../domain/quota-usage/object-count.ts';
import { podCharge } from '../../domain/quota-usage/pod-charge.ts';
import { countedPod, type LoadPod, nodePorts } from './shapes.ts';

/** What a namespace of the load test has, as far as its quota counts it. */
export interface NamespaceModel {
  readonly hard: ResourceList;
  readonly pods: ReadonlyMap<string, LoadPod>;
  readonly configMaps: ReadonlySet<string>;
  /** The type of its only service. */
  readonly serviceType: ServiceType;
}

export type ServiceType = 'ClusterIP' | 'NodePort' | 'LoadBalancer';

type Charge = ReturnType<typeof resourceEntries>;

const ofConfigMap: Charge = resourceEntries(objectCharge('configmaps', ''));

const opened = { 'count/services': '1', services: '1', 'services.nodeports': `${nodePorts}` };
const ofService: Readonly<Record<ServiceType, Charge>> = {
  ClusterIP: resourceEntries({ ...opened, 'services.nodeports': '0' }),
  NodePort: resourceEntries(opened),
  LoadBalancer: resourceEntries({ ...opened, 'services.loadbalancers': '1' }),
};

/** A namespace is counted after each of thousands of changes, of which each is about one pod at most. */
const ofPods = new WeakMap<LoadPod, Charge>();

function ofPod(pod: LoadPod): Charge {
  // No pod is ever stuck in its deletion, so time plays no part.
  const charge = ofPods.get(pod) ?? resourceEntries(podCharge(countedPod(pod), 0));
  ofPods.set(pod, charge);
  return charge;
}

/** What `status.used` of the namespace's quota is to show. */
export function usedOf({ hard, pods, configMaps, serviceType }: NamespaceModel): ResourceList {
  const sums = new Map<string, Quantity>(Object.keys(hard).map((resource) => [resource, quantityOf(0n)]));
  const charges = [
    ...[...pods.values()].map(ofPod),
    ...Array.from({ length: configMaps.size }, () => ofConfigMap),
    ofService[serviceType],
  ];
  for (const [resource, amount] of charges.flat()) {
    const sum = sums.get(resource);
    if (sum !== undefined) sums.set(resource, addQuantities(sum, amount));
  }
  return resourceList(sums);
}
