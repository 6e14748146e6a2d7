import { describe, expect, it } from 'vitest';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import { evaluatorsFor } from '../../../domain/quota-usage/evaluators.ts';
import {
  type DiscoveredResource,
  type Discovery,
  type Monitored,
  neededResources,
  nextMonitors,
} from '../../../domain/quota-usage/monitors.ts';

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

/** `deployments.apps/v1`, `pods/v1` as discovery tells it. */
function resource(text: string, change: Partial<DiscoveredResource> = {}): DiscoveredResource {
  const [name = '', version = 'v1'] = text.split('/');
  const [plural = '', ...group] = name.split('.');
  return { group: group.join('.'), resource: plural, version, namespaced: true, verbs: VERBS, ...change };
}

function found(resources: readonly (string | DiscoveredResource)[], ...failed: readonly string[]): Discovery {
  return {
    kind: 'discovered',
    resources: resources.map((given) => (typeof given === 'string' ? resource(given) : given)),
    failed,
  };
}

function monitored(...texts: readonly string[]): readonly Monitored[] {
  return nextMonitors([], found(texts));
}

const named = (all: readonly Monitored[]) =>
  all.map((monitored) => `${groupResourceName(monitored)}/${monitored.version}`);

describe('what is monitored after a round of discovery', () => {
  it('is everything of namespaces that can be created, listed, watched and deleted, by name', () => {
    const next = nextMonitors(
      [],
      found([
        'secrets/v1',
        'deployments.apps/v1',
        resource('nodes/v1', { namespaced: false }),
        resource('pods.metrics.k8s.io/v1beta1', { verbs: ['get', 'list'] }),
        resource('frozen.example.com/v1', { verbs: ['create', 'delete', 'list'] }),
        resource('pods/v1', { resource: 'pods/status' }),
        'pods/v1',
      ]),
    );
    expect(next).toEqual([
      { group: 'apps', resource: 'deployments', version: 'v1' },
      { group: '', resource: 'pods', version: 'v1' },
      { group: '', resource: 'secrets', version: 'v1' },
    ]);
  });

  it('is neither an event nor anything that is never stored, whatever its verbs', () => {
    const ignored = [
      'bindings/v1',
      'componentstatuses/v1',
      'events/v1',
      'events.events.k8s.io/v1',
      'tokenreviews.authentication.k8s.io/v1',
      'selfsubjectreviews.authentication.k8s.io/v1',
      'subjectaccessreviews.authorization.k8s.io/v1',
      'selfsubjectaccessreviews.authorization.k8s.io/v1',
      'localsubjectaccessreviews.authorization.k8s.io/v1',
      'selfsubjectrulesreviews.authorization.k8s.io/v1',
    ];
    expect(named(nextMonitors([], found([...ignored, 'pods/v1', 'events.example.com/v1'])))).toEqual([
      'events.example.com/v1',
      'pods/v1',
    ]);
  });

  it('follows resources that come and go', () => {
    const before = monitored('pods/v1', 'widgets.example.com/v1');
    expect(named(nextMonitors(before, found(['pods/v1', 'gadgets.example.com/v1'])))).toEqual([
      'gadgets.example.com/v1',
      'pods/v1',
    ]);
  });

  it('follows a resource to another version', () => {
    const before = monitored('widgets.example.com/v1beta1');
    expect(named(nextMonitors(before, found(['widgets.example.com/v1'])))).toEqual(['widgets.example.com/v1']);
  });

  it('has one version of a resource, the one that discovery names first', () => {
    expect(named(monitored('widgets.example.com/v1', 'widgets.example.com/v1beta1'))).toEqual([
      'widgets.example.com/v1',
    ]);
  });

  it('keeps what it had of a group-version that could not be asked, and follows the rest', () => {
    const before = monitored('pods/v1', 'deployments.apps/v1', 'widgets.example.com/v1');
    expect(named(nextMonitors(before, found(['pods/v1', 'secrets/v1'], 'apps/v1')))).toEqual([
      'deployments.apps/v1',
      'pods/v1',
      'secrets/v1',
    ]);
    expect(named(nextMonitors(before, found(['deployments.apps/v1'], 'v1')))).toEqual([
      'deployments.apps/v1',
      'pods/v1',
    ]);
  });

  it('keeps the version it had while that one cannot be asked and another one can', () => {
    const before = monitored('widgets.example.com/v1');
    const round = found(['widgets.example.com/v1beta1', 'pods/v1'], 'example.com/v1');
    expect(named(nextMonitors(before, round))).toEqual(['pods/v1', 'widgets.example.com/v1']);
  });

  it('is what it was after a round that failed or found nothing to count', () => {
    const before = monitored('pods/v1', 'deployments.apps/v1');
    expect(nextMonitors(before, { kind: 'failed', reason: 'connection refused' })).toEqual(before);
    expect(nextMonitors(before, found([]))).toEqual(before);
    expect(nextMonitors(before, found([resource('nodes/v1', { namespaced: false }), 'events/v1'], 'v1'))).toEqual(
      before,
    );
  });
});

describe('what has to be watched', () => {
  const existing = ['pods', 'services', 'secrets', 'deployments.apps', 'widgets.example.com', 'jobs.batch'];
  const evaluators = evaluatorsFor(existing.map((name) => resource(name)));
  const needed = (...limits: readonly string[][]) =>
    neededResources(
      limits.map((keys) => ({ hard: Object.fromEntries(keys.map((key) => [key, '1'])) })),
      evaluators,
      { deviceClasses: new Map() },
    ).map(groupResourceName);

  it('is nothing without quotas', () => {
    expect(needed()).toEqual([]);
    expect(needed([])).toEqual([]);
    expect(neededResources([{}], evaluators, { deviceClasses: new Map() })).toEqual([]);
  });

  it('is what some quota limits, once and by name', () => {
    expect(needed(['limits.cpu', 'secrets'], ['pods', 'count/deployments.apps'], ['count/secrets'])).toEqual([
      'deployments.apps',
      'pods',
      'secrets',
    ]);
  });

  it('is nothing for a limit that nobody counts', () => {
    expect(needed(['count/gizmos.example.com'])).toEqual([]);
  });

  it('is also what decides whether something is charged: a device class may stand for an extended resource', () => {
    expect(needed(['requests.example.com/gpu'])).toEqual(
      expect.arrayContaining(['deviceclasses.resource.k8s.io', 'pods']),
    );
    expect(needed(['limits.cpu'])).toEqual(['pods']);
  });
});
