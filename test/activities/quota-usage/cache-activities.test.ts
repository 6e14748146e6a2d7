import { describe, expect, it, onTestFinished, vi } from 'vitest';
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

/** The activities over caches that hold the quota and are filled. */
function over(cache: Partial<UsageCache>) {
  const whole: UsageCache = {
    quota: () => quota,
    quotas: () => [quota],
    count: async () => ({ used: { pods: '1', secrets: '1' }, unmeasured: [] }),
    staleValues: () => [],
    deviceClasses: () => new Map(),
    watched: () => [],
    ...cache,
  };
  return createUsageCacheActivities({ cache: whole, cluster: 'prod', policy });
}

describe('an observation of a quota', () => {
  it('is the quota and what was counted', async () => {
    expect(await over({}).observeUsage({ target })).toMatchObject({ quota, count: { used: { pods: '1' } }, policy });
  });

  it('waits for a cache that is being filled for five seconds, and no longer', async () => {
    const over5 = new AbortController();
    const timeouts = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(over5.signal);
    onTestFinished(() => timeouts.mockRestore());
    const late = { used: {}, unmeasured: [{ keys: ['pods'], reason: 'the cache of pods is not filled yet' }] };
    const counting = over({
      count: async (_, until) => {
        await new Promise<void>((resolve) => until.addEventListener('abort', () => resolve()));
        return late;
      },
    });
    const observed = counting.observeUsage({ target });
    over5.abort();
    expect(await observed).toMatchObject({ count: late });
    expect(timeouts).toHaveBeenCalledExactlyOnceWith(5_000);
  });

  it('finds no quota, and counts nothing for it, where there is none', async () => {
    const counting = over({ quota: () => null });
    expect(await counting.observeUsage({ target })).toMatchObject({ quota: null, count: { used: {}, unmeasured: [] } });
  });

  it('of another cluster is a mistake that no retry mends', async () => {
    const elsewhere = { target: { ...target, cluster: 'test' } };
    await expect(over({}).observeUsage(elsewhere)).rejects.toMatchObject({ type: 'InvalidInput', nonRetryable: true });
  });
});

describe('waiting for a change', () => {
  it('goes on while everything is as it was, and ends with what is different', async () => {
    const counting = over({});
    const since = fingerprint(await counting.observeUsage({ target }));
    const wait = { target, since, everyMs: 30_000 };
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
