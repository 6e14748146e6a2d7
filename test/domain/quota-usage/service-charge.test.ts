import { describe, expect, it } from 'vitest';
import { quotaServiceType, serviceCharge } from '../../../domain/quota-usage/service-charge.ts';

const ports = (...nodePorts: (number | undefined)[]) => nodePorts.map((nodePort) => ({ port: 443, nodePort }));

describe('the charge of a service', () => {
  it.each([
    ['one inside the cluster takes no port of the nodes', 'ClusterIP', ports(undefined), undefined, '0', '0'],
    ['one of no type is one inside the cluster', undefined, ports(undefined), undefined, '0', '0'],
    ['an external name takes none either', 'ExternalName', undefined, undefined, '0', '0'],
    ['each port of a NodePort is one', 'NodePort', ports(undefined, undefined), undefined, '2', '0'],
    [
      'a load balancer takes one for each of its ports',
      'LoadBalancer',
      ports(undefined, undefined),
      undefined,
      '2',
      '1',
    ],
    ['a load balancer without ports takes none', 'LoadBalancer', undefined, undefined, '0', '1'],
    ['ports that are named are not counted twice', 'LoadBalancer', ports(32001, 32002), undefined, '2', '1'],
    ['said or not, ports are allocated', 'LoadBalancer', ports(undefined, undefined), true, '2', '1'],
    ['a load balancer may do without', 'LoadBalancer', ports(undefined, undefined), false, '0', '1'],
    ['but those that it names are taken', 'LoadBalancer', ports(32001, 0, 32002), false, '2', '1'],
    ['a NodePort cannot do without', 'NodePort', ports(undefined), false, '1', '0'],
  ])('%s', (_, type, given, allocateLoadBalancerNodePorts, nodePorts, loadBalancers) => {
    expect(serviceCharge({ spec: { type, ports: given, allocateLoadBalancerNodePorts } })).toEqual({
      'count/services': '1',
      services: '1',
      'services.nodeports': nodePorts,
      'services.loadbalancers': loadBalancers,
    });
  });

  it('does not tell types apart that take nothing', () => {
    const types = ['ClusterIP', 'ExternalName', 'NodePort', 'LoadBalancer'];
    expect(types.map((type) => quotaServiceType({ spec: { type } }))).toEqual([null, null, 'NodePort', 'LoadBalancer']);
    expect(quotaServiceType({})).toBeNull();
  });
});
