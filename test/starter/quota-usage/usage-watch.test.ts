import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { UsageCount } from '../../../domain/quota-usage/calculate.ts';
import { staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import {
  CHARGE_GRACE_MS,
  confirmableFrom,
  noCharges,
  noteStatus,
  type RecentCharges,
  unsettledCharges,
  withoutConfirmed,
} from '../../../domain/quota-usage/recent-charges.ts';
import type { QueuedUsageRequest } from '../../../starter/quota-usage/reconcile-request.ts';
import { createUsageMetrics } from '../../../starter/quota-usage/metrics.ts';
import { SteadyTime } from '../../../starter/quota-usage/steady-time.ts';
import { createUsageWatch, type UsageWatchOptions } from '../../../starter/quota-usage/usage-watch.ts';

const PODS = { group: '', resource: 'pods' };
const MINUTE = 60_000;
/** How long a list of a namespace takes. */
const LIST_MS = 100;
const AT = Date.parse('2026-11-22T00:00:00Z');

beforeEach(() => {
  vi.useFakeTimers({ now: AT });
});
afterEach(() => {
  vi.useRealTimers();
});

function quota(used: Readonly<Record<string, string>>, more: Partial<CachedQuota> = {}): CachedQuota {
  const hard = { pods: '5' };
  const name = { namespace: 'team-a', name: 'compute', uid: 'uid-1', resourceVersion: '7' };
  return { ...name, spec: { hard }, status: { hard, used }, ...more };
}

/** A watch over caches with these quotas and so many pods in each namespace: what it wrote and requested, and how often it counted. */
function watching(
  quotas: CachedQuota[],
  options: Partial<UsageWatchOptions> = {},
  {
    pods = '0',
    charges = noCharges,
    ends = [],
    isBlind = false,
  }: {
    readonly pods?: string | (() => string);
    readonly charges?: RecentCharges;
    readonly ends?: readonly number[];
    readonly isBlind?: boolean;
  } = {},
) {
  const requests: QueuedUsageRequest[] = [];
  const written: { readonly namespace: string; readonly version: string; readonly pods: string | undefined }[] = [];
  let counts = 0;
  let currentAsOf = Number.NEGATIVE_INFINITY;
  const countNow = (): UsageCount => {
    counts += 1;
    return { used: { pods: typeof pods === 'string' ? pods : pods() }, unmeasured: [] };
  };
  const none = { watched: () => 0, wrong: () => [], unmeasured: () => [], waiting: () => 0, isOwner: () => true };
  const watch = createUsageWatch({
    cluster: 'prod',
    policy: { mode: 'own', auditAfterMs: MINUTE },
    resyncMs: 0,
    cache: () => ({
      quota: (namespace, name) =>
        quotas.find((candidate) => candidate.namespace === namespace && candidate.name === name) ?? null,
      quotas: (namespace) => quotas.filter((candidate) => namespace === undefined || candidate.namespace === namespace),
      countNow,
      unsettledCharges: () => unsettledCharges(withoutConfirmed(charges, () => currentAsOf)),
      confirmCharges: ({ namespace }, resources) => {
        const from = confirmableFrom(charges, resources) ?? 0;
        if (from > performance.now()) return from;
        const askedAt = performance.now();
        setTimeout(() => {
          if (!isBlind) currentAsOf = askedAt;
          watch.onChecked(namespace);
        }, LIST_MS);
        return null;
      },
      evaluators: () => staticEvaluators,
      deviceClasses: () => new Map(),
      chargeEnds: () => ends,
    }),
    time: new SteadyTime(),
    request: (request) => requests.push(request),
    writing: {
      isOwner: () => true,
      pauseOf: async () => await Promise.resolve(null),
      patch: async ({ namespace, resourceVersion: version }, { used }) => {
        written.push({ namespace, version, pods: used['pods'] });
        return await Promise.resolve({ resourceVersion: '100' });
      },
    },
    onWritten: () => {},
    onCounted: () => {},
    metrics: createUsageMetrics(new Registry(), none),
    log: pino({ level: 'silent' }),
    ...options,
  });
  onTestFinished(() => watch.stop());
  return { watch, requests, written, counted: () => counts };
}

const pod = (name: string) => ({ metadata: { namespace: 'team-a', name, resourceVersion: '8' } });
const sentRequest = ({ coalescingKey, starts, cause, priority }: QueuedUsageRequest) => ({
  id: coalescingKey,
  starts,
  cause,
  priority,
});
const ID = 'quota-usage/prod/team-a/compute';

describe('a resync', () => {
  it('finds what nothing told of', async () => {
    const { written } = watching([quota({ pods: '4' })], { resyncMs: 5 * MINUTE });
    await vi.advanceTimersByTimeAsync(5 * MINUTE - 1);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '0' }]);
  });

  it('is spread over its time', async () => {
    const quotas = Array.from({ length: 5 }, (_, index) => quota({ pods: '0' }, { namespace: `team-${index}` }));
    const { counted } = watching(quotas, { resyncMs: 5 * MINUTE });
    const counts: number[] = [];
    await vi.advanceTimersByTimeAsync(5 * MINUTE + 500);
    for (let minute = 0; minute < 5; minute += 1) {
      counts.push(counted());
      await vi.advanceTimersByTimeAsync(MINUTE);
    }
    expect(counts).toEqual([1, 2, 3, 4, 5]);
  });

  it('costs nothing but a count where every status is true', async () => {
    const { requests, written, counted } = watching([quota({ pods: '0' })], { resyncMs: 5 * MINUTE });
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect([...requests, ...written]).toEqual([]);
    expect(counted()).toBe(11);
  });

  it('does not come where the setting is 0', async () => {
    const { requests, counted } = watching([quota({ pods: '4' })], { resyncMs: 0 });
    await vi.advanceTimersByTimeAsync(24 * 60 * MINUTE);
    expect({ requests, counted: counted() }).toEqual({ requests: [], counted: 0 });
  });
});

describe('a quota', () => {
  it('whose spec changed is counted at once', async () => {
    const { watch, written } = watching([quota({ pods: '1' })]);
    watch.onObject(PODS, pod('web'), undefined);
    watch.onQuota(quota({ pods: '1' }), quota({ pods: '1' }, { spec: { hard: { pods: '9' } } }));
    await vi.advanceTimersByTimeAsync(1);
    expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '0' }]);
  });

  it('whose status lost a number, or its limits, is counted at once: admission refuses until they are there', async () => {
    for (const status of [{ hard: { pods: '5' }, used: {} }, { used: { pods: '1' } }]) {
      const lost = quota({}, { status });
      const { watch, written } = watching([lost]);
      watch.onQuota(lost, quota({ pods: '1' }));
      await vi.advanceTimersByTimeAsync(1);
      expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '0' }]);
    }
  });

  it('whose labels were in the way of a write is written as soon as they are seen', async () => {
    const quotas = [quota({ pods: '1' })];
    const asked: string[] = [];
    const writing: UsageWatchOptions['writing'] = {
      isOwner: () => true,
      pauseOf: async () => await Promise.resolve(null),
      patch: async ({ resourceVersion }) => {
        asked.push(resourceVersion);
        return await Promise.resolve(asked.length === 1 ? 'conflict' : { resourceVersion: '100' });
      },
    };
    const { watch } = watching(quotas, { writing });
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(1);
    const labelled = quota({ pods: '1' }, { resourceVersion: '8' });
    const [before] = quotas.splice(0, 1, labelled);
    watch.onQuota(labelled, before);
    await vi.advanceTimersByTimeAsync(1);
    expect(asked).toEqual(['7', '8']);
  });

  it('that is written is not counted because of that, and again when something else has changed meanwhile', async () => {
    const quotas = [quota({ pods: '1' })];
    const { watch, counted, written } = watching(quotas);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(1);
    const echo = quota({ pods: '0' }, { resourceVersion: '100' });
    const [before] = quotas.splice(0, 1, echo);
    expect(watch.isOwnWrite(echo)).toBe(true);
    watch.onQuota(echo, before);
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect([counted(), written.length]).toEqual([1, 1]);
    const falsified = quota({ pods: '3' }, { resourceVersion: '101' });
    quotas.splice(0, 1, falsified);
    watch.onQuota(falsified, echo);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written.slice(1)).toEqual([{ namespace: 'team-a', version: '101', pods: '0' }]);
  });

  it('whose status becomes true starts nothing, whoever wrote it', async () => {
    const { watch, requests, written, counted } = watching([quota({ pods: '0' })]);
    watch.onQuota(quota({ pods: '0' }), quota({ pods: '3' }));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect([...requests, ...written]).toEqual([]);
    expect(counted()).toBeGreaterThan(0);
  });

  it('is counted at once when a pod is done, which nobody else takes off', async () => {
    const { watch, counted } = watching([quota({ pods: '0' })]);
    watch.onObject(PODS, { ...pod('web'), status: { phase: 'Succeeded' } }, pod('web'));
    await vi.advanceTimersByTimeAsync(1);
    expect(counted()).toBe(1);
  });

  it('is counted a moment after a pod comes, which admission charges meanwhile', async () => {
    const { watch, counted } = watching([quota({ pods: '0' })]);
    watch.onObject(PODS, pod('web'), undefined);
    await vi.advanceTimersByTimeAsync(199);
    expect(counted()).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(counted()).toBe(1);
  });

  it('is counted when a pod that is stuck in its deletion stops being charged, and not when it begins to be deleted', async () => {
    const { watch, counted } = watching([quota({ pods: '0' })]);
    const metadata = { ...pod('web').metadata, deletionTimestamp: new Date(AT + 5_000), deletionGracePeriodSeconds: 5 };
    watch.onObject(PODS, { metadata }, pod('web'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(counted()).toBe(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(counted()).toBe(1);
  });

  it('that came after a pod began to be stuck in its deletion is counted when that stops being charged', async () => {
    const { watch, counted } = watching([quota({ pods: '0' })], {}, { ends: [AT + 10_000] });
    watch.onQuota(quota({ pods: '0' }), undefined);
    await vi.advanceTimersByTimeAsync(10_000);
    const before = counted();
    await vi.advanceTimersByTimeAsync(100);
    expect(counted() - before).toBe(1);
  });

  it('is not counted because of its labels', async () => {
    const { watch, counted } = watching([quota({ pods: '4' })]);
    watch.onQuota(quota({ pods: '4' }, { resourceVersion: '9' }), quota({ pods: '4' }));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(counted()).toBe(0);
  });

  it('whose status is written took as long as since the first change that it did not know', async () => {
    const register = new Registry();
    const none = { watched: () => 0, wrong: () => [], unmeasured: () => [], waiting: () => 0, isOwner: () => true };
    const { watch, written } = watching([quota({ pods: '2' })], { metrics: createUsageMetrics(register, none) });
    watch.onObject(PODS, pod('web'), undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toHaveLength(1);
    expect(await register.metrics()).toMatch(/^headroom_usage_lag_seconds_sum\S* 0\.2$/m);
  });

  it('is counted once when something urgent comes before what waits', async () => {
    const { watch, counted } = watching([quota({ pods: '0' })]);
    watch.onObject(PODS, pod('web'), undefined);
    watch.onObjectGone(PODS, pod('db'));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(counted()).toBe(1);
  });

  it('that is deleted tells the episode that may run for it, and starts none', async () => {
    const quotas = [quota({ pods: '4' })];
    const { watch, requests } = watching(quotas);
    quotas.length = 0;
    watch.onQuotaGone(quota({ pods: '4' }));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests.map(({ starts, isGone }) => ({ starts, isGone }))).toEqual([{ starts: false, isGone: true }]);
  });

  it('that was charged for a pod that nobody has seen is not written, and is when the pod does not come', async () => {
    const [before, charged] = [{ pods: '0' }, quota({ pods: '1' })];
    const charges = noteStatus(noCharges, before, { pods: '1' }, { at: performance.now(), version: '7' });
    const { watch, written } = watching([charged], {}, { charges });
    watch.onQuota(charged, quota(before));
    // What waits already takes the charge along, before its pod can be there.
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(CHARGE_GRACE_MS);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(500);
    expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '0' }]);
  });

  it('that was charged is not lowered for as long as its caches are not current, also when the clock is set forward', async () => {
    const charged = quota({ pods: '1' });
    const charges = noteStatus(noCharges, { pods: '0' }, { pods: '1' }, { at: performance.now(), version: '7' });
    const { watch, written } = watching([charged], {}, { charges, isBlind: true });
    watch.onQuota(charged, quota({ pods: '0' }));
    await vi.advanceTimersByTimeAsync(CHARGE_GRACE_MS);
    vi.setSystemTime(Date.now() + 60 * MINUTE);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    expect(written).toEqual([]);
  });

  it('is written once a clock that was set forward past the end of a charge is believed, at one moment here and in the cache', async () => {
    const time = new SteadyTime();
    const end = AT + 60 * MINUTE;
    const pods = () => (time.now() > end ? '0' : '1');
    const { watch, written } = watching([quota({ pods: '1' })], { time }, { pods, ends: [end] });
    vi.setSystemTime(Date.now() + 120 * MINUTE);
    // Nothing is counted for this one.
    watch.onObject(PODS, { metadata: { namespace: 'team-b', name: 'web' } }, undefined);
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    expect(written).toEqual([]);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '0' }]);
  });

  it('is written although the clock was set back', async () => {
    const charges = noteStatus(noCharges, { pods: '0' }, { pods: '1' }, { at: performance.now(), version: '7' });
    const { watch, written } = watching([quota({ pods: '1' })], {}, { charges });
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(20);
    vi.setSystemTime(Date.now() - 60 * MINUTE);
    await vi.advanceTimersByTimeAsync(CHARGE_GRACE_MS + 500);
    expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '0' }]);
  });

  it('that was charged lately frees at once what was freed besides', async () => {
    const charges = noteStatus(noCharges, { pods: '3' }, { pods: '4' }, { at: performance.now(), version: '7' });
    const { watch, written } = watching([quota({ pods: '4' })], {}, { pods: '2', charges });
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(20);
    expect(written).toEqual([{ namespace: 'team-a', version: '7', pods: '3' }]);
  });

  it('of which a thousand pods go in ten seconds is counted seven times a second', async () => {
    const { watch, counted } = watching([quota({ pods: '1k' })]);
    for (let index = 0; index < 1_000; index += 1) {
      watch.onObjectGone(PODS, pod(`web-${index}`));
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(MINUTE);
    // One a gap, and the few at the beginning that have none or a short one.
    expect(counted()).toBeLessThanOrEqual(76);
  });
});

describe('a namespace without quotas', () => {
  it('is never counted, whatever comes and goes there', async () => {
    const { watch, counted, requests } = watching([]);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect([counted(), watch.waiting(), requests]).toEqual([0, 0, []]);
  });
});

describe('an audit', () => {
  const policy = { mode: 'audit', auditAfterMs: MINUTE } as const;

  it('starts an episode when a status has been wrong for longer than a minute, and not before', async () => {
    const wrong = quota({ pods: '4' });
    const { watch, requests } = watching([wrong], { policy });
    watch.onQuota(wrong, undefined);
    await vi.advanceTimersByTimeAsync(MINUTE - 1_000);
    expect({ requests, wrong: watch.wrong() }).toEqual({ requests: [], wrong: [] });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(requests.map(sentRequest)).toEqual([{ id: ID, starts: true, cause: 'the status stays wrong', priority: 3 }]);
    expect(watch.wrong()).toEqual([{ namespace: 'team-a', quota: 'compute', resources: 1 }]);
  });

  it('is requested again at a resync, in case the episode was terminated, and not between', async () => {
    const wrong = quota({ pods: '4' });
    const { watch, requests } = watching([wrong], { policy, resyncMs: 5 * MINUTE });
    watch.onQuota(wrong, undefined);
    await vi.advanceTimersByTimeAsync(4 * MINUTE);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(MINUTE - 1);
    expect(requests.map(({ priority }) => priority)).toEqual([3]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests.slice(1).map(sentRequest)).toEqual([
      { id: ID, starts: true, cause: 'the status stays wrong', priority: 4 },
    ]);
  });

  it('tells its episode when the status is true again, once', async () => {
    const quotas = [quota({ pods: '4' })];
    const { watch, requests } = watching(quotas, { policy });
    watch.onQuota(quota({ pods: '4' }), undefined);
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    quotas.splice(0, 1, quota({ pods: '0' }));
    watch.onQuota(quota({ pods: '0' }), quota({ pods: '4' }));
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(2 * MINUTE);
    expect(requests.slice(1).map(sentRequest)).toEqual([
      { id: ID, starts: false, cause: 'the status is true again', priority: 3 },
    ]);
  });

  it('begins anew for a quota that came back under its name', async () => {
    const quotas = [quota({ pods: '4' })];
    const { watch } = watching(quotas, { policy });
    watch.onQuota(quota({ pods: '4' }), undefined);
    await vi.advanceTimersByTimeAsync(MINUTE - 1_000);
    const reborn = quota({ pods: '4' }, { uid: 'uid-2' });
    quotas.splice(0, 1, reborn);
    watch.onQuota(reborn, undefined);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(watch.wrong()).toEqual([]);
  });

  it('knows nothing more of a quota that is gone, also where a count of it was late', async () => {
    const wrong = quota({ pods: '4' });
    const quotas = [wrong];
    const { watch } = watching(quotas, { policy });
    quotas.length = 0;
    watch.onQuotaGone(wrong);
    expect(watch.staleValues(wrong, { used: { pods: '0' }, unmeasured: [] })).toMatchObject([{ resource: 'pods' }]);
    await vi.advanceTimersByTimeAsync(10 * MINUTE);
    expect(watch.wrong()).toEqual([]);
  });
});
