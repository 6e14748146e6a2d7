import { ApiException } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import { pollDelay } from '../../../domain/kernel/poll-pace.ts';
import { kubernetesFailure } from '../../../activities/kubernetes/failure.ts';
import { listAll, listFirst } from '../../../activities/kubernetes/list.ts';

function answer(code: number, body: unknown, headers: Record<string, string> = {}): ApiException<unknown> {
  return new ApiException(code, '', typeof body === 'string' ? body : JSON.stringify(body), headers);
}

describe('a failed request to the API server', () => {
  it.each([
    [
      answer(429, { message: 'slow down' }, { 'retry-after': '7' }),
      { type: 'KubernetesUnavailable', nextRetryDelay: 7000 },
    ],
    [answer(503, '<html>no upstream</html>'), { type: 'KubernetesUnavailable', nonRetryable: false }],
    [answer(500, ''), { type: 'KubernetesUnavailable', message: expect.stringContaining('500') }],
    [answer(401, { message: 'Unauthorized' }), { type: 'KubernetesUnavailable' }],
    [answer(403, { message: 'no' }), { type: 'KubernetesForbidden', nextRetryDelay: 10_000 }],
    [answer(404, { message: 'namespaces "x" not found' }), { type: 'KubernetesUnavailable', nonRetryable: false }],
    [answer(409, { message: 'conflict' }), { type: 'KubernetesUnavailable', nonRetryable: false }],
    [answer(422, { message: 'name: too long' }), { type: 'InvalidInput', nonRetryable: true }],
    [
      new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }),
      { type: 'KubernetesUnavailable', message: expect.stringContaining('ECONNREFUSED') },
    ],
    [AbortSignal.abort(new DOMException('too late', 'TimeoutError')).reason, { type: 'KubernetesUnavailable' }],
  ])('says who must move: %#', (error, failure) => {
    expect(kubernetesFailure(error)).toMatchObject(failure);
  });

  it('is not made of a mistake in the program', () => {
    const mistake = new TypeError("Cannot read properties of undefined (reading 'x')");
    expect(kubernetesFailure(mistake)).toBe(mistake);
  });
});

describe('a list', () => {
  const named = (name: string) => ({ metadata: { name } });

  it('of which the first are kept is read in small pages, begins again when its token has expired, and counts the rest', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `${(index * 37) % 100}`);
    const limits = new Set<number>();
    let hasExpired = false;
    const first = await listFirst(
      async ({ limit, _continue = '0' }) => {
        limits.add(limit);
        if (_continue === '50' && !hasExpired) {
          hasExpired = true;
          throw answer(410, { reason: 'Expired' });
        }
        const end = Number(_continue) + limit;
        const metadata = end < names.length ? { _continue: String(end) } : {};
        return { items: names.slice(Number(_continue), end).map(named), metadata };
      },
      {
        pageSize: 10,
        most: 3,
        keep: ({ metadata }) => (Number(metadata.name) % 2 === 0 ? Number(metadata.name) : null),
        compare: (a, b) => b - a,
      },
    );
    expect(first).toEqual({ items: [98, 96, 94], leftOut: 47 });
    expect([...limits]).toEqual([10]);
  });

  it('has the objects of all pages', async () => {
    const pages = new Map([
      [undefined, { items: [named('a')], metadata: { _continue: 'next' } }],
      ['next', { items: [named('b')], metadata: { _continue: '' } }],
    ]);
    const list = await listAll(({ _continue }) => Promise.resolve(pages.get(_continue) ?? { items: [] }));
    expect(list).toEqual([named('a'), named('b')]);
  });

  it('begins again when its continue token has expired, and not for ever', async () => {
    let asked = 0;
    const expiring = (times: number) => async (range: { _continue?: string }) => {
      asked += 1;
      if (range._continue === undefined) return { items: [named('a')], metadata: { _continue: 'old' } };
      if (asked > times) return { items: [named('b')] };
      throw answer(410, { reason: 'Expired' });
    };
    await expect(listAll(expiring(2))).resolves.toEqual([named('a'), named('b')]);
    await expect(listAll(expiring(1000))).rejects.toMatchObject({ code: 410 });
  });
});

describe('the pace of asking', () => {
  it('slows down from the first to the last delay, and stays there', () => {
    const pace = { first: 15_000, last: 300_000, ramp: 600_000 };
    expect([0, 300_000, 600_000, 10_000_000].map((elapsed) => pollDelay(pace, elapsed))).toEqual([
      15_000, 157_500, 300_000, 300_000,
    ]);
    expect(pollDelay({ ...pace, last: 1000 }, 600_000)).toBe(15_000);
  });
});

describe('work in parallel', () => {
  it('is never more than the limit at once, and its results keep their order', async () => {
    let running = 0;
    let most = 0;
    const results = await inParallel(3, [5, 4, 3, 2, 1, 0], async (n) => {
      running += 1;
      most = Math.max(most, running);
      for (let turn = 0; turn < n; turn += 1) await Promise.resolve();
      running -= 1;
      return n * 2;
    });
    expect(results).toEqual([10, 8, 6, 4, 2, 0]);
    expect(most).toBe(3);
  });

  it('throws the first error after what is under way has ended, and begins nothing more', async () => {
    const begun: number[] = [];
    const work = inParallel(2, [0, 1, 2, 3, 4], async (n) => {
      begun.push(n);
      await Promise.resolve();
      if (n === 1) throw new Error('broken');
    });
    await expect(work).rejects.toThrow('broken');
    expect(begun.length).toBeLessThan(5);
  });
});
