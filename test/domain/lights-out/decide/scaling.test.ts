import { describe, expect, it } from 'vitest';
import { freshMemory } from '../../../../domain/lights-out/decide/memory.ts';
import { packItem } from '../../../../domain/lights-out/decide/packed.ts';
import {
  afterTimeout,
  batchWait,
  endOfPlan,
  isOneBatch,
  paceOf,
  readinessWait,
} from '../../../../domain/lights-out/decide/scaling.ts';
import { down, HOUR, itemOf, NOON, observationOf, planOf, specOf } from '../observations.ts';

const job = itemOf('report', {
  workload: { kind: 'CronJob', namespace: 'team-a', name: 'report' },
  direction: 'Up',
  reason: 'Up',
  from: null,
  to: null,
});
const limit = { batchSize: 2, delayBetweenBatches: '30s' };

describe('the pace of a schedule', () => {
  it('is what it says for the direction, and else a hundred at once', () => {
    expect(paceOf(specOf({ downscaleRateLimit: limit }), [itemOf('web')])).toEqual({ batchSize: 2, delayMs: 30_000 });
    expect(paceOf(specOf({ upscaleRateLimit: limit }), [itemOf('web')])).toEqual({ batchSize: 100, delayMs: 0 });
    expect(paceOf(null, [])).toEqual({ batchSize: 100, delayMs: 0 });
  });

  it('is slow for CronJobs in the morning, which start what they missed', () => {
    expect(paceOf(specOf(), [job])).toEqual({ batchSize: 50, delayMs: 5_000 });
    expect(paceOf(specOf(), [{ ...job, reason: 'LeftScope' }]).delayMs).toBe(0);
    expect(paceOf(specOf({ upscaleRateLimit: limit }), [job]).batchSize).toBe(2);
  });

  it('makes one batch of what has one priority and fits', () => {
    const seen = observationOf();
    expect(isOneBatch(seen, [])).toBe(false);
    expect(isOneBatch(seen, [itemOf('web'), itemOf('api')])).toBe(true);
    expect(isOneBatch(seen, [itemOf('web'), itemOf('api', { priority: 1 })])).toBe(false);
  });
});

describe('a plan', () => {
  it('is valid until the first of the next transition, its own end and that of an override', () => {
    expect(endOfPlan(observationOf(), freshMemory)).toBe(NOON + 12 * HOUR);
    expect(endOfPlan(observationOf({ plan: planOf([], { until: NOON + HOUR }) }), freshMemory)).toBe(NOON + HOUR);
    const override = {
      kind: 'wake',
      namespace: null,
      since: 0,
      until: NOON + 60_000,
      by: 'alice',
      reason: '',
    } as const;
    expect(endOfPlan(observationOf(), { ...freshMemory, overrides: [override] })).toBe(NOON + 60_000);
    expect(endOfPlan(observationOf({ period: { ...down, next: null } }), freshMemory)).toBe(Infinity);
  });
});

describe('the next batch', () => {
  const memory = { ...freshMemory, batchDirection: 'Down', nextBatchAt: NOON + 30_000 } as const;
  const asked = { direction: 'Down', delayMs: 30_000, now: NOON, end: Infinity } as const;

  it('waits for its turn after one of the same direction, and for no longer than the schedule says by now', () => {
    expect(batchWait(memory, asked)?.until).toBe(NOON + 30_000);
    expect(batchWait(memory, { ...asked, delayMs: 10_000 })?.until).toBe(NOON + 10_000);
    expect(batchWait(memory, { ...asked, end: NOON + 5_000 })?.until).toBe(NOON + 5_000);
    expect(batchWait(memory, { ...asked, direction: 'Up' })).toBeNull();
    expect(batchWait(memory, { ...asked, now: NOON + 30_000 })).toBeNull();
    expect(batchWait(freshMemory, asked)).toBeNull();
  });
});

describe('the next priority', () => {
  const [web, api] = [itemOf('web'), itemOf('api')].map(packItem);
  const stage = { direction: 'Down', priority: 10, workloads: [web ?? '', api ?? ''], waitingSince: null } as const;
  const memory = { ...freshMemory, stage };
  const asked = { direction: 'Down', priority: 20, now: NOON, end: Infinity } as const;

  it('waits for the one before, for as long as the schedule says from the first wait on', () => {
    const wait = readinessWait(memory, specOf({ readinessTimeout: '2m' }), asked);
    expect(wait).toMatchObject({ until: NOON + 120_000, what: 'the 2 workloads of priority 10 to be down' });
    const later = { ...memory, stage: wait?.stage ?? null };
    expect(readinessWait(later, specOf({ readinessTimeout: '2m' }), { ...asked, now: NOON + 60_000 })?.until).toBe(
      NOON + 120_000,
    );
    expect(readinessWait(memory, specOf(), { ...asked, end: NOON + 1_000 })?.until).toBe(NOON + 1_000);
  });

  it('waits for nothing after itself, the other direction, what failed, or where the schedule wants no wait', () => {
    expect(readinessWait(memory, specOf(), { ...asked, priority: 10 })).toBeNull();
    expect(readinessWait(memory, specOf(), { ...asked, direction: 'Up' })).toBeNull();
    expect(readinessWait(memory, specOf({ readinessTimeout: '0' }), asked)).toBeNull();
    expect(readinessWait(freshMemory, specOf(), asked)).toBeNull();
    const failing = { 'Deployment team-a/web': 'denied', 'Deployment team-a/api': 'denied' };
    expect(readinessWait({ ...memory, failing }, specOf(), asked)).toBeNull();
  });

  it('goes on without it when the time is over, and says so', () => {
    const wait = readinessWait(memory, specOf({ readinessTimeout: '2m' }), asked);
    if (wait === null) throw new Error('there is nothing to wait for');
    const after = afterTimeout(memory, wait);
    expect([after.stage, after.unready]).toEqual([
      null,
      ['The 2 workloads of priority 10 were not down within 2 min. Headroom went on with the next priority.'],
    ]);
    expect(after.pendingEvents).toMatchObject([{ type: 'Warning', reason: 'ReadinessTimeout' }]);
  });
});
