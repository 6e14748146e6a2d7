import { expect, it } from 'vitest';
import { endpointsOf, LONGEST_POD_NAME } from '../../../../domain/memcached/servers/endpoints.ts';

const service = (...ipFamilies: readonly string[]) => ({ metadata: { uid: 'service' }, spec: { ipFamilies } });
const slice = (addressType: string, endpoints: readonly object[] | null, owner = 'service') => ({
  metadata: { ownerReferences: [{ uid: owner }] },
  addressType,
  endpoints,
});
const endpoint = (address: string, pod: string, conditions: object = {}) => ({
  addresses: [address],
  conditions,
  targetRef: { kind: 'Pod', name: pod },
});

it('the pods behind a Service are those of all its slices of its first family', () => {
  const slices = [
    slice('IPv4', [endpoint('10.0.0.1', 'a', { ready: true }), endpoint('10.0.0.2', 'b', { ready: false })]),
    slice('IPv6', [endpoint('fd00::1', 'a'), endpoint('fd00::2', 'b')]),
    slice('IPv4', [endpoint('10.0.0.3', 'c', { ready: false, serving: true, terminating: true })]),
    slice('IPv4', [endpoint('10.0.0.9', 'z')], 'the Service before'),
    slice('IPv4', null),
  ];
  expect(endpointsOf(slices, service('IPv4', 'IPv6'))).toEqual([
    { pod: 'a', address: '10.0.0.1:11211', isReady: true, isTerminating: false },
    { pod: 'b', address: '10.0.0.2:11211', isReady: false, isTerminating: false },
    { pod: 'c', address: '10.0.0.3:11211', isReady: false, isTerminating: true },
  ]);
  expect(endpointsOf(slices, service('IPv6')).map(({ address }) => address)).toEqual([
    '[fd00::1]:11211',
    '[fd00::2]:11211',
  ]);
});

it('nobody is known without a Service, and one without a pod is known by its address', () => {
  const slices = [slice('IPv4', [{ addresses: ['10.0.0.1'] }, { addresses: [] }])];
  expect(endpointsOf(slices, null)).toEqual([]);
  expect(endpointsOf(slices, service('IPv4'))).toEqual([
    { pod: '10.0.0.1', address: '10.0.0.1:11211', isReady: true, isTerminating: false },
  ]);
});

it('one whose pod is called as no pod can be is known by its address', () => {
  const slices = [slice('IPv4', [endpoint('10.0.0.1', 'x'.repeat(LONGEST_POD_NAME + 1))])];
  expect(endpointsOf(slices, service('IPv4')).map(({ pod }) => pod)).toEqual(['10.0.0.1']);
});
