import { ApiException } from '@kubernetes/client-node';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WriteBudget } from '../../../activities/lights-out/write-budget.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'setTimeout'] }));
afterEach(() => void vi.useRealTimers());

function tooMany(headers: Record<string, string>, message = 'too many requests'): ApiException<unknown> {
  return new ApiException(429, 'Too Many Requests', JSON.stringify({ kind: 'Status', message }), headers);
}

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

describe('the budget of writes', () => {
  it('has so many items in hand at a time, whoever they are of', async () => {
    const budget = new WriteBudget(2, () => false);
    const ends: (() => void)[] = [];
    let [inHand, most] = [0, 0];
    const items = Array.from({ length: 7 }, () =>
      budget.run(async () => {
        inHand += 1;
        most = Math.max(most, inHand);
        await new Promise<void>((resolve) => ends.push(resolve));
        inHand -= 1;
      }),
    );
    for (let done = 0; done < 7; done += 1) {
      await settled();
      ends.shift()?.();
    }
    await Promise.all(items);
    expect(most).toBe(2);
  });

  it('begins the refused item anew after as long as the API server says, and nothing else before', async () => {
    const budget = new WriteBudget(4, () => false);
    const started = Date.now();
    const at: string[] = [];
    let refusals = 1;
    const web = budget.run(async () => {
      at.push(`web ${Date.now() - started}`);
      if (refusals-- > 0) throw tooMany({ 'retry-after': '3' });
      return 'written';
    });
    await settled();
    const api = budget.run(async () => void at.push(`api ${Date.now() - started}`));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await web).toBe('written');
    await api;
    expect(at.toSorted()).toEqual(['api 3000', 'web 0', 'web 3000']);
  });

  it('gives up after thirty refusals, and at once what a webhook denies with the same code or what is another error', async () => {
    const budget = new WriteBudget(1, () => false);
    let times = 0;
    const refused = budget.run(() => {
      times += 1;
      throw tooMany({});
    });
    const [failed] = await Promise.all([refused.catch((error: unknown) => error), vi.advanceTimersByTimeAsync(60_000)]);
    expect(failed).toMatchObject({ code: 429 });
    expect(times).toBe(30);
    vi.advanceTimersByTime(2_000);
    for (const error of [tooMany({}, 'admission webhook "a" denied the request: no'), new Error('broken')]) {
      await expect(budget.run(() => Promise.reject(error))).rejects.toBe(error);
    }
  });

  it('begins nothing for an activity that was cancelled meanwhile', async () => {
    let isCancelled = false;
    const budget = new WriteBudget(1, () => isCancelled);
    const first = budget.run(() => {
      isCancelled = true;
      throw tooMany({ 'retry-after': '60' });
    });
    expect(await first).toBeNull();
  });
});
