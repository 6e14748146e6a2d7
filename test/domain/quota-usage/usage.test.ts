import { describe, expect, it } from 'vitest';
import { countedUsage, countsClaims, countsPods } from '../../../domain/quota-usage/usage.ts';

const NOW = Date.UTC(2026, 10, 20);
const pod = (cpu: string, change: object = {}) => ({
  spec: { containers: [{ name: 'app', resources: { requests: { cpu } } }], ...change },
});
const claim = (storage: string, storageClassName?: string) => ({
  spec: { resources: { requests: { storage } }, ...(storageClassName === undefined ? {} : { storageClassName }) },
});

describe('the usage that is counted from the objects', () => {
  it('is the charge of the pods and claims that the quota counts, of its own resources only', () => {
    const hard = {
      pods: '9',
      'requests.cpu': '9',
      'requests.storage': '9Gi',
      'gold.storageclass.storage.k8s.io/requests.storage': '1Gi',
    };
    const objects = { pods: [pod('500m'), pod('250m')], claims: [claim('1Gi'), claim('2Gi', 'gold')] };
    expect(countedUsage({ hard }, objects, NOW)).toEqual({
      'gold.storageclass.storage.k8s.io/requests.storage': '2Gi',
      pods: '2',
      'requests.cpu': '750m',
      'requests.storage': '3Gi',
    });
  });

  it('leaves out pods outside of the scopes and pods that have ended, which are objects all the same', () => {
    const hard = { pods: '9', 'count/pods': '9', 'limits.memory': '1Gi' };
    const pods = [pod('1'), { ...pod('1'), status: { phase: 'Succeeded' } }, pod('1', { activeDeadlineSeconds: 60 })];
    expect(countedUsage({ hard, scopes: ['NotTerminating'] }, { pods, claims: [] }, NOW)).toEqual({
      'count/pods': '2',
      'limits.memory': '0',
      pods: '1',
    });
  });

  it('says nothing about what other objects are charged for as well', () => {
    const hard = {
      services: '1',
      'count/jobs.batch': '1',
      'requests.nvidia.com/gpu': '1',
      'gpu.deviceclass.resource.k8s.io/devices': '1',
    };
    expect(countedUsage({ hard }, { pods: [pod('1')], claims: [] }, NOW)).toEqual({});
    expect([countsPods({ hard }), countsClaims({ hard })]).toEqual([false, false]);
  });

  it('needs only the kinds of objects that the quota limits', () => {
    expect(countsPods({ hard: { 'limits.cpu': '1' } })).toBe(true);
    expect(countsPods({ hard: { 'requests.hugepages-2Mi': '1' } })).toBe(true);
    expect(countsClaims({ hard: { 'limits.cpu': '1' } })).toBe(false);
    expect(countsClaims({ hard: { 'count/persistentvolumeclaims': '1' } })).toBe(true);
    expect(countsPods({ hard: { 'requests.storage': '1' } })).toBe(false);
  });
});
