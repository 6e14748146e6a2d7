import { describe, expect, it } from 'vitest';
import { podRequests as requestsOfPod } from '../../../domain/kernel/pod-requests.ts';

const podRequests = (spec: object) => requestsOfPod({ spec });
const requests = (cpu: string) => ({ resources: { requests: { cpu } } });

describe('what a pod requests', () => {
  it('is its containers and sidecars together, or the largest step of its start', () => {
    const sidecar = { ...requests('200m'), restartPolicy: 'Always' };
    expect(podRequests({ containers: [requests('1'), requests('500m')], initContainers: [sidecar] })).toEqual({
      cpu: 1700,
    });
    // The init container runs beside the sidecar that was started before it, and not beside the one after it.
    expect(podRequests({ containers: [requests('1')], initContainers: [sidecar, requests('2'), sidecar] })).toEqual({
      cpu: 2200,
    });
  });

  it('is what the pod requests as a whole, where it does, and its overhead', () => {
    expect(
      podRequests({
        containers: [{ resources: { requests: { cpu: '3', memory: '1Gi', 'example.com/gpu': '1' } } }],
        resources: { requests: { cpu: '1', 'example.com/gpu': '7' } },
        overhead: { cpu: '250m' },
      }),
    ).toEqual({ cpu: 1250, memory: 1024 ** 3, 'example.com/gpu': 1 });
  });

  it('is a limit where no request is said: the API server stores pods so, but not the templates of workloads', () => {
    const limits = { cpu: '500m', memory: '64Mi', 'example.com/gpu': '1' };
    expect(podRequests({ containers: [{ resources: { limits, requests: { cpu: '100m' } } }] })).toEqual({
      cpu: 100,
      memory: 64 * 1024 ** 2,
      'example.com/gpu': 1,
    });
  });

  it('is rounded up to millicores and whole units', () => {
    expect(podRequests({ containers: [{ resources: { requests: { cpu: '100u', memory: '1500m' } } }] })).toEqual({
      cpu: 1,
      memory: 2,
    });
  });

  it('is rounded when everything has been added', () => {
    expect(podRequests({ containers: [requests('0.5m'), requests('500u'), requests('1')] })).toEqual({ cpu: 1001 });
  });

  it('is nothing where the amount is more than kube-scheduler can read', () => {
    expect(podRequests({ containers: [{ resources: { requests: { cpu: '1e400', memory: '1e19' } } }] })).toEqual({
      cpu: 0,
      memory: 0,
    });
  });
});

describe('what a pod requests while it is resized in place', () => {
  const spec = { containers: [{ name: 'app', ...requests('2') }] };
  const pod = (actual: string, allocated: string, reason?: string) => ({
    spec,
    status: {
      conditions: reason === undefined ? [] : [{ type: 'PodResizePending', status: 'True', reason }],
      containerStatuses: [{ name: 'app', ...requests(actual), allocatedResources: { cpu: allocated } }],
    },
  });

  it('is the most of what is asked for, allocated and there', () => {
    expect(requestsOfPod(pod('1', '1500m'))).toEqual({ cpu: 2000 });
    expect(requestsOfPod(pod('3', '2'))).toEqual({ cpu: 3000 });
    expect(requestsOfPod(pod('2', '4'))).toEqual({ cpu: 4000 });
    expect(requestsOfPod(pod('1', '1', 'Deferred'))).toEqual({ cpu: 2000 });
  });

  it('is without what is asked for where the node can never have it', () => {
    expect(requestsOfPod(pod('1', '1500m', 'Infeasible'))).toEqual({ cpu: 1500 });
  });

  it('is what is asked for where the kubelet has said nothing of the container', () => {
    const conditions = [{ type: 'PodResizePending', reason: 'Infeasible' }];
    const containerStatuses = [{ name: 'app', allocatedResources: { cpu: '5' } }];
    expect(requestsOfPod({ spec, status: { conditions, containerStatuses } })).toEqual({ cpu: 2000 });
  });

  it('is the most of a sidecar, too, and an init container as it is written', () => {
    const initContainers = [
      { name: 'sidecar', restartPolicy: 'Always', ...requests('1') },
      { name: 'first', ...requests('1') },
    ];
    const initContainerStatuses = [
      { name: 'sidecar', ...requests('2') },
      { name: 'first', ...requests('9') },
    ];
    expect(requestsOfPod({ spec: { ...spec, initContainers }, status: { initContainerStatuses } })).toEqual({
      cpu: 4000,
    });
  });
});
