import { describe, expect, it } from 'vitest';
import { changesDevices, deviceCharge, type ResourceClaim } from '../../../domain/quota-usage/resource-claim-charge.ts';
import type { UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';

const NOW = Date.UTC(2026, 10, 20);
const COUNT = { 'count/resourceclaims.resource.k8s.io': '1' };

const gated: UsageContext = { now: NOW, deviceClasses: new Map(), extendedClaims: true, podNamed: () => undefined };
const ask = (deviceClassName: string, count?: number, allocationMode = 'ExactCount') => ({
  deviceClassName,
  allocationMode,
  count,
});
const exactly = (...asks: ReturnType<typeof ask>[]): ResourceClaim => ({
  metadata: { name: 'foo' },
  spec: { devices: { requests: asks.map((exactly) => ({ exactly: exactly })) } },
});
const firstOf = (...asks: ReturnType<typeof ask>[]): ResourceClaim => ({
  spec: { devices: { requests: [{ firstAvailable: asks }] } },
});
const charged = (gpus: number) => ({
  ...COUNT,
  'gpu.deviceclass.resource.k8s.io/devices': `${gpus}`,
  'requests.deviceclass.resource.kubernetes.io/gpu': `${gpus}`,
});

describe('the charge of a resource claim', () => {
  it('is the devices that it asks for, by class, and under the name that a pod could ask for them by', () => {
    expect(deviceCharge(exactly(ask('gpu', 1)), gated)).toEqual(charged(1));
    expect(deviceCharge(exactly(ask('gpu', 5)), gated)).toEqual(charged(5));
    expect(deviceCharge(exactly(...Array.from({ length: 5 }, () => ask('gpu', 1))), gated)).toEqual(charged(5));
  });

  it('follows the defaults of the API: one device, exactly', () => {
    const claim = { spec: { devices: { requests: [{ exactly: { deviceClassName: 'gpu' } }] } } };
    expect(deviceCharge(claim, gated)).toEqual(charged(1));
  });

  it('takes all devices for the most that a claim can be given', () => {
    expect(deviceCharge(exactly(ask('gpu', 1, 'All')), gated)).toEqual(charged(32));
  });

  it('counts no devices for a mode that it does not know, but the claim', () => {
    expect(deviceCharge(exactly(ask('gpu', 1, 'future-mode')), gated)).toEqual({
      ...COUNT,
      'gpu.deviceclass.resource.k8s.io/devices': '0',
    });
    expect(deviceCharge(firstOf(ask('gpu', 1, 'future-mode')), gated)).toEqual(COUNT);
    expect(deviceCharge({ spec: { devices: { requests: [{}] } } }, gated)).toEqual(COUNT);
    expect(deviceCharge({}, gated)).toEqual(COUNT);
  });

  it('takes the worst case of each class among alternatives', () => {
    expect(deviceCharge(firstOf(ask('gpu', 1)), gated)).toEqual(charged(1));
    expect(deviceCharge(firstOf(ask('gpu', 2), ask('gpu', 1)), gated)).toEqual(charged(2));
    expect(deviceCharge(firstOf(ask('gpu', 1), ask('gpu', undefined, 'All')), gated)).toEqual(charged(32));
    expect(deviceCharge(firstOf(ask('gpu', 1), ask('tpu', undefined, 'All')), gated)).toEqual({
      ...charged(1),
      'tpu.deviceclass.resource.k8s.io/devices': '32',
      'requests.deviceclass.resource.kubernetes.io/tpu': '32',
    });
  });

  it('is under no name of an extended resource where the cluster does not know those for claims', () => {
    const plain = { ...COUNT, 'gpu.deviceclass.resource.k8s.io/devices': '1' };
    expect(deviceCharge(exactly(ask('gpu', 1)), { ...gated, extendedClaims: false })).toEqual(plain);
  });

  it('is under its implicit name where it is not known whether the cluster knows those, and no class has a name of its own', () => {
    const unsaid = { now: NOW, podNamed: () => undefined };
    const unnamed = { ...unsaid, deviceClasses: new Map([['gpu', null]]) };
    expect(deviceCharge(exactly(ask('gpu', 1)), unnamed)).toEqual(charged(1));
    const named = new Map([['gpu', 'example.com/gpu']]);
    expect(deviceCharge(exactly(ask('gpu', 1)), { ...unsaid, deviceClasses: named })).toEqual({
      ...charged(1),
      'requests.example.com/gpu': '1',
    });
  });

  it('is the larger one where two classes stand for the same resource', () => {
    const deviceClasses = new Map([
      ['new', 'example.com/gpu'],
      ['old', 'example.com/gpu'],
    ]);
    const charge = deviceCharge(exactly(ask('new', 2), ask('old', 3)), { ...gated, deviceClasses });
    expect(charge['requests.example.com/gpu']).toBe('3');
  });
});

describe('a claim that was made for the extended resources of a pod', () => {
  const EXPLICIT = { 'example.com/gpu': '1' };
  const IMPLICIT = { 'deviceclass.resource.kubernetes.io/gpu': '1' };
  const container = (requests: object) => ({ resources: { requests: { ...requests } } });
  const made = (count: number, owner: object = {}, annotation = 'true'): ResourceClaim => ({
    ...exactly(...Array.from({ length: count }, () => ask('gpu', 1))),
    metadata: {
      name: 'foo',
      annotations: { 'resource.kubernetes.io/extended-resource-claim': annotation },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid', controller: true, ...owner }],
    },
  });
  const pod = (spec: NonNullable<Pod['spec']>, status: Pod['status'] = {}): Pod => ({
    metadata: { name: 'p', uid: 'uid' },
    spec,
    status,
  });
  const chargeBeside = (claim: ResourceClaim, owner: Pod) =>
    deviceCharge(claim, {
      ...gated,
      deviceClasses: new Map([['gpu', 'example.com/gpu']]),
      podNamed: (name) => (name === owner.metadata?.name ? owner : undefined),
    });
  const devices = (count: string) => ({ ...COUNT, 'gpu.deviceclass.resource.k8s.io/devices': count });
  const named = { extendedResourceClaimStatus: { resourceClaimName: 'foo' } };

  it('is not charged under the name that the pod asked by', () => {
    expect(chargeBeside(made(1), pod({ containers: [container(IMPLICIT)] }, named))).toEqual({
      ...devices('1'),
      'requests.example.com/gpu': '1',
    });
    expect(chargeBeside(made(1), pod({ initContainers: [container(EXPLICIT)] }, named))).toEqual({
      ...devices('1'),
      'requests.deviceclass.resource.kubernetes.io/gpu': '1',
    });
  });

  it('is charged the rest where the pod asked by both names', () => {
    const both = container({ ...EXPLICIT, ...IMPLICIT });
    const rest = {
      ...devices('2'),
      'requests.deviceclass.resource.kubernetes.io/gpu': '1',
      'requests.example.com/gpu': '1',
    };
    expect(chargeBeside(made(2), pod({ initContainers: [both], containers: [both] }, named))).toEqual(rest);
    expect(chargeBeside(made(2), pod({ initContainers: [both, both], containers: [both] }, named))).toEqual(rest);
    const each = pod({ initContainers: [container(EXPLICIT)], containers: [container(IMPLICIT)] });
    expect(chargeBeside(made(2), each)).toEqual(rest);
  });

  it('is charged whole when that pod is not its own, or is charged no more', () => {
    const asking = { containers: [container(EXPLICIT)] };
    const whole = { ...devices('1'), ...charged(1), 'requests.example.com/gpu': '1' };
    const own = pod(asking, named);
    expect(chargeBeside(made(1, {}, 'false'), own)).toEqual(whole);
    expect(chargeBeside(made(1, { kind: 'Job' }), own)).toEqual(whole);
    expect(chargeBeside(made(1, { apiVersion: 'v2' }), own)).toEqual(whole);
    expect(chargeBeside(made(1, { controller: false }), own)).toEqual(whole);
    expect(chargeBeside(made(1, { uid: 'its predecessor' }), own)).toEqual(whole);
    expect(chargeBeside(made(1, { name: 'gone' }), own)).toEqual(whole);
    const other = { extendedResourceClaimStatus: { resourceClaimName: 'bar' } };
    expect(chargeBeside(made(1), pod(asking, other))).toEqual(whole);
    expect(chargeBeside(made(1), pod(asking, { ...named, phase: 'Succeeded' }))).toEqual(whole);
  });

  it('changes only with what decides its charge', () => {
    expect(changesDevices(made(1), { ...made(1), metadata: { ...made(1).metadata, name: 'x' } })).toBe(false);
    expect(changesDevices(made(1), made(1, { uid: 'another' }))).toBe(true);
    expect(changesDevices(made(1), made(1, {}, 'false'))).toBe(true);
  });
});
