import { describe, expect, it } from 'vitest';
import {
  isNeedReadable,
  maxNeeded,
  needOf,
  unneededIn,
  withReadableNeed,
} from '../../../../domain/quota-resize/sizing/needed.ts';
import { change, demand, observation, quota } from '../model/observations.ts';
import { resolve } from '../policy/policies.ts';

/** What is raised above `needed`, as `quota resource`; null where nothing is. */
function unneeded(resource: string, to: string, needed: Record<string, string>): string | null {
  const found = unneededIn('compute', { changes: [change({ resource, to })] }, { compute: needed });
  return found === null ? null : `${found.quota} ${found.change.resource}`;
}

describe('a raise', () => {
  it.each([
    ['requests.cpu', '12', '12'],
    ['requests.cpu', '12', '11900m'],
    ['requests.cpu', '2', '1200m'],
    ['requests.cpu', '1200m', '1.2'],
    ['requests.memory', '1229Mi', '1288490189'],
    ['requests.memory', '1288490189', '1288490188200m'],
    ['pods', '13', '13'],
  ])('of %s to %s is needed where %s is, as its file may have to say it', (resource, to, needed) => {
    expect(unneeded(resource, to, { [resource]: needed })).toBeNull();
  });

  it.each([
    ['requests.cpu', '13', '12'],
    ['requests.cpu', '2001m', '1200m'],
    ['requests.memory', '3Gi', '1229Mi'],
    ['pods', '14', '13'],
    // In a unit that nothing but the decision names.
    ['requests.memory', '2e10', '10752Mi'],
    ['requests.memory', '1Ti', '600Gi'],
    ['requests.cpu', '2e1', '11'],
    ['requests.cpu', '0.02k', '11'],
    ['pods', '2e1', '11'],
  ])('of %s to %s is not needed where %s is', (resource, to, needed) => {
    expect(unneeded(resource, to, { [resource]: needed })).toBe(`compute ${resource}`);
  });

  it.each([
    // The installation's own, which no annotation makes smaller.
    ['5', '14400m', '14401m'],
    ['20', '14400m', '14401m'],
    ['50', '18', '18001m'],
  ])('within an increment of %s percent is needed where 12 is: %s, and %s is not', (increment, to, above) => {
    const { policy } = resolve({ increment });
    const of = (limit: string) =>
      unneededIn('compute', { changes: [change({ to: limit })] }, { compute: { 'requests.cpu': '12' } }, () => policy);
    expect(of(to)).toBeNull();
    expect(of(above)).toMatchObject({ needed: '12' });
  });

  it('of what nothing needs is not needed, nor one of a quota that is raised along', () => {
    expect(unneeded('pods', '12', { 'requests.cpu': '12' })).toBe('compute pods');
    const second = { quota: 'second', quotaUid: 'uid', changes: [change()], approvalRequirement: null, candidates: [] };
    const both = { changes: [change()], batchedQuotas: [second] };
    const own = { compute: { 'requests.cpu': '12' } };
    expect(unneededIn('compute', both, own)).toMatchObject({ quota: 'second', needed: null });
    expect(unneededIn('compute', both, maxNeeded(own, { second: { 'requests.cpu': '12' } }))).toBeNull();
  });
});

describe('what is needed without a person', () => {
  it('is what owners lack, never what the message of an Event tells alone', () => {
    const lacks = (basis: 'workload' | 'message') =>
      needOf(
        observation({
          quota: quota({ used: { 'requests.cpu': '1' } }),
          demand: [demand({ 'requests.cpu': '12' }, { basis })],
        }),
        null,
      );
    expect(lacks('workload')?.changes).toMatchObject([{ resource: 'requests.cpu', from: '10' }]);
    expect(lacks('message')).toBeNull();
  });
});

describe('where the starters count', () => {
  it.each([
    ['requests.cpu', true],
    ['pods', true],
    ['requests.storage', true],
    ['count/secrets', false],
    ['services.loadbalancers', false],
    ['requests.nvidia.com/gpu', false],
  ])('whether %s is needed can be told without them: %s', (resource, isTold) => {
    expect(isNeedReadable('audit', resource)).toBe(isTold);
    expect(isNeedReadable('off', resource)).toBe(true);
    const raised = { changes: [change({ resource })], batchedQuotas: [] };
    expect(withReadableNeed('own', raised).changes).toHaveLength(isTold ? 1 : 0);
  });
});

describe('what was needed at two moments', () => {
  it('is the greater of both for each limit', () => {
    const before = { compute: { 'requests.cpu': '12', pods: '4' } };
    const after = { compute: { 'requests.cpu': '11', pods: '5' }, second: { pods: '1' } };
    expect(maxNeeded(before, after)).toEqual({ compute: { 'requests.cpu': '12', pods: '5' }, second: { pods: '1' } });
  });
});
