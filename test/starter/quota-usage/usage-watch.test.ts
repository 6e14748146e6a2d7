import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { UsageCount } from '../../../domain/quota-usage/calculate.ts';
import { staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import {
  CHARGE_GRACE_MS,
  noteStatus,
  type RecentCharges,
  unsettledCharges,
  unsettledSince,
} from '../../../domain/quota-usage/recent-charges.ts';
import type { QueuedUsageRequest } from '../../../starter/quota-usage/reconcile-request.ts';
import { createUsageMetrics } from '../../../starter/quota-usage/metrics.ts';
import { createUsageWatch, type UsageWatchOptions } from '../../../starter/quota-usage/usage-watch.ts';

const PODS = { group: '', resource: 'pods' };
const MINUTE = 60_000;
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

/** A watch over caches with these quotas and so many pods in each namespace; what it requested, and how often it counted. */
function watching(
  quotas: CachedQuota[],
  options: Partial<UsageWatchOptions> = {},
  {
    pods = '0',
    charges = [],
    ends = [],
  }: { readonly pods?: string; readonly charges?: RecentCharges; readonly ends?: readonly number[] } = {},
) {
  const requests: QueuedUsageRequest[] = [];
  let counts = 0;
  const countNow = (): UsageCount => {
    counts += 1;
    return { used: { pods }, unmeasured: [] };
  };
  const none = { watched: () => 0, wrong: () => [], unmeasured: () => [], waiting: () => 0 };
  const watch = createUsageWatch({
    cluster: 'prod',
    policy: { mode: 'own', auditAfterMs: MINUTE },
    resyncMs: 0,
    maxGapMs: 5_000,
    cache: () => ({
      quotas: (namespace) => quotas.filter((candidate) => namespace === undefined || candidate.namespace === namespace),
      countNow,
      unsettledCharges: () => unsettledCharges(charges, unsettledSince([], Date.now()), Date.now()),
      evaluators: () => staticEvaluators,
      deviceClasses: () => new Map(),
      chargeEnds: () => ends,
    }),
    request: (request) => requests.push(request),
    onCounted: () => {},
    metrics: createUsageMetrics(new Registry(), none),
    log: pino({ level: 'silent' }),
    ...options,
  });
  onTestFinished(() => watch.stop());
  return { watch, requests, counted: () => counts };
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
  it('finds what nothing told of, and lets everything else go first', async () => {
    const { requests } = watching([quota({ pods: '4' })], { resyncMs: 5 * MINUTE });
    await vi.advanceTimersByTimeAsync(5 * MINUTE - 1);
    expect(requests).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests.map(sentRequest)).toEqual([{ id: ID, starts: true, cause: 'resync', priority: 4 }]);
  });

  it('lets nobody wait for whom admission waits', async () => {
    const { requests } = watching([quota({})], { resyncMs: 5 * MINUTE });
    await vi.advanceTimersByTimeAsync(5 * MINUTE + 1_000);
    expect(requests.map(sentRequest)).toEqual([{ id: ID, starts: true, cause: 'resync', priority: 2 }]);
  });

  it('costs nothing but a count where every status is true', async () => {
    const { requests, counted } = watching([quota({ pods: '0' })], { resyncMs: 5 * MINUTE });
    await vi.advanceTimersByTimeAsync(60 * MINUTE);
    expect(requests).toEqual([]);
    expect(counted()).toBe(11);
  });

  it('does not come where the setting is 0', async () => {
    const { requests, counted } = watching([quota({ pods: '4' })], { resyncMs: 0 });
    await vi.advanceTimersByTimeAsync(24 * 60 * MINUTE);
    expect({ requests, counted: counted() }).toEqual({ requests: [], counted: 0 });
  });
});

describe('a quota', () => {
  it('that lacks a number is requested before one whose number is only late', async () => {
    const late = quota({ pods: '1' });
    const lacking = quota({}, { namespace: 'team-b' });
    const { watch, requests } = watching([late, lacking]);
    watch.onObjectGone(PODS, pod('web'));
    watch.onQuota(lacking, undefined);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests.map(({ target: { namespace }, priority }) => [namespace, priority])).toEqual([
      ['team-b', 2],
      ['team-a', 3],
    ]);
  });

  it('whose spec changed is counted at once, and tells how far its caches had come', async () => {
    const { watch, requests } = watching([quota({ pods: '1' })]);
    watch.onObjectGone(PODS, pod('web'));
    watch.onQuota(quota({ pods: '1' }), quota({ pods: '1' }, { spec: { hard: { pods: '9' } } }));
    await vi.advanceTimersByTimeAsync(0);
    expect(requests.map(({ observed }) => observed)).toEqual([{ pods: '8', resourcequotas: '7' }]);
  });

  it('whose status becomes true starts nothing, whoever wrote it', async () => {
    const { watch, requests, counted } = watching([quota({ pods: '0' })]);
    watch.onQuota(quota({ pods: '0' }), quota({ pods: '3' }));
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(requests).toEqual([]);
    expect(counted()).toBeGreaterThan(0);
  });

  it.each([
    ['a pod comes, which admission charges meanwhile', 200, pod('web'), undefined],
    ['a pod is done, which nobody else takes off', 20, { ...pod('web'), status: { phase: 'Succeeded' } }, pod('web')],
  ])('is counted when %s', async (_, ms, object, previous) => {
    const { watch, counted } = watching([quota({ pods: '0' })]);
    watch.onObject(PODS, object, previous);
    await vi.advanceTimersByTimeAsync(ms - 1);
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

  it('that changed while a resync waits is requested as any other', async () => {
    const { watch, requests } = watching([quota({ pods: '4' })], { resyncMs: 5 * MINUTE });
    await vi.advanceTimersByTimeAsync(5 * MINUTE);
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(requests.map(sentRequest)).toEqual([{ id: ID, starts: true, cause: 'the usage changed', priority: 3 }]);
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

  it('whose status becomes true took as long as since the first change that it did not know', async () => {
    const quotas = [quota({ pods: '2' })];
    const register = new Registry();
    const none = { watched: () => 0, wrong: () => [], unmeasured: () => [], waiting: () => 0 };
    const { watch } = watching(quotas, { metrics: createUsageMetrics(register, none) });
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(15);
    watch.onObjectGone(PODS, pod('db'));
    await vi.advanceTimersByTimeAsync(985);
    const previous = quotas.splice(0, 1, quota({ pods: '0' }))[0];
    watch.onQuota(quota({ pods: '0' }), previous);
    expect(await register.metrics()).toMatch(/^headroom_usage_\S*_sum 1$/m);
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

  it('that was charged for a pod that nobody has seen starts nothing, and an episode when the pod does not come', async () => {
    const [before, charged] = [{ pods: '0' }, quota({ pods: '1' })];
    const charges = noteStatus([], before, { pods: '1' }, { at: AT, keepMs: MINUTE });
    const { watch, requests } = watching([charged], {}, { charges });
    watch.onQuota(charged, quota(before));
    // What waits already takes the charge along, before its pod can be there.
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(CHARGE_GRACE_MS);
    expect(requests).toEqual([]);
    await vi.advanceTimersByTimeAsync(500);
    expect(requests.map(sentRequest)).toEqual([{ id: ID, starts: true, cause: 'the usage changed', priority: 3 }]);
  });

  it('that was charged lately frees at once what was freed besides', async () => {
    const charges = noteStatus([], { pods: '3' }, { pods: '4' }, { at: AT, keepMs: MINUTE });
    const { watch, requests } = watching([quota({ pods: '4' })], {}, { pods: '2', charges });
    watch.onObjectGone(PODS, pod('web'));
    await vi.advanceTimersByTimeAsync(20);
    expect(requests).toHaveLength(1);
  });

  it('of which a thousand pods go in ten seconds is counted a few times', async () => {
    const { watch, counted } = watching([quota({ pods: '1k' })]);
    for (let index = 0; index < 1_000; index += 1) {
      watch.onObjectGone(PODS, pod(`web-${index}`));
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(MINUTE);
    expect(counted()).toBeLessThanOrEqual(9);
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
