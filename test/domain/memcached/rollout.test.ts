import { describe, expect, it } from 'vitest';
import { memcachedSpec, type WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { specWarnings } from '../../../domain/memcached/api/warnings.ts';
import { rolloutStrategy } from '../../../domain/memcached/children/rollout.ts';

const labels = { 'app.kubernetes.io/instance': 'cache' };
const oneMore = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };
const oneFewer = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };

const strategyOf = (written: WrittenSpec): object => rolloutStrategy(memcachedSpec.parse(written), labels);

describe('a rollout', () => {
  it('starts the new pod first, where there is a place for it', () => {
    for (const highAvailability of [undefined, {}, { antiAffinityPreset: 'soft' as const }]) {
      expect(strategyOf({ replicas: 3, highAvailability })).toEqual(oneMore);
    }
  });

  it('waits for the place of an old pod, where two of them never share a node', () => {
    const highAvailability = { antiAffinityPreset: 'hard' as const };
    for (const replicas of [1, 3]) expect(strategyOf({ replicas, highAvailability })).toEqual(oneFewer);
    expect(strategyOf({ highAvailability, autoscaling: { enabled: true, maxReplicas: 5 } })).toEqual(oneFewer);
  });

  const spread = (more: object) => ({
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'DoNotSchedule',
    labelSelector: { matchLabels: labels },
    ...more,
  });

  it.each<[string, object, boolean]>([
    ['by node', {}, true],
    ['of everything by node', { labelSelector: {} }, true],
    ['by node, if it can be', { whenUnsatisfiable: 'ScheduleAnyway' }, false],
    ['of as many pods in a node as there are', { maxSkew: 3 }, true],
    ['of more pods in a node than there are', { maxSkew: 4 }, false],
    ['by zone', { topologyKey: 'topology.kubernetes.io/zone' }, false],
    ['over so many zones at least', { topologyKey: 'topology.kubernetes.io/zone', minDomains: 4 }, true],
    ['of other pods', { labelSelector: { matchLabels: { 'app.kubernetes.io/instance': 'other' } } }, false],
    ['of no pods', { labelSelector: undefined }, false],
    ['of the pods of one template', { matchLabelKeys: ['pod-template-hash'] }, false],
  ])('that has to spread pods, %s: waits for the place of an old one: %s', (_, more, waits) => {
    const highAvailability = { topologySpreadConstraints: [spread(more)] };
    expect(strategyOf({ replicas: 3, highAvailability })).toEqual(waits ? oneFewer : oneMore);
  });

  it('of the only pod leaves none for a moment, which is said', () => {
    const highAvailability = { antiAffinityPreset: 'hard' as const };
    const one =
      'spec.highAvailability.antiAffinityPreset: with "hard" a pod goes before the next one is there, so that nobody serves meanwhile with 1 pod: set "soft", or more replicas';
    expect(specWarnings({ replicas: 1, highAvailability })).toEqual([one]);
    expect(specWarnings({ replicas: 2, highAvailability })).toEqual([]);
    expect(specWarnings({ replicas: 0, highAvailability })).toEqual([]);
    expect(specWarnings({ replicas: 1, highAvailability: { antiAffinityPreset: 'soft' } })).toEqual([]);
    const autoscaling = { enabled: true, maxReplicas: 5, metrics: [] };
    expect(specWarnings({ highAvailability, autoscaling })).toEqual([
      one.replace('with 1 pod', 'while the autoscaler is at 1 pod'),
    ]);
    expect(specWarnings({ highAvailability, autoscaling: { ...autoscaling, minReplicas: 2 } })).toEqual([]);
  });
});
