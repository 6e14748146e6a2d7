import { describe, expect, it } from 'vitest';
import { changesUsage, chargeEndsAt, replenishes } from '../../../domain/quota-usage/changes.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';

const NOW = Date.UTC(2026, 10, 20, 10);
const core = (resource: string) => ({ group: '', resource });
const PODS = core('pods');
const dra = (resource: string) => ({ group: 'resource.k8s.io', resource });

const running: Pod = {
  spec: { containers: [{ name: 'foo', resources: { requests: { cpu: '2' } } }] },
  status: { phase: 'Running', qosClass: 'Burstable' },
};
const withStatus = (status: NonNullable<Pod['status']>): Pod => ({
  ...running,
  status: { ...running.status, ...status },
});
const runsWith = (cpu: string): Pod =>
  withStatus({ containerStatuses: [{ name: 'foo', resources: { requests: { cpu } } }] });
const deleted = (secondsAgo: number, grace = 30): Pod => ({
  ...running,
  metadata: {
    deletionTimestamp: new Date(NOW - secondsAgo * 1000).toISOString(),
    deletionGracePeriodSeconds: grace,
  },
});
const withSpec = (spec: NonNullable<Pod['spec']>): Pod => ({ ...running, spec: { ...running.spec, ...spec } });

describe('the filter of updates that Kubernetes has', () => {
  it.each([
    ['a pod that starts', withStatus({ phase: 'Pending' }), running, false],
    ['a pod that ends', running, withStatus({ phase: 'Succeeded' }), true],
    ['a pod that fails', running, withStatus({ phase: 'Failed' }), true],
    ['a pod that had ended', withStatus({ phase: 'Succeeded' }), withStatus({ phase: 'Succeeded' }), false],
    ['a pod that is stuck in its deletion', running, deleted(31), true],
    ['a pod that is being deleted', running, deleted(0), false],
    ['a pod that was stuck already', deleted(31), { ...deleted(31), status: { phase: 'Running' } }, false],
    ['a pod that is given an end', running, withSpec({ activeDeadlineSeconds: 60 }), true],
    [
      'a pod that is given another end',
      withSpec({ activeDeadlineSeconds: 1 }),
      withSpec({ activeDeadlineSeconds: 2 }),
      false,
    ],
    ['a pod that is resized on its node', runsWith('2'), runsWith('3'), true],
    ['a pod that runs with the same', runsWith('2'), runsWith('2000m'), false],
    ['a pod whose container has a status first', running, runsWith('2'), false],
    ['a pod whose container lost its status', runsWith('2'), running, false],
    ['a pod that is to be resized', running, withSpec({ containers: [{ name: 'foo' }] }), false],
  ])('%s', (_, before, after, expected) => {
    expect(replenishes(PODS, before, after, NOW)).toBe(expected);
  });

  it('looks at init containers as well, and tells no resources from empty ones', () => {
    const init = (resources: object | undefined): Pod =>
      withStatus({ initContainerStatuses: [{ name: 'i', resources }] });
    expect(replenishes(PODS, init({ limits: { cpu: '1' } }), init({ limits: { cpu: '2' } }), NOW)).toBe(true);
    expect(replenishes(PODS, init(undefined), init({}), NOW)).toBe(true);
    expect(replenishes(PODS, init({}), init({ requests: {} }), NOW)).toBe(false);
  });

  it('looks at the type of a service, not at its ports', () => {
    const service = (type: string, ports = 1) => ({ spec: { type, ports: Array.from({ length: ports }, () => ({})) } });
    const filter = (before: object, after: object) => replenishes(core('services'), before, after, NOW);
    expect(filter(service('NodePort'), service('ClusterIP'))).toBe(true);
    expect(filter(service('LoadBalancer'), service('NodePort'))).toBe(true);
    expect(filter(service('ClusterIP'), service('ExternalName'))).toBe(false);
    expect(filter(service('NodePort', 1), service('NodePort', 2))).toBe(false);
  });

  it('takes every update of a volume claim, and none of anything else', () => {
    expect(replenishes(core('persistentvolumeclaims'), {}, {}, NOW)).toBe(true);
    expect(replenishes(core('configmaps'), {}, {}, NOW)).toBe(false);
    expect(replenishes(dra('resourceclaims'), {}, {}, NOW)).toBe(false);
    expect(replenishes({ group: 'metrics.k8s.io', resource: 'pods' }, running, {}, NOW)).toBe(false);
  });
});

describe('an update that may change usage', () => {
  const changes = (before: Pod, after: Pod) => changesUsage(PODS, before, after, NOW);

  it('is every one that the filter takes', () => {
    expect(changes(running, withStatus({ phase: 'Failed' }))).toBe(true);
    expect(changesUsage(core('persistentvolumeclaims'), {}, {}, NOW)).toBe(true);
  });

  it('is one to another charge, also to a higher one', () => {
    const larger = withSpec({ containers: [{ name: 'foo', resources: { requests: { cpu: '3' } } }] });
    expect(changes(running, larger)).toBe(true);
    expect(changes(withStatus({ phase: 'Failed' }), running)).toBe(true);
    const ports = (count: number): object => ({
      spec: { type: 'NodePort', ports: Array.from({ length: count }, () => ({})) },
    });
    expect(changesUsage(core('services'), ports(1), ports(2), NOW)).toBe(true);
    expect(changesUsage(core('services'), ports(2), ports(2), NOW)).toBe(false);
  });

  it('is one to another scope', () => {
    expect(changes(running, withSpec({ priorityClassName: 'high' }))).toBe(true);
    const selecting = [{ namespaceSelector: {} }];
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: selecting } };
    expect(changes(running, withSpec({ affinity }))).toBe(true);
    expect(changes(running, withStatus({ qosClass: 'BestEffort' }))).toBe(true);
  });

  it('is one by which the pod names the claim that was made for it', () => {
    expect(changes(running, withStatus({ extendedResourceClaimStatus: { resourceClaimName: 'foo' } }))).toBe(true);
  });

  it('is none of the many that only say how a pod is', () => {
    expect(changes(withStatus({ phase: 'Pending' }), running)).toBe(false);
    expect(changes(running, withStatus({ conditions: [{ type: 'Ready' }] }))).toBe(false);
    expect(changes(running, runsWith('2'))).toBe(false);
  });

  it('is for a device class another extended resource, and none for what is only counted', () => {
    const named = (extendedResourceName?: string): object => ({ spec: { extendedResourceName } });
    expect(changesUsage(dra('deviceclasses'), named(), named('example.com/gpu'), NOW)).toBe(true);
    expect(changesUsage(dra('deviceclasses'), named('a.b/c'), named('a.b/c'), NOW)).toBe(false);
    expect(changesUsage(dra('resourceclaims'), {}, { metadata: { name: 'x' } }, NOW)).toBe(false);
    expect(changesUsage(core('secrets'), {}, { metadata: { name: 'x' } }, NOW)).toBe(false);
  });
});

describe('the moment from which an object is charged no more by itself', () => {
  it('is that from which a deleted pod counts as stuck', () => {
    const at = chargeEndsAt(PODS, deleted(0));
    expect(at).toBe(NOW + 30_001);
    expect(changesUsage(PODS, running, deleted(0), at ?? 0)).toBe(true);
    expect(changesUsage(PODS, running, deleted(0), (at ?? 0) - 1)).toBe(false);
  });

  it('is none for other objects, for pods that nobody deleted, and for those that have ended', () => {
    expect(chargeEndsAt(PODS, running)).toBeNull();
    const ended: Pod = { ...deleted(0), status: { phase: 'Succeeded' } };
    expect(chargeEndsAt(PODS, ended)).toBeNull();
    expect(chargeEndsAt(core('services'), deleted(0))).toBeNull();
  });
});

describe('an update of an object with an amount that cannot be read', () => {
  it('may change the usage, so that it is counted again', () => {
    const odd = withSpec({ containers: [{ name: 'foo', resources: { requests: { memory: '1e1002' } } }] });
    expect(changesUsage(PODS, running, odd, NOW)).toBe(true);
    expect(changesUsage(PODS, runsWith('1'), runsWith('1e1002'), NOW)).toBe(true);
  });
});
