import { describe, expect, it } from 'vitest';
import {
  type DrainedPod,
  firstStage,
  leavingPods,
  podsToEvict,
} from '../../../../domain/node-group/drain/pods-to-evict.ts';
import { aPod, ownerOf } from './pods.ts';

const BEGAN = 1_000;
const names = (pods: readonly DrainedPod[]): readonly string[] => pods.map(({ name }) => name);

describe('the pods that a drain takes off a node', () => {
  it('are those that run or wait to, with and without an owner, and those that are being deleted', () => {
    const pods = [
      aPod('web'),
      aPod('bare', { owner: null }),
      aPod('pending', { phase: 'Pending' }),
      aPod('silent', { phase: 'Unknown' }),
      aPod('leaving', { deletesAt: 5_000 }),
      // Anybody may write this.
      aPod('said to be from a file', { annotations: { 'kubernetes.io/config.source': 'file' } }),
      aPod('said to be a mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
      // Another kind of that name, as storage systems have it.
      aPod('of a foreign Node', { owner: { apiVersion: 'longhorn.io/v1beta2', kind: 'Node', name: 'n', uid: 'u' } }),
    ];
    expect(podsToEvict(pods)).toEqual(pods);
  });

  it.each([
    ['one that has succeeded', aPod('a', { phase: 'Succeeded' })],
    ['one that has failed', aPod('a', { phase: 'Failed' })],
    ['one of a DaemonSet', aPod('a', { owner: ownerOf('DaemonSet') })],
    ['one that the Node owns', aPod('a', { owner: ownerOf('Node') })],
  ])('are not %s', (_, pod) => {
    expect(podsToEvict([pod])).toEqual([]);
  });
});

describe('the order of evictions', () => {
  const asking = { 'cluster-autoscaler.kubernetes.io/enable-ds-eviction': 'true' };
  const critical = aPod('critical', { priority: 2_000_000_000 });
  const daemon = aPod('daemon', { owner: ownerOf('DaemonSet'), annotations: asking });
  const criticalDaemon = aPod('critical-daemon', {
    owner: ownerOf('DaemonSet'),
    annotations: asking,
    priority: 2_000_001_000,
  });
  const stages = (pods: readonly DrainedPod[]): readonly (readonly string[])[] => {
    const stage = firstStage(leavingPods(pods, BEGAN));
    return stage.length === 0 ? [] : [names(stage), ...stages(pods.filter((pod) => !stage.includes(pod)))];
  };

  it('is ordinary pods, those of DaemonSets that ask for it, critical ones, and critical ones of DaemonSets', () => {
    const system = aPod('system', { namespace: 'kube-system' });
    const all = [
      criticalDaemon,
      system,
      critical,
      daemon,
      aPod('web-b'),
      aPod('web-a'),
      aPod('done', { phase: 'Failed' }),
    ];
    expect(stages(all)).toEqual([['web-a', 'web-b'], ['daemon'], ['system', 'critical'], ['critical-daemon']]);
  });

  it('leaves out what a DaemonSet has made since the drain began', () => {
    expect(stages([aPod('again', { ...daemon, createdAt: BEGAN })])).toEqual([]);
  });

  it('waits for a pod that is on its way out before the next stage', () => {
    expect(names(firstStage([critical, aPod('web', { deletesAt: 9_000 })]))).toEqual(['web']);
  });
});
