import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import type { LiveObject } from '../../../domain/memcached/plan/live.ts';
import { type Instance, instanceOf } from '../../../domain/memcached/status/instance.ts';
import { registerInstanceMetrics } from '../../../starter/memcached/metrics.ts';

const memcachedAs = (spec: object) =>
  readMemcached({ metadata: { name: 'cache', namespace: 'team-a', uid: 'a', generation: 1 }, spec });

const owner = { uid: 'a', controller: true };

/** A Deployment with so many pods, of which some are ready. */
function deploymentAs(replicas: number, readyReplicas: number, metadata: object = {}): LiveObject {
  return {
    metadata: { ownerReferences: [owner], ...metadata },
    spec: { replicas },
    status: { replicas, readyReplicas },
  };
}

const autoscaled = {
  resources: { requests: { cpu: '100m' } },
  autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 9 },
};

const contradictory = { replicas: 3, memcached: { maxMemoryMB: 64 }, resources: { limits: { memory: '64Mi' } } };

describe('how many pods a Memcached should have', () => {
  it.each<[string, object, LiveObject | null, number | null]>([
    ['as the spec says', { replicas: 3 }, deploymentAs(3, 1), 3],
    ['as the spec says, also when somebody changed the Deployment', { replicas: 3 }, deploymentAs(7, 7), 3],
    ['as the spec says, before there is a Deployment', { replicas: 3 }, null, 3],
    ['one where nothing says it', {}, null, 1],
    ['as its autoscaler has set it', autoscaled, deploymentAs(5, 5), 5],
    ['as few as its autoscaler may, before there is a Deployment', autoscaled, null, 2],
    [
      'as there are while a schedule has them asleep',
      { replicas: 3 },
      deploymentAs(0, 0, { annotations: { 'lightsout.techsupport.mk/managed-by': 'night' } }),
      0,
    ],
    [
      'as there are while they go one by one',
      { replicas: 1 },
      deploymentAs(4, 4, { annotations: { 'memcached.c5c3.io/next-pod-goes': '2026-11-16T20:00:00Z' } }),
      4,
    ],
    [
      'as the spec says where the Deployment is of somebody else',
      { replicas: 3 },
      deploymentAs(7, 7, { ownerReferences: [] }),
      3,
    ],
    ['as there are where the spec contradicts itself', contradictory, deploymentAs(4, 4), 4],
  ])('%s', (_, spec, deployment, desired) => {
    expect(instanceOf(memcachedAs(spec), deployment).desired).toBe(desired);
  });
});

describe('the metrics of Memcacheds', () => {
  it('have the names and labels of the first implementation, and go with their Memcached', async () => {
    let instances: readonly Instance[] = [instanceOf(memcachedAs({ replicas: 3 }), deploymentAs(3, 2))];
    const registry = new Registry();
    registerInstanceMetrics(registry, () => instances);
    const samples = async (): Promise<readonly string[]> =>
      (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(await samples()).toEqual([
      'memcached_operator_instance_replicas_desired{name="cache",namespace="team-a"} 3',
      'memcached_operator_instance_replicas_ready{name="cache",namespace="team-a"} 2',
      'memcached_operator_instance_info{name="cache",namespace="team-a",image="memcached:1.6"} 1',
    ]);
    instances = [];
    expect(await samples()).toEqual([]);
  });

  it('count no pods of somebody else, and have no image where the spec contradicts itself', () => {
    expect(instanceOf(memcachedAs({ replicas: 3 }), deploymentAs(7, 7, { ownerReferences: [] })).ready).toBe(0);
    expect(instanceOf(memcachedAs(contradictory), null)).toMatchObject({ image: null, desired: null, ready: 0 });
  });
});
