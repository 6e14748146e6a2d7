import { describe, expect, it } from 'vitest';
import { QuotaRoom } from '../../../../domain/lights-out/workload/quota-room.ts';

const quotaOf = (hard: Record<string, string>, used: Record<string, string> = {}, more: object = {}) => ({
  spec: { hard, ...more },
  status: { used },
});

describe('the quotas of a namespace', () => {
  it('let in as many pods as the tightest of them has room for', () => {
    const quotas = [
      quotaOf({ pods: '10' }, { pods: '4' }),
      quotaOf({ 'requests.cpu': '2', memory: '1Gi' }, { 'requests.cpu': '500m' }),
    ];
    expect(new QuotaRoom(quotas).take(100, { cpu: 500, memory: 0 })).toBe(3);
    expect(new QuotaRoom(quotas).take(100, { cpu: 0, memory: 0 })).toBe(6);
    expect(new QuotaRoom(quotas).take(100, { cpu: 0, memory: 512 * 1024 ** 2 })).toBe(2);
    expect(new QuotaRoom([]).take(100, { cpu: 500 })).toBe(100);
  });

  it('count limits, of which a pod has no less than it requests, and whatever else pods request', () => {
    expect(new QuotaRoom([quotaOf({ 'limits.cpu': '2' })]).take(100, { cpu: 500 })).toBe(4);
    const devices = quotaOf({ 'requests.nvidia.com/gpu': '3' }, { 'requests.nvidia.com/gpu': '1' });
    expect(new QuotaRoom([devices]).take(100, { 'nvidia.com/gpu': 1 })).toBe(2);
    expect(new QuotaRoom([devices]).take(100, { cpu: 500 })).toBe(100);
    expect(new QuotaRoom([quotaOf({ 'hugepages-2Mi': '4Mi' })]).take(100, { 'hugepages-2Mi': 2 * 1024 ** 2 })).toBe(2);
    // Of volumes and other objects.
    const others = quotaOf({ 'requests.storage': '0', 'count/secrets': '0', services: '0', constructor: '0' });
    expect(new QuotaRoom([others]).take(100, { cpu: 500 })).toBe(100);
  });

  it('refuse pods that do not say how much CPU or memory they request', () => {
    expect(new QuotaRoom([quotaOf({ 'requests.cpu': '2' })]).take(100, { memory: 1 })).toBe(0);
    expect(new QuotaRoom([quotaOf({ memory: '2Gi' })]).take(100, {})).toBe(0);
  });

  it('have the room once for all workloads', () => {
    const room = new QuotaRoom([quotaOf({ 'count/pods': '5' })]);
    expect([room.take(3, {}), room.take(3, {}), room.take(3, {})]).toEqual([3, 2, 0]);
  });

  it('are no limit where they are for some pods only, and let nothing in where they are exceeded', () => {
    expect(new QuotaRoom([quotaOf({ pods: '1' }, {}, { scopes: ['BestEffort'] })]).take(3, {})).toBe(3);
    // What runs for ever is all that a schedule wakes.
    expect(new QuotaRoom([quotaOf({ pods: '1' }, {}, { scopes: ['NotTerminating'] })]).take(3, {})).toBe(1);
    const both = ['NotTerminating', 'NotBestEffort'];
    expect(new QuotaRoom([quotaOf({ pods: '1' }, {}, { scopes: both })]).take(3, {})).toBe(3);
    expect(new QuotaRoom([quotaOf({ pods: '1' }, { pods: '4' })]).take(3, {})).toBe(0);
  });
});
