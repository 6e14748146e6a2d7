import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../domain/quota-usage/pod.ts';
import { podCharge, podLimits, podRequests } from '../../../domain/quota-usage/pod-charge.ts';

const NOW = Date.UTC(2026, 10, 20);

const asking = (requests: Record<string, string>, limits?: Record<string, string>) => ({
  resources: limits === undefined ? { requests } : { requests, limits },
});

describe('the charge of a pod', () => {
  it('is counted under every name that a quota may have for it', () => {
    const pod: Pod = {
      spec: {
        containers: [
          asking(
            { cpu: '250m', memory: '64Mi', 'ephemeral-storage': '1Gi', 'hugepages-2Mi': '4Mi', 'nvidia.com/gpu': '1' },
            { cpu: '1', memory: '128Mi' },
          ),
        ],
      },
    };
    expect(podCharge(pod, NOW)).toEqual({
      'count/pods': '1',
      pods: '1',
      cpu: '250m',
      'requests.cpu': '250m',
      'limits.cpu': '1',
      memory: '64Mi',
      'requests.memory': '64Mi',
      'limits.memory': '128Mi',
      'ephemeral-storage': '1Gi',
      'requests.ephemeral-storage': '1Gi',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.nvidia.com/gpu': '1',
    });
  });

  it('does not count native resources that quotas do not know, but device classes', () => {
    const pod = {
      spec: { containers: [asking({ 'x.kubernetes.io/y': '1', 'deviceclass.resource.kubernetes.io/gpu': '2' })] },
    };
    expect(podCharge(pod, NOW)).toEqual({
      'count/pods': '1',
      pods: '1',
      'requests.deviceclass.resource.kubernetes.io/gpu': '2',
    });
  });

  it('is the greatest of what runs together: sidecars beside every later step', () => {
    const pod: Pod = {
      spec: {
        containers: [asking({ cpu: '1' }), asking({ cpu: '1' })],
        initContainers: [
          asking({ cpu: '2' }),
          { ...asking({ cpu: '500m' }), restartPolicy: 'Always' },
          asking({ cpu: '3' }),
        ],
      },
    };
    expect(podRequests(pod)).toEqual({ cpu: '3500m' });
  });

  const sidecar = (cpu: string) => ({ ...asking({ cpu }), restartPolicy: 'Always' });
  it.each([
    ['every sidecar beside the containers', ['1'], [sidecar('500m'), sidecar('300m')], '1800m'],
    ['every earlier sidecar beside a step', ['1'], [sidecar('500m'), sidecar('300m'), asking({ cpu: '4' })], '4800m'],
    ['no later sidecar beside a step', ['1'], [asking({ cpu: '4' }), sidecar('500m')], '4'],
    ['the greatest step, not the sum of them', ['1'], [asking({ cpu: '2' }), asking({ cpu: '3' })], '3'],
    ['the containers where no step is greater', ['2', '2'], [asking({ cpu: '3' })], '4'],
  ])('counts %s', (_, containers, initContainers, cpu) => {
    expect(podRequests({ spec: { containers: containers.map((cpu) => asking({ cpu })), initContainers } })).toEqual({
      cpu,
    });
  });

  it('takes pod-level resources in place of the sum, and adds the overhead last', () => {
    const pod: Pod = {
      spec: {
        containers: [asking({ cpu: '1', memory: '1Gi' }, { cpu: '1' })],
        resources: { requests: { cpu: '3', storage: '1Gi' } },
        overhead: { cpu: '100m', memory: '10Mi' },
      },
    };
    expect(podRequests(pod)).toEqual({ cpu: '3100m', memory: '1034Mi' });
    expect(podLimits(pod)).toEqual({ cpu: '1100m' });
    expect(podRequests(pod, { podLevel: false, overhead: false })).toEqual({ cpu: '1', memory: '1Gi' });
  });

  it('counts a resize in progress with the most of what is wanted and in use', () => {
    const pod = (reason: string): Pod => ({
      spec: { containers: [{ name: 'app', resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } }] },
      status: {
        containerStatuses: [
          {
            name: 'app',
            resources: { requests: { cpu: '2' }, limits: { cpu: '3' } },
            allocatedResources: { cpu: '500m' },
          },
        ],
        conditions: [{ type: 'PodResizePending', reason }],
      },
    });
    expect(podCharge(pod('Deferred'), NOW)).toMatchObject({ 'requests.cpu': '2', 'limits.cpu': '3' });
    const shrunk: Pod = { ...pod('Infeasible'), spec: { containers: [{ name: 'app', ...asking({ cpu: '9' }) }] } };
    expect(podRequests(shrunk)).toEqual({ cpu: '2' });
    expect(podRequests(shrunk, { status: false })).toEqual({ cpu: '9' });
  });

  it('counts a resize by the last status of its name, with what is allocated where that is most, and never as a limit', () => {
    const statuses = [
      { name: 'app', resources: { requests: { cpu: '9' }, limits: { cpu: '9' } } },
      { name: 'app', resources: { requests: { cpu: '1' }, limits: { cpu: '2' } }, allocatedResources: { cpu: '3' } },
    ];
    const pod = (reason: string): Pod => ({
      spec: { containers: [{ name: 'app', ...asking({ cpu: '1' }, { cpu: '1' }) }] },
      status: { containerStatuses: statuses, conditions: [{ type: 'PodResizePending', reason }] },
    });
    for (const reason of ['Deferred', 'Infeasible']) {
      expect([podRequests(pod(reason)), podLimits(pod(reason))]).toEqual([{ cpu: '3' }, { cpu: '2' }]);
    }
  });

  it('is only its place in storage once the pod has ended or is stuck in its deletion', () => {
    const spec = { containers: [asking({ cpu: '1' })] };
    const stored = { 'count/pods': '1' };
    expect(podCharge({ spec, status: { phase: 'Succeeded' } }, NOW)).toEqual(stored);
    expect(podCharge({ spec, status: { phase: 'Failed' } }, NOW)).toEqual(stored);
    const deleted = (secondsAgo: number) => ({
      spec,
      metadata: { deletionTimestamp: new Date(NOW - secondsAgo * 1000), deletionGracePeriodSeconds: 30 },
    });
    expect(podCharge(deleted(31), NOW)).toEqual(stored);
    expect(podCharge(deleted(30), NOW)).toMatchObject({ 'requests.cpu': '1' });
  });
});
