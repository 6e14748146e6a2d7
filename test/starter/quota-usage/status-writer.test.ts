import { pino } from 'pino';
import { Registry } from 'prom-client';
import { ApiException } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PauseInForce } from '../../../domain/kernel/pause.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import { createUsageMetrics } from '../../../starter/quota-usage/metrics.ts';
import { StatusWriter, type StatusWriterOptions } from '../../../starter/quota-usage/status-writer.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function quota(name: string, resourceVersion = '7'): CachedQuota {
  const hard = { pods: '5' };
  const status = { hard, used: { pods: '1' } };
  return { namespace: 'team-a', name, uid: `uid-${name}`, resourceVersion, spec: { hard }, status };
}

const wanted = (name: string, { priority = 3, version = '7' } = {}) => ({
  quota: quota(name, version),
  status: { hard: { pods: '5' }, used: { pods: '0' }, without: { hard: [], used: [] }, isWritten: false },
  priority,
});

type Outcome = Awaited<ReturnType<StatusWriterOptions['patch']>>;

/** A writer whose patches are answered by hand: what was asked for, and what it told. */
function writing({ isOwner = true, pause = null }: { isOwner?: boolean; pause?: PauseInForce | null } = {}) {
  const asked: { readonly name: string; readonly version: string; answer: (outcome: Outcome | Error) => void }[] = [];
  const cached = new Map<string, CachedQuota>();
  const told: string[] = [];
  const again: (number | null)[] = [];
  const state = { pause };
  const none = { watched: () => 0, wrong: () => [], unmeasured: () => [], waiting: () => 0, isOwner: () => isOwner };
  const writer = new StatusWriter({
    isOwner: () => isOwner,
    pauseOf: async () => await Promise.resolve(state.pause),
    cached: ({ name }) => cached.get(name) ?? null,
    patch: async ({ name, resourceVersion: version }) =>
      await new Promise<Outcome>((resolve, reject) => {
        asked.push({
          name,
          version,
          answer: (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)),
        });
      }),
    onWritten: ({ quota: { name } }) => told.push(`written ${name}`),
    onProblem: ({ name }, { kind, message }) => told.push(`${kind} ${name}: ${message}`),
    countAgain: (_, at) => again.push(at === null ? null : at - performance.now()),
    metrics: createUsageMetrics(new Registry(), none),
    log: pino({ level: 'silent' }),
  });
  return { writer, asked, told, again, cached, state };
}

const settled = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));

describe('the status of a quota', () => {
  it('is written by the owner alone', async () => {
    const { writer, asked } = writing({ isOwner: false });
    expect(writer.add(wanted('compute'))).toBe(false);
    await settled();
    expect(asked).toEqual([]);
  });

  it('is written ten at a time, and those first that admission waits for', async () => {
    const { writer, asked } = writing();
    for (let index = 0; index < 10; index += 1) writer.add(wanted(`first-${index}`));
    writer.add(wanted('resync', { priority: 4 }));
    writer.add(wanted('late'));
    writer.add(wanted('urgent', { priority: 2 }));
    await settled();
    expect(asked).toHaveLength(10);
    for (const { answer } of asked) answer({ resourceVersion: '8' });
    await settled();
    expect(asked.slice(10).map(({ name }) => name)).toEqual(['urgent', 'late', 'resync']);
  });

  it('is not written again before the cache has seen the last write, and is counted again then', async () => {
    const { writer, asked, again, told } = writing();
    writer.add(wanted('compute'));
    await settled();
    writer.add(wanted('compute'));
    asked[0]?.answer({ resourceVersion: '8' });
    await settled();
    writer.add(wanted('compute'));
    expect([asked.length, again]).toEqual([1, [5_000]]);
    expect(writer.isEcho(quota('compute', '8'))).toBe(true);
    writer.onQuota(quota('compute', '8'));
    expect(again.at(-1)).toBe(null);
    writer.add(wanted('compute', { version: '8' }));
    await settled();
    expect(asked.map(({ version }) => version)).toEqual(['7', '8']);
    expect(told).toEqual(['written compute']);
  });

  it('that was seen before the answer to its write came is not waited for', async () => {
    const { writer, asked, cached } = writing();
    writer.add(wanted('compute'));
    await settled();
    const echo = { ...quota('compute', '8'), status: { hard: { pods: '5' }, used: { pods: '0' } } };
    expect(writer.isEcho(echo)).toBe(true);
    expect(writer.isEcho({ ...echo, status: { hard: { pods: '5' }, used: { pods: '2' } } })).toBe(false);
    cached.set('compute', echo);
    writer.onQuota(echo);
    asked[0]?.answer({ resourceVersion: '8' });
    await settled();
    writer.add(wanted('compute', { version: '8' }));
    await settled();
    expect(asked).toHaveLength(2);
  });

  it('is counted again after a conflict as soon as the cache has the other version, or after a second', async () => {
    const { writer, asked, again } = writing();
    writer.add(wanted('compute'));
    await settled();
    asked[0]?.answer('conflict');
    await settled();
    expect(again).toEqual([1_000]);
    writer.onQuota(quota('compute', '9'));
    expect(again).toEqual([1_000, null]);
    writer.add(wanted('compute', { version: '9' }));
    await settled();
    asked[1]?.answer('conflict');
    await settled();
    await vi.advanceTimersByTimeAsync(1_000);
    writer.add(wanted('compute', { version: '9' }));
    await settled();
    expect(asked).toHaveLength(3);
  });

  it('that waits for its turn is counted again when the quota changes', async () => {
    const { writer, asked, again } = writing();
    for (let index = 0; index < 11; index += 1) writer.add(wanted(`quota-${index}`));
    writer.onQuota(quota('quota-10', '9'));
    expect(again).toEqual([null]);
    for (const { answer } of asked) answer('gone');
    await settled();
    expect(asked.map(({ name }) => name)).not.toContain('quota-10');
  });

  it('is tried again ever later where the API server fails, and told where a person has to act', async () => {
    const { writer, asked, again, told } = writing();
    for (const code of [500, 403, 403, 422]) {
      writer.add(wanted('compute'));
      await settled();
      asked.at(-1)?.answer(new ApiException(code, 'PATCH', '{"message":"no"}', {}));
      await settled();
      await vi.advanceTimersByTimeAsync(again.at(-1) ?? 0);
    }
    expect(again).toEqual([400, 800, 1_600, 3_200]);
    expect(told).toEqual(['refused compute: 403 no', 'refused compute: 422 no']);
  });

  it('is tried again after five seconds at most while the API server is away, and after half a minute where it refuses', async () => {
    const { writer, asked, again } = writing();
    const fail = async (error: Error): Promise<void> => {
      writer.add(wanted('compute'));
      await settled();
      asked.at(-1)?.answer(error);
      await settled();
      await vi.advanceTimersByTimeAsync(again.at(-1) ?? 0);
    };
    for (let times = 0; times < 10; times += 1) await fail(new TypeError('fetch failed'));
    expect(again.slice(-3)).toEqual([5_000, 5_000, 5_000]);
    await fail(new ApiException(422, 'PATCH', '{"message":"no"}', {}));
    expect(again.at(-1)).toBe(30_000);
  });

  it('is not written during a pause, and is when that is over', async () => {
    const pause: PauseInForce = {
      by: 'alice',
      reason: '',
      at: null,
      scope: 'target',
      kept: 'ConfigMap headroom-pauses',
    };
    const { writer, asked, told, state } = writing({ pause });
    writer.add(wanted('compute'));
    await settled();
    writer.add(wanted('compute'));
    await settled();
    expect([asked, told]).toEqual([[], ['paused compute: paused by alice (ConfigMap headroom-pauses)']]);
    state.pause = null;
    writer.resume();
    writer.add(wanted('compute'));
    await settled();
    expect(asked).toHaveLength(1);
  });
});
