/** What one service is charged by a ResourceQuota, as Kubernetes 1.35 counts it. */
import { formatQuantity, quantityOf } from '../kernel/quantity.ts';
import type { ResourceList } from '../kernel/resource-list.ts';

/** A Service in the shape of Kubernetes' JSON. */
export interface Service {
  readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined;
  readonly spec?:
    | {
        readonly type?: string | undefined;
        readonly ports?: readonly { readonly nodePort?: number | undefined }[] | undefined;
        readonly allocateLoadBalancerNodePorts?: boolean | undefined;
      }
    | undefined;
}

export const serviceResources = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'] as const;

/** The type of a service as far as quotas distinguish types; null for any type without node ports. */
export function quotaServiceType(service: Service): 'NodePort' | 'LoadBalancer' | null {
  const type = service.spec?.type;
  return type === 'NodePort' || type === 'LoadBalancer' ? type : null;
}

/**
 * How many node ports the service will take, by its spec, because they are not allocated yet when it is charged. A load
 * balancer without node ports is still charged those that its spec names.
 */
function nodePortsOf(service: Service): number {
  const ports = service.spec?.ports ?? [];
  switch (quotaServiceType(service)) {
    case null:
      return 0;
    case 'LoadBalancer':
      return service.spec?.allocateLoadBalancerNodePorts === false
        ? ports.filter((port) => (port.nodePort ?? 0) !== 0).length
        : ports.length;
    case 'NodePort':
      return ports.length;
  }
}

/** What a service is charged, under every name that a quota may count it by. */
export function serviceCharge(service: Service): ResourceList {
  return {
    'count/services': '1',
    services: '1',
    'services.nodeports': formatQuantity(quantityOf(BigInt(nodePortsOf(service)))),
    'services.loadbalancers': quotaServiceType(service) === 'LoadBalancer' ? '1' : '0',
  };
}
