import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import type { UsageCount } from '../../../domain/quota-usage/calculate.ts';
import { staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { isUrgent, type DesiredStatus, desiredStatus } from '../../../domain/quota-usage/status.ts';

type Status = CachedQuota['status'];

function quota(hard: ResourceList | undefined, status: Status = {}): CachedQuota {
  return { namespace: 'team-a', name: 'compute', uid: 'u1', resourceVersion: '7', spec: { hard }, status };
}

function count(used: ResourceList, ...unmeasured: readonly string[]): UsageCount {
  return {
    used,
    unmeasured: unmeasured.length === 0 ? [] : [{ keys: unmeasured, reason: 'the cache of pods is not filled yet' }],
  };
}

describe('the status of a quota', () => {
  it('has the limits of the spec and the numbers that were counted', () => {
    expect(desiredStatus(quota({ pods: '5', cpu: '3' }), count({ pods: '2', cpu: '200m' }))).toEqual({
      hard: { cpu: '3', pods: '5' },
      used: { cpu: '200m', pods: '2' },
      without: { hard: [], used: [] },
      isWritten: false,
    });
  });

  it('keeps the old number of what could not be counted, and takes the new one of the rest', () => {
    const old = { hard: { pods: '5', secrets: '9' }, used: { pods: '4', secrets: '1' } };
    const status = desiredStatus(quota({ pods: '5', secrets: '9' }, old), count({ secrets: '2' }, 'pods'));
    expect(status.used).toEqual({ pods: '4', secrets: '2' });
    expect(status.isWritten).toBe(false);
  });

  it('has no number where there never was one', () => {
    expect(desiredStatus(quota({ pods: '5', secrets: '9' }), count({ secrets: '2' }, 'pods')).used).toEqual({
      secrets: '2',
    });
  });

  it('loses what the spec does not limit any more, and says so', () => {
    const old = { hard: { pods: '5', services: '1' }, used: { pods: '2', services: '0' } };
    expect(desiredStatus(quota({ pods: '5' }, old), count({ pods: '2', services: '0' }))).toEqual({
      hard: { pods: '5' },
      used: { pods: '2' },
      without: { hard: ['services'], used: ['services'] },
      isWritten: false,
    });
  });

  it('is written when it says the same amounts, in whatever words', () => {
    const status = { hard: { memory: '1024Mi' }, used: { memory: '1073741824' } };
    expect(desiredStatus(quota({ memory: '1Gi' }, status), count({ memory: '1Gi' })).isWritten).toBe(true);
  });

  it('is not written while a limit, a number or a key differs', () => {
    const status = { hard: { pods: '5' }, used: { pods: '2' } };
    expect(desiredStatus(quota({ pods: '5' }, status), count({ pods: '2' })).isWritten).toBe(true);
    expect(desiredStatus(quota({ pods: '6' }, status), count({ pods: '2' })).isWritten).toBe(false);
    expect(desiredStatus(quota({ pods: '5' }, status), count({ pods: '3' })).isWritten).toBe(false);
    expect(desiredStatus(quota({ pods: '5' }, { hard: { pods: '5' } }), count({ pods: '0' })).isWritten).toBe(false);
    expect(desiredStatus(quota({ pods: '5' }, { used: { pods: '2' } }), count({ pods: '2' })).isWritten).toBe(false);
  });

  it('has an amount that cannot be read as it is written, and every other number', () => {
    const hard = { memory: '1e1002', pods: '5' };
    const odd = quota(hard, { hard: { memory: '1e1002', pods: '4' }, used: { memory: '3e1005', pods: '1' } });
    expect(desiredStatus(odd, count({ memory: '1Gi', pods: '2' }))).toMatchObject({
      hard,
      used: { memory: '1Gi', pods: '2' },
    });
    expect(desiredStatus(odd, count({ pods: '2' }, 'memory')).used).toEqual({ memory: '3e1005', pods: '2' });
    const isTrue = quota(hard, { hard, used: { memory: '3e1005', pods: '2' } });
    expect(desiredStatus(isTrue, count({ pods: '2' }, 'memory')).isWritten).toBe(true);
  });

  it('repeats limits as Kubernetes prints them', () => {
    // The API server goes on printing 1.5T as it was written, and makes 1000m of cpu out of nothing.
    expect(
      desiredStatus(quota({ 'requests.storage': '5.444T', cpu: '1000m', memory: '0.5Gi' }), count({})).hard,
    ).toEqual({
      cpu: '1',
      memory: '512Mi',
      'requests.storage': '5.444T',
    });
  });
});

/** What the API server shows after the write: empty maps are left out. */
function written(status: DesiredStatus): Status {
  return {
    ...(Object.keys(status.hard).length === 0 ? {} : { hard: status.hard }),
    ...(Object.keys(status.used).length === 0 ? {} : { used: status.used }),
  };
}

describe('a write of the status', () => {
  const names = ['pods', 'cpu', 'services', 'count/widgets.example.com'];
  const list = fc.dictionary(fc.constantFrom(...names), fc.constantFrom('0', '1', '500m', '1.5', '2Gi', '1024Ki'));
  const status = fc.record({ hard: fc.option(list, { nil: undefined }), used: fc.option(list, { nil: undefined }) });

  it('is the last one until something changes', () => {
    fc.assert(
      fc.property(fc.option(list, { nil: undefined }), status, list, (hard, before, counted) => {
        const first = desiredStatus(quota(hard, before), count(counted));
        const second = desiredStatus(quota(hard, written(first)), count(counted));
        expect(second).toEqual({
          hard: first.hard,
          used: first.used,
          without: { hard: [], used: [] },
          isWritten: true,
        });
      }),
    );
  });

  it('is not made for a quota that limits nothing, or nothing that can be counted', () => {
    expect(desiredStatus(quota({}), count({})).isWritten).toBe(true);
    expect(desiredStatus(quota(undefined), count({})).isWritten).toBe(true);
    const unknown = { 'count/widgets.example.com': '4' };
    expect(desiredStatus(quota(unknown, { hard: unknown }), count({})).isWritten).toBe(true);
  });

  it('takes everything away from a quota that limits nothing any more', () => {
    const old = { hard: { pods: '5' }, used: { pods: '2' } };
    expect(desiredStatus(quota(undefined, old), count({}))).toEqual({
      hard: {},
      used: {},
      without: { hard: ['pods'], used: ['pods'] },
      isWritten: false,
    });
  });
});

describe('a quota', () => {
  const urgent = (hard: ResourceList | undefined, status: Status = {}) =>
    isUrgent(quota(hard, status), staticEvaluators, { deviceClasses: new Map() });

  it('is urgent while its status has other limits than its spec', () => {
    expect(urgent({ cpu: '4' })).toBe(true);
    expect(urgent({ cpu: '4' }, { hard: { cpu: '6' }, used: { cpu: '0' } })).toBe(true);
    expect(urgent({ cpu: '4' }, { hard: { cpu: '4', pods: '1' }, used: { cpu: '0', pods: '0' } })).toBe(true);
  });

  it('is urgent while a limit that cannot be read is written in another way', () => {
    expect(urgent({ cpu: '1e1002' }, { hard: { cpu: '4' }, used: { cpu: '0' } })).toBe(true);
    expect(urgent({ cpu: '1e1002' }, { hard: { cpu: '1e1002' }, used: { cpu: '0' } })).toBe(false);
  });

  it('is urgent while a limit that is counted has no number', () => {
    expect(urgent({ cpu: '4' }, { hard: { cpu: '4' } })).toBe(true);
    const gpus = { 'requests.example/foobars.example.com': '4' };
    expect(urgent(gpus, { hard: gpus })).toBe(true);
  });

  it('is not urgent because of a limit that nobody counts', () => {
    const unknown = { 'foobars.example.com': '4' };
    expect(urgent(unknown, { hard: unknown })).toBe(false);
  });

  it('is not urgent when limits and numbers are there, or when there are none to be', () => {
    expect(urgent({ cpu: '4' }, { hard: { cpu: '4000m' }, used: { cpu: '0' } })).toBe(false);
    expect(urgent(undefined)).toBe(false);
    expect(urgent({})).toBe(false);
  });
});
