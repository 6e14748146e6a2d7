import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import type { UsageCache } from '../../../activities/quota-usage/usage-cache.ts';
import { createUsageCacheActivities } from '../../../activities/quota-usage/cache-activities.ts';
import { fingerprint } from '../../../domain/quota-usage/decide.ts';
import type { CachedQuota, UsagePolicy } from '../../../domain/quota-usage/observation.ts';

const policy: UsagePolicy = { mode: 'own', auditAfterMs: 60_000 };
const target = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
const hard = { pods: '5', secrets: '9' };
const quota: CachedQuota = {
  namespace: 'team-a',
  name: 'compute',
  uid: 'uid-1',
  resourceVersion: '7',
  spec: { hard },
  status: { hard, used: { pods: '1', secrets: '1' } },
};

/** The activities over caches that hold the quota, are filled, and have come as far as anybody asks. */
function over(cache: Partial<UsageCache>, mode = policy) {
  const whole: UsageCache = {
    quota: () => quota,
    quotas: () => [quota],
    observed: async () => [],
    quotaMoved: async () => true,
    count: async () => ({ used: { pods: '1', secrets: '1' }, unmeasured: [] }),
    unsettledCharges: () => ({ amounts: {}, countAgainAt: null }),
    staleValues: () => [],
    deviceClasses: () => new Map(),
    watched: () => [],
    ...cache,
  };
  return createUsageCacheActivities({ cache: whole, cluster: 'prod', policy: mode });
}

describe('an observation of a quota', () => {
  const observed = { target, observed: { pods: '9' } };

  it('counts when the caches have reached the versions of the reconcile request', async () => {
    const asked: unknown[] = [];
    const counting = over({
      observed: async (versions) => {
        asked.push(versions);
        return [];
      },
    });
    expect(await counting.observeUsage(observed)).toMatchObject({ quota, count: { used: { pods: '1' } }, policy });
    expect(asked).toEqual([{ pods: '9' }]);
  });

  it('says no less than the status does for what was charged too recently to be seen, unless it only audits', async () => {
    const cache = {
      count: async () => ({ used: { pods: '0', secrets: '0' }, unmeasured: [] }),
      unsettledCharges: () => ({ amounts: { pods: '1' }, countAgainAt: 1 }),
    };
    expect((await over(cache).observeUsage(observed)).count.used).toEqual({ pods: '1', secrets: '0' });
    const audit = await over(cache, { ...policy, mode: 'audit' }).observeUsage(observed);
    expect(audit.count.used).toEqual({ pods: '0', secrets: '0' });
  });

  it('is put off, as no error, while a cache is behind', async () => {
    const counting = over({ observed: async () => ['pods'] });
    await expect(counting.observeUsage(observed)).rejects.toMatchObject({
      type: 'NotYet',
      message: 'the cache of pods is behind',
      nonRetryable: false,
    });
  });

  it('counts what is there after two minutes, so that a version that never comes does not stop it', async () => {
    const counting = over({ observed: async () => ['pods'] });
    const attempt = async (number: number): Promise<unknown> =>
      await new MockActivityEnvironment({ attempt: number }).run(async () => await counting.observeUsage(observed));
    await expect(attempt(19)).rejects.toMatchObject({ type: 'NotYet' });
    expect(await attempt(20)).toMatchObject({ count: { used: { pods: '1' } } });
  });

  it('waits after a conflict until the cache has another version of the quota, and goes on when none comes', async () => {
    const waited: string[] = [];
    const counting = over({
      quotaMoved: async (_namespace, _name, version) => {
        waited.push(version);
        return false;
      },
    });
    expect(await counting.observeUsage({ ...observed, not: '7' })).toMatchObject({ quota });
    expect(waited).toEqual(['7']);
  });

  it('finds no quota, and counts nothing for it, where there is none', async () => {
    const counting = over({ quota: () => null });
    expect(await counting.observeUsage(observed)).toMatchObject({ quota: null, count: { used: {}, unmeasured: [] } });
  });

  it('of another cluster is a mistake that no retry mends', async () => {
    const elsewhere = { target: { ...target, cluster: 'test' }, observed: {} };
    await expect(over({}).observeUsage(elsewhere)).rejects.toMatchObject({ type: 'InvalidInput', nonRetryable: true });
  });
});

describe('waiting for a change', () => {
  it('goes on while everything is as it was, and ends with what is different', async () => {
    const counting = over({});
    const since = fingerprint(await counting.observeUsage({ target, observed: {} }));
    const wait = { target, observed: {}, since, everyMs: 30_000 };
    await expect(counting.observeUsageChange(wait)).rejects.toMatchObject({ type: 'NotYet' });
    const other = over({ quota: () => ({ ...quota, resourceVersion: '8' }) });
    expect(await other.observeUsageChange(wait)).toMatchObject({ quota: { resourceVersion: '8' } });
  });
});

describe('what a namespace uses', () => {
  const asked = { cluster: 'prod', namespace: 'team-a' };

  it('is counted once where the status says the same', async () => {
    let counts = 0;
    const counting = over({
      count: async () => {
        counts += 1;
        return { used: { pods: '1' }, unmeasured: [] };
      },
    });
    expect(await counting.observeNamespaceUsage(asked)).toEqual([
      { quota, count: { used: { pods: '1' }, unmeasured: [] } },
    ]);
    expect(counts).toBe(1);
  });

  it('is counted again where the status says something else, and a number that moves is not relied on', async () => {
    let pods = 1;
    const counting = over({
      count: async () => {
        pods += 1;
        return { used: { pods: String(pods), secrets: '4' }, unmeasured: [] };
      },
    });
    const [answer] = await counting.observeNamespaceUsage(asked);
    expect(answer?.count).toEqual({
      used: { secrets: '4' },
      unmeasured: [{ keys: ['pods'], reason: 'it is changing just now' }],
    });
  });
});
