import { describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { specWarnings } from '../../../domain/memcached/api/warnings.ts';

type Budget = NonNullable<NonNullable<WrittenSpec['highAvailability']>['podDisruptionBudget']>;

const budget = (limit: Budget, more: WrittenSpec = { replicas: 3 }) =>
  specWarnings({ ...more, highAvailability: { podDisruptionBudget: { enabled: true, ...limit } } });

describe('a budget', () => {
  // As the disruption controller of Kubernetes 1.35 counts: percentages of either field are rounded up.
  it.each<[Budget, number, boolean]>([
    [{ minAvailable: 3 }, 3, true],
    [{ minAvailable: 2 }, 3, false],
    [{ minAvailable: '100%' }, 3, true],
    [{ minAvailable: '67%' }, 3, true],
    [{ minAvailable: '66%' }, 3, false],
    [{ minAvailable: '50%' }, 1, true],
    [{ minAvailable: '0%' }, 1, false],
    [{ maxUnavailable: 0 }, 3, true],
    [{ maxUnavailable: '0%' }, 3, true],
    [{ maxUnavailable: '1%' }, 3, false],
    [{ maxUnavailable: 1 }, 1, false],
    [{ minAvailable: '100%' }, 0, false],
    [{ minAvailable: 'some' }, 3, false],
  ])('%j of %i pods never lets one go: %s', (limit, replicas, isWarned) => {
    expect(budget(limit, { replicas })).toHaveLength(isWarned ? 1 : 0);
  });

  it('is measured by the fewest pods of an autoscaler', () => {
    const autoscaling = { enabled: true, minReplicas: 2, maxReplicas: 9 };
    expect(budget({ minAvailable: 2 }, { autoscaling })).toEqual([
      'spec.highAvailability.podDisruptionBudget.minAvailable: 2 never lets a pod go while the autoscaler is at 2 pods, so that no node with one can be drained: set maxUnavailable to 1 instead',
    ]);
    expect(budget({ minAvailable: 1 }, { autoscaling })).toEqual([]);
    expect(budget({ minAvailable: 1 }, { autoscaling: { enabled: true, maxReplicas: 9 } })).toHaveLength(1);
    expect(specWarnings({ highAvailability: { podDisruptionBudget: { enabled: false, maxUnavailable: 0 } } })).toEqual(
      [],
    );
  });
});

describe('a metric', () => {
  const target = { type: 'Utilization', averageUtilization: 80 };
  const scaledBy = (metric: object, more: WrittenSpec = {}) =>
    specWarnings({ ...more, autoscaling: { enabled: true, maxReplicas: 9, metrics: [metric as { type: string }] } });
  const resource = (name: string, more: WrittenSpec = {}) =>
    scaledBy({ type: 'Resource', resource: { name, target } }, more);
  const requests = { resources: { requests: { cpu: '1', memory: '1Gi' } } };

  it('of memory is warned of, because a filled cache keeps it', () => {
    const kept =
      'spec.autoscaling.metrics[0]: memcached keeps the memory of a filled cache, so pods are added by it and never taken away: scale by cpu';
    expect(resource('memory', requests)).toEqual([kept]);
    const amount = { type: 'AverageValue', averageValue: '60Mi' };
    expect(scaledBy({ type: 'Resource', resource: { name: 'memory', target: amount } })).toEqual([kept]);
    const inContainer = { name: 'memory', container: 'memcached', target: amount };
    expect(scaledBy({ type: 'ContainerResource', containerResource: inContainer })).toEqual([kept]);
    expect(resource('cpu', requests)).toEqual([]);
  });

  it('of a container that is not there, or by a request that is not there, is warned of', () => {
    const of = (container: string, more: WrittenSpec = requests) =>
      scaledBy({ type: 'ContainerResource', containerResource: { name: 'cpu', container, target } }, more);
    expect(of('memcached')).toEqual([]);
    expect(of('exporter')).toEqual([
      'spec.autoscaling.metrics[0]: no pod has a container "exporter": there is memcached',
    ]);
    expect(of('exporter', { ...requests, monitoring: { enabled: true } })).toEqual([]);
    expect(of('memcached', {})).toEqual([
      'spec.autoscaling.metrics[0]: the utilization of cpu is not known without spec.resources.requests.cpu: the autoscaler does nothing',
    ]);
    expect(resource('cpu', { resources: { limits: { cpu: '1' } } })).toEqual([]);
  });
});

it('an exporter that has no password to show is warned of', () => {
  const sasl = { enabled: true, credentialsSecretRef: { name: 'users' } };
  expect(specWarnings({ monitoring: { enabled: true }, security: { sasl } })).toEqual([
    'metrics cannot be scraped, because memcached asks for a password (spec.security.sasl) and the exporter has none: memcached_up stays 0',
  ]);
  expect(specWarnings({ security: { sasl } })).toEqual([]);
});

it('an exporter that a policy closes to all but who is named is warned of', () => {
  const monitoring = { enabled: true };
  const allowedSources = [{ podSelector: { matchLabels: { app: 'web' } } }];
  const networkPolicy = { enabled: true, allowedSources };
  expect(specWarnings({ monitoring, security: { networkPolicy } })).toEqual([
    'spec.security.networkPolicy.allowedSources: they are all who may connect to the exporter as well (port 9150): name where Prometheus runs, or it cannot scrape',
  ]);
  expect(specWarnings({ security: { networkPolicy } })).toEqual([]);
  expect(specWarnings({ monitoring, security: { networkPolicy: { enabled: true } } })).toEqual([]);
  expect(specWarnings({ monitoring, security: { networkPolicy: { ...networkPolicy, allowedSources: [] } } })).toEqual(
    [],
  );
  expect(specWarnings({ monitoring, security: { networkPolicy: { ...networkPolicy, enabled: false } } })).toEqual([]);
});
