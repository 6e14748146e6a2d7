import { describe, expect, it } from 'vitest';
import { quotaFullness } from '../../../domain/kernel/quota-fullness.ts';

const metadata = { namespace: 'team-a', name: 'compute' };

describe('how full a quota is', () => {
  it('is told of each limit, the fullest first', () => {
    const hard = {
      pods: '10',
      'requests.cpu': '4',
      services: '0',
      'requests.memory': '1Gi',
      secrets: '0',
      configmaps: '5',
    };
    const used = { pods: '5', 'requests.cpu': '3600m', services: '0', 'requests.memory': '1Gi', secrets: '1' };
    const { resources } = quotaFullness({ metadata, spec: { hard }, status: { hard, used } });
    expect(resources.map(({ resource, percent }) => [resource, percent])).toEqual([
      ['secrets', null], // more than the nothing that is allowed
      ['requests.memory', 100],
      ['requests.cpu', 90],
      ['pods', 50],
      ['services', null], // nothing of a limit of 0
      ['configmaps', null], // not counted yet
    ]);
    expect(resources.at(-1)).toEqual({ resource: 'configmaps', used: null, hard: '5', percent: null, enforced: null });
  });

  it('is not told of a limit or a number that cannot be read, and of all others', () => {
    const hard = { memory: '1e1002', pods: '4', cpu: '1' };
    const used = { memory: '1Gi', pods: '2', cpu: '1e1002' };
    const { resources } = quotaFullness({ metadata, spec: { hard }, status: { hard: { ...hard, memory: '1' }, used } });
    expect(resources.map(({ resource, percent, enforced }) => [resource, percent, enforced])).toEqual([
      ['pods', 50, null],
      ['cpu', null, null],
      ['memory', null, '1'],
    ]);
  });

  it('says which limit admission goes by while the status has not followed the spec', () => {
    const { resources } = quotaFullness({
      metadata,
      spec: { hard: { pods: '10', 'requests.cpu': '1' } },
      status: { hard: { pods: '5', 'requests.cpu': '1000m' }, used: { pods: '5', 'requests.cpu': '0' } },
    });
    expect(resources.map(({ enforced }) => enforced)).toEqual(['5', null]);
  });

  it('has its scopes in words', () => {
    const matchExpressions = [
      { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'low'] },
      { scopeName: 'VolumeAttributesClass', operator: 'Exists' },
    ];
    expect(
      quotaFullness({ metadata, spec: { scopes: ['BestEffort'], scopeSelector: { matchExpressions } } }).scopes,
    ).toEqual(['BestEffort', 'PriorityClass In (high, low)', 'VolumeAttributesClass Exists']);
  });

  it('is never rounded up: only what is full is 100 %', () => {
    const percents = (used: string, hard: string) =>
      quotaFullness({
        metadata,
        spec: { hard: { pods: hard } },
        status: { hard: { pods: hard }, used: { pods: used } },
      }).resources.map(({ percent }) => percent);
    expect(percents('2', '3')).toEqual([66.66]);
    expect(percents('999999999999n', '1k')).toEqual([99.99]);
    expect(percents('9', '8')).toEqual([112.5]);
    expect(percents('1', '0')).toEqual([null]);
    expect(percents('1', '1e18')).toEqual([0]);
    expect(percents('1e18', '1')).toEqual([1e20]);
  });
});
