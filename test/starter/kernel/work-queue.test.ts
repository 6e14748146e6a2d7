import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WorkQueue, type WorkQueueOptions, type QueuedRequest } from '../../../starter/kernel/work-queue.ts';
import { VirtualClock } from './virtual-clock.ts';

const GAP_MS = 1_000;

/** A queue that runs, what it sent and when, and the time. */
function running(options: Partial<WorkQueueOptions<QueuedRequest>> = {}) {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sent: { at: number; request: QueuedRequest }[] = [];
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  const queue = new WorkQueue<QueuedRequest>({
    send: async (request) => {
      sent.push({ at: clock.now(), request });
    },
    perSecond: 100,
    gapMs: GAP_MS,
    log,
    signal: stop.signal,
    clock,
    ...options,
  });
  const ended = queue.run();
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  return { queue, clock, sent, lines, stop: () => stop.abort(), ended };
}

function request(coalescingKey: string, over: Partial<QueuedRequest> = {}): QueuedRequest {
  return { coalescingKey, starts: true, cause: 'a threshold is reached', ...over };
}

describe('the work queue', () => {
  it('sends a request at once, and what comes for the same workflow in the gap as one request at its end', async () => {
    const { queue, clock, sent } = running();
    queue.add(request('a', { cause: '1' }));
    await clock.pass(100);
    queue.add(request('a', { cause: '2' }));
    queue.add(request('a', { cause: '3' }));
    await clock.pass(5 * GAP_MS);
    expect(sent.map(({ at, request }) => [at, request.cause])).toEqual([
      [0, '1'],
      [GAP_MS, '3'],
    ]);
  });

  it('sends what says something else within the gap, behind what waits for none', async () => {
    const { queue, clock, sent } = running({ perSecond: 10 });
    queue.add(request('a', { cause: '1' }));
    await clock.pass(50);
    queue.add(request('a', { cause: '2', skipsGap: true }));
    queue.add(request('b', { cause: '3' }));
    queue.add(request('c', { cause: '4' }));
    await clock.pass(500);
    queue.add(request('a', { cause: '5' }));
    await clock.pass(5 * GAP_MS);
    expect(sent.map(({ at, request: { cause } }) => [at, cause])).toEqual([
      [0, '1'],
      [100, '3'],
      [200, '4'],
      [300, '2'],
      [300 + GAP_MS, '5'],
    ]);
  });

  it('sends what has time when the time is over, and sooner with a request of the same workflow that has none', async () => {
    const { queue, clock, sent } = running();
    queue.add(request('a', { cause: '1', afterMs: 10_000 }));
    queue.add(request('b', { cause: '2', afterMs: 10_000 }));
    await clock.pass(4_000);
    queue.add(request('a', { cause: '3', afterMs: 10_000 }));
    queue.add(request('b', { cause: '4' }));
    await clock.pass(20_000);
    expect(sent.map(({ at, request: { cause } }) => [at, cause])).toEqual([
      [4_000, '4'],
      [10_000, '3'],
    ]);
  });

  it('sends nothing that is no longer needed when its turn comes, unless another request of the workflow is', async () => {
    const { queue, clock, sent } = running();
    const needed = new Set(['a', 'b', 'c']);
    const asked = (key: string) => request(key, { cause: 'asked', isStillNeeded: () => needed.has(key) });
    for (const key of ['a', 'b', 'c']) queue.add(asked(key));
    await clock.pass(100);
    for (const key of ['a', 'b', 'c']) queue.add(asked(key));
    queue.add(request('b'));
    needed.delete('a');
    needed.delete('b');
    await clock.pass(5 * GAP_MS);
    const later = sent.filter(({ at }) => at > 100).map((entry) => entry.request.coalescingKey);
    expect(later).toEqual(['b', 'c']);
    expect(queue.depth).toBe(0);
  });

  it('leaves a workflow alone for as long as its last request says, and the others as ever', async () => {
    const { queue, clock, sent } = running();
    const both = (cause: string) => {
      queue.add(request('base', { cause, gapMs: 5 * GAP_MS }));
      queue.add(request('own', { cause }));
    };
    both('1');
    await clock.pass(100);
    both('2');
    await clock.pass(10 * GAP_MS);
    const at = (key: string) => sent.filter((entry) => entry.request.coalescingKey === key).map((entry) => entry.at);
    expect(at('base')).toEqual([0, 5 * GAP_MS]);
    expect(at('own').at(-1)).toBeLessThan(2 * GAP_MS);
  });

  it('keeps that a workflow is to be started when a mere change follows', async () => {
    const { queue, clock, sent } = running();
    queue.add(request('a', { starts: true, cause: 'something was refused' }));
    queue.add(request('a', { starts: false, cause: 'the quota changed' }));
    queue.add(request('b', { starts: false, cause: 'the quota changed' }));
    await clock.pass(GAP_MS);
    expect(sent.map(({ request }) => [request.coalescingKey, request.starts, request.cause])).toEqual([
      ['a', true, 'the quota changed'],
      ['b', false, 'the quota changed'],
    ]);
  });

  it('keeps that a change is to wake a workflow at rest when pressure follows', async () => {
    const { queue, clock, sent } = running();
    queue.add(request('a', { starts: false, cause: 'the quota changed' }));
    queue.add(request('a', { starts: true, cause: 'a threshold is reached' }));
    queue.add(request('b', { starts: true, cause: 'a threshold is reached' }));
    await clock.pass(GAP_MS);
    expect(sent.map(({ request }) => [request.coalescingKey, request.starts, request.signals])).toEqual([
      ['a', true, true],
      ['b', true, false],
    ]);
  });

  it('drops a request that Temporal would never accept, says so, and sends the others', async () => {
    const hopeless = new Error('the workflow has reached its limit of signals');
    const sent: string[] = [];
    const { queue, clock, lines } = running({
      send: async ({ coalescingKey: id }) => {
        if (id === 'full') throw hopeless;
        sent.push(id);
      },
      isHopeless: (error) => error === hopeless,
    });
    queue.add(request('full'));
    queue.add(request('a'));
    await clock.pass(GAP_MS);
    expect(sent).toEqual(['a']);
    expect(queue.depth).toBe(0);
    expect(lines).toEqual([
      'Temporal does not accept the reconcile request for full: the workflow has reached its limit of signals',
    ]);
  });

  it('sends a burst no faster than allowed, and all of it', async () => {
    const { queue, clock, sent } = running({ perSecond: 10 });
    for (let n = 0; n < 25; n += 1) queue.add(request(`quota-${n}`));
    expect(queue.depth).toBe(25);
    await clock.pass(1_000);
    expect(sent).toHaveLength(11);
    await clock.pass(10_000);
    expect(sent).toHaveLength(25);
    const gaps = sent.slice(1).map(({ at }, n) => at - (sent[n]?.at ?? 0));
    expect(Math.min(...gaps)).toBe(100);
    expect(queue).toMatchObject({ depth: 0, sent: 25 });
  });

  it('sends the urgent ones first, also one that waits already and becomes urgent', async () => {
    const { queue, clock, sent } = running({ perSecond: 10 });
    for (const id of ['a', 'b', 'c', 'd']) queue.add(request(id, { priority: 3 }));
    queue.add(request('resynced', { priority: 4 }));
    queue.add(request('d', { priority: 2 }));
    queue.add(request('urgent', { priority: 2 }));
    await clock.pass(10_000);
    expect(sent.map(({ request }) => request.coalescingKey)).toEqual(['d', 'urgent', 'a', 'b', 'c', 'resynced']);
    expect(queue.depth).toBe(0);
  });

  it('leaves an urgent one urgent when an ordinary one follows for the same workflow', async () => {
    const { queue, clock, sent } = running({ perSecond: 10 });
    for (const id of ['a', 'b', 'c', 'd']) queue.add(request(id, { priority: 3 }));
    queue.add(request('e', { priority: 2 }));
    queue.add(request('e', { priority: 3, cause: 'the newest' }));
    await clock.pass(10_000);
    expect(sent.map(({ request }) => request.coalescingKey)).toEqual(['e', 'a', 'b', 'c', 'd']);
    expect(sent[0]?.request).toMatchObject({ priority: 2, cause: 'the newest' });
  });

  const allowance = { burst: 20, reserve: 10, refillMs: 15_000 };

  it('sends a few requests a minute for a workflow that is hot for hours, and as ever for the others', async () => {
    const { queue, clock, sent } = running({ allowance });
    for (let second = 0; second < 3 * 3600; second += 1) {
      queue.add(request('hot', { cause: 'admission denied a workload' }));
      if (second % 1800 === 0) queue.add(request('calm', { cause: `${second}` }));
      await clock.pass(1000);
    }
    const hot = sent.filter((entry) => entry.request.coalescingKey === 'hot').map(({ at }) => at);
    expect(hot[0]).toBe(0);
    expect(hot.length).toBeLessThanOrEqual(20 + 3 * 60 * 4);
    // It still hears of what is there, after a quarter of a minute at the latest.
    expect(Math.max(...hot.slice(1).map((at, index) => at - (hot[index] ?? 0)))).toBeLessThanOrEqual(16_000);
    const calm = sent.filter((entry) => entry.request.coalescingKey === 'calm');
    // Ten milliseconds are the rate of the queue, after the request of the other.
    expect(calm).toHaveLength(6);
    for (const { at, request } of calm) expect(at - Number(request.cause) * 1000).toBeLessThanOrEqual(10);
  });

  it('sends what a person changed at once, also to a workflow that is hot, and that a few times a minute as well', async () => {
    const { queue, clock, sent } = running({ allowance });
    for (let second = 0; second < 600; second += 1) {
      queue.add(request('hot', { cause: 'admission denied a workload' }));
      await clock.pass(1000);
    }
    const changedAt = clock.now();
    queue.add(request('hot', { starts: false, cause: 'the quota changed', usesReserve: true }));
    await clock.pass(1000);
    expect(sent.at(-1)).toMatchObject({ request: { cause: 'the quota changed' } });
    expect((sent.at(-1)?.at ?? 0) - changedAt).toBeLessThanOrEqual(GAP_MS);
    const before = sent.length;
    for (let second = 0; second < 3600; second += 1) {
      queue.add(request('hot', { starts: false, cause: 'the quota changed', usesReserve: true }));
      await clock.pass(1000);
    }
    expect(sent.length - before).toBeLessThanOrEqual(10 + 60 * 4);
  });

  it('does not save up the allowance of quiet times for a stampede', async () => {
    const { queue, clock, sent } = running({ perSecond: 10 });
    await clock.pass(60_000);
    for (let n = 0; n < 5; n += 1) queue.add(request(`quota-${n}`));
    await clock.pass(1);
    expect(sent).toHaveLength(1);
  });

  it('tries ever less often while Temporal is away', async () => {
    let tries = 0;
    const { queue, clock } = running({
      send: async () => {
        tries += 1;
        throw new Error('14 UNAVAILABLE: no connection');
      },
    });
    queue.add(request('a'));
    await clock.pass(60_000);
    // Half a second at first and fifteen at last, each shortened by up to a half.
    expect(tries).toBeGreaterThanOrEqual(7);
    expect(tries).toBeLessThanOrEqual(16);
  });

  it('keeps every request while Temporal is away, says so once, and sends each once when it is back', async () => {
    let away = true;
    const got: string[] = [];
    const { queue, clock, lines } = running({
      send: async ({ coalescingKey: id }) => {
        if (away) throw new Error('14 UNAVAILABLE: no connection');
        got.push(id);
      },
    });
    for (let n = 0; n < 20; n += 1) queue.add(request(`quota-${n}`));
    await clock.pass(60_000);
    expect(queue.trouble).toBe('14 UNAVAILABLE: no connection');
    // Eight are tried again and again, of which the depth has none.
    expect(queue).toMatchObject({ depth: 12, unsent: 20 });
    expect(got).toEqual([]);
    // More pressure on a workflow whose reconcile request did not get through yet.
    for (let n = 0; n < 20; n += 1) queue.add(request(`quota-${n}`, { cause: '2' }));
    away = false;
    await clock.pass(60_000);
    expect(new Set(got).size).toBe(20);
    expect(queue).toMatchObject({ trouble: null, depth: 0, unsent: 0 });
    expect(lines.filter((line) => line.startsWith('waiting for Temporal'))).toEqual([
      'waiting for Temporal to accept reconcile requests: 14 UNAVAILABLE: no connection',
    ]);
    expect(lines).toContain('Temporal accepts reconcile requests again');
  });

  it('never sends two requests for one workflow at the same time', async () => {
    const underWay: string[] = [];
    const release: (() => void)[] = [];
    const { queue, clock } = running({
      send: async ({ cause }) => {
        underWay.push(cause);
        await new Promise<void>((resolve) => release.push(resolve));
      },
    });
    queue.add(request('a', { cause: '1' }));
    await clock.pass(10 * GAP_MS);
    queue.add(request('a', { cause: '2' }));
    queue.add(request('a', { cause: '3' }));
    await clock.pass(10 * GAP_MS);
    expect(underWay).toEqual(['1']);
    release[0]?.();
    await clock.pass(10 * GAP_MS);
    expect(underWay).toEqual(['1', '3']);
    release[1]?.();
  });

  it('stops when it is told to, after what is under way, and sends nothing that still waits', async () => {
    const release: (() => void)[] = [];
    const got: string[] = [];
    const { queue, clock, stop, ended } = running({
      perSecond: 1,
      send: async ({ coalescingKey: id }) => {
        got.push(id);
        await new Promise<void>((resolve) => release.push(resolve));
      },
    });
    queue.add(request('a'));
    queue.add(request('b'));
    await clock.pass(10);
    stop();
    let isOver = false;
    void ended.then(() => (isOver = true));
    await clock.pass(10);
    expect(isOver).toBe(false);
    release[0]?.();
    await ended;
    expect(got).toEqual(['a']);
  });

  it('stops while Temporal is away', async () => {
    const { queue, clock, stop, ended } = running({ send: () => Promise.reject(new Error('away')) });
    queue.add(request('a'));
    await clock.pass(10);
    stop();
    await expect(ended).resolves.toBeUndefined();
  });
});
