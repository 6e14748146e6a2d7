import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../domain/quota-usage/pod.ts';
import {
  claimInScopes,
  claimMatchesScope,
  countsOtherObjects,
  podInScopes,
  podMatchesScope,
  podScopeTraits,
  type ScopeRequirement,
} from '../../../domain/quota-usage/scopes.ts';

const priority = (operator: string, ...values: string[]): ScopeRequirement => ({
  scopeName: 'PriorityClass',
  operator,
  values,
});

describe('the scopes of a quota', () => {
  it('must all match, those of both lists', () => {
    const quota = { scopes: ['NotTerminating'], scopeSelector: { matchExpressions: [priority('In', 'high')] } };
    expect(podInScopes(quota, { spec: { priorityClassName: 'high' } })).toBe(true);
    expect(podInScopes(quota, { spec: { priorityClassName: 'low' } })).toBe(false);
    expect(podInScopes(quota, { spec: { priorityClassName: 'high', activeDeadlineSeconds: 0 } })).toBe(false);
    expect(podInScopes({}, {})).toBe(true);
  });

  it.each([
    ['In', 'high', true, false],
    ['NotIn', 'high', false, true],
    ['NotIn', 'low', true, true],
    ['Exists', '', true, false],
    ['DoesNotExist', '', false, true],
    ['Like', 'high', false, false],
  ])('PriorityClass %s %j matches a pod of class high: %s, of none: %s', (operator, value, named, unnamed) => {
    expect(podMatchesScope(priority(operator, value), { spec: { priorityClassName: 'high' } })).toBe(named);
    expect(podMatchesScope(priority(operator, value), { spec: {} })).toBe(unnamed);
  });

  it('calls a pod best effort when nothing in it asks for cpu or memory, and believes its status first', () => {
    const bestEffort = (pod: Pod) => podMatchesScope({ scopeName: 'BestEffort' }, pod);
    expect(
      bestEffort({ spec: { containers: [{ resources: { requests: { 'nvidia.com/gpu': '1', cpu: '0' } } }] } }),
    ).toBe(true);
    expect(
      bestEffort({ spec: { containers: [{}], initContainers: [{ resources: { limits: { memory: '1' } } }] } }),
    ).toBe(false);
    expect(bestEffort({ spec: { resources: { requests: { cpu: '1' } }, containers: [{}] } })).toBe(false);
    expect(bestEffort({ spec: { containers: [{}] }, status: { qosClass: 'Burstable' } })).toBe(false);
    expect(podMatchesScope({ scopeName: 'NotBestEffort' }, { status: { qosClass: 'Guaranteed' } })).toBe(true);
  });

  it('sees affinity to pods of other namespaces, also in the preferred terms and against them', () => {
    const crossing = (affinity: NonNullable<Pod['spec']>['affinity']) =>
      podMatchesScope({ scopeName: 'CrossNamespacePodAffinity' }, { spec: { affinity } });
    const preferred = [{ podAffinityTerm: { namespaceSelector: {} } }];
    expect(crossing({ podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } })).toBe(true);
    expect(crossing({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: ['b'] }] } })).toBe(
      true,
    );
    expect(crossing({ podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ namespaces: [] }] } })).toBe(
      false,
    );
  });

  it('match a claim by the class of its volume attributes only, and no other object', () => {
    const gold = {
      scopeSelector: { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }] },
    };
    expect(claimInScopes(gold, { status: { modifyVolumeStatus: { targetVolumeAttributesClassName: 'gold' } } })).toBe(
      true,
    );
    expect(claimInScopes(gold, { spec: { volumeAttributesClassName: 'iron' } })).toBe(false);
    expect(claimInScopes({ scopes: ['NotTerminating'] }, {})).toBe(false);
    expect(podInScopes(gold, {})).toBe(false);
    expect(countsOtherObjects(gold)).toBe(false);
    expect(countsOtherObjects({ scopes: [] })).toBe(true);
  });

  it('counts a claim on its way from one class to another as of each of them', () => {
    const claim = {
      spec: { volumeAttributesClassName: 'class1' },
      status: {
        currentVolumeAttributesClassName: 'class2',
        modifyVolumeStatus: { targetVolumeAttributesClassName: 'class3' },
      },
    };
    const matches = (operator: string, ...values: string[]) =>
      [claim, { spec: { volumeAttributesClassName: '' } }].map((claimed) =>
        claimMatchesScope({ scopeName: 'VolumeAttributesClass', operator, values }, claimed),
      );
    expect(matches('Exists')).toEqual([true, false]);
    expect(matches('DoesNotExist')).toEqual([false, true]);
    for (const name of ['class1', 'class2', 'class3']) {
      expect(matches('In', name)).toEqual([true, false]);
    }
    expect(matches('In', 'class4', 'class3')).toEqual([true, false]);
    expect(matches('In', 'class4')).toEqual([false, false]);
    expect(matches('NotIn', 'class4')).toEqual([true, true]);
  });

  it('look at four traits of a pod', () => {
    const ofTwoClasses = [{}, { spec: { priorityClassName: 'high' } }].map(podScopeTraits);
    expect(ofTwoClasses).toEqual([
      [false, true, '', false],
      [false, true, 'high', false],
    ]);
  });
});
