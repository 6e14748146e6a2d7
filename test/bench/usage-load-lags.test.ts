import { describe, expect, it } from 'vitest';
import { type AnsweredChange, LagBook } from '../../bench/usage-load/lag-book.ts';
import { distributionOf } from '../../bench/usage-load/percentiles.ts';
import { usedKey } from '../../bench/usage-load/used-key.ts';

const quota = 'team/compute';

function bookWith(...changes: readonly Omit<AnsweredChange, 'quota'>[]): LagBook {
  const book = new LagBook();
  book.seen({ quota, used: 'pods=3', version: 10, at: 0 });
  for (const change of changes) book.answered({ quota, ...change });
  return book;
}

describe('the book of lags', () => {
  it('counts from the answer to the status that shows what is expected', () => {
    const book = bookWith({ change: 1, expected: 'pods=2', at: 100, version: 20 });
    expect(book.outstanding).toBe(1);
    book.seen({ quota, used: 'pods=2', version: 21, at: 130 });
    expect(book.lagOf(1)).toBe(30);
    expect(book.outstanding).toBe(0);
  });

  it('a status that shows something else resolves nothing', () => {
    const book = bookWith({ change: 1, expected: 'pods=2', at: 100, version: 20 });
    book.seen({ quota, used: 'pods=5', version: 21, at: 130 });
    expect(book.lagOf(1)).toBeUndefined();
    expect(book.untrue()).toEqual([{ quota, shows: 'pods=5', expected: 'pods=2' }]);
  });

  it('one status resolves every change up to the one that it is true for, and none after it', () => {
    const book = bookWith(
      { change: 1, expected: 'pods=2', at: 100, version: 20 },
      { change: 2, expected: 'pods=1', at: 110, version: 22 },
      { change: 3, expected: 'pods=0', at: 120, version: 24 },
    );
    book.seen({ quota, used: 'pods=1', version: 25, at: 150 });
    expect([1, 2, 3].map((change) => book.lagOf(change))).toEqual([50, 40, undefined]);
  });

  it('what admission charged before the object was stored has no lag, however late the watch tells it', () => {
    const book = bookWith({ change: 1, expected: 'pods=4', at: 100, version: 20 });
    book.seen({ quota, used: 'pods=4', version: 19, at: 105 });
    expect(book.lagOf(1)).toBeUndefined();
    book.progressed(20);
    expect(book.lagOf(1)).toBe(0);
  });

  it('a status from before the change that was replaced before it was never true for it', () => {
    const book = bookWith({ change: 1, expected: 'pods=4', at: 100, version: 20 });
    book.seen({ quota, used: 'pods=4', version: 18, at: 105 });
    book.seen({ quota, used: 'pods=3', version: 19, at: 106 });
    book.progressed(30);
    expect(book.lagOf(1)).toBeUndefined();
    book.seen({ quota, used: 'pods=4', version: 31, at: 190 });
    expect(book.lagOf(1)).toBe(90);
  });

  it('a status from before the change that is replaced after it was true for it', () => {
    const book = bookWith({ change: 1, expected: 'pods=4', at: 100, version: 20 });
    book.seen({ quota, used: 'pods=4', version: 19, at: 105 });
    book.seen({ quota, used: 'pods=3', version: 21, at: 106 });
    expect(book.lagOf(1)).toBe(0);
  });

  it('a change that leads back to what an old status shows waits until the watch has come as far', () => {
    const book = bookWith(
      { change: 1, expected: 'pods=2', at: 100, version: 20 },
      { change: 2, expected: 'pods=3', at: 110, version: 23 },
    );
    book.seen({ quota, used: 'pods=4', version: 22, at: 115 });
    expect(book.lagOf(2)).toBeUndefined();
    book.seen({ quota, used: 'pods=3', version: 25, at: 160 });
    expect([1, 2].map((change) => book.lagOf(change))).toEqual([60, 50]);
  });

  it('a change without a version of its own comes after the one before it', () => {
    const book = bookWith(
      { change: 1, expected: 'configmaps=2', at: 100, version: 20 },
      { change: 2, expected: 'configmaps=1', at: 110, version: null },
    );
    book.seen({ quota, used: 'configmaps=1', version: 19, at: 111 });
    book.progressed(100);
    expect(book.lagOf(2)).toBeUndefined();
    book.seen({ quota, used: 'configmaps=1', version: 101, at: 140 });
    expect([1, 2].map((change) => book.lagOf(change))).toEqual([40, 30]);
  });

  it('a status that came before the answer was heard has no lag', () => {
    const book = bookWith();
    book.seen({ quota, used: 'pods=2', version: 21, at: 95 });
    book.answered({ quota, change: 1, expected: 'pods=2', at: 100, version: 20 });
    expect(book.lagOf(1)).toBe(0);
  });
});

describe('the distribution of values', () => {
  it('has values that were measured, by nearest rank', () => {
    const values = Array.from({ length: 200 }, (_, index) => 200 - index);
    expect(distributionOf(values)).toEqual({ count: 200, p50: 100, p90: 180, p99: 198, max: 200 });
  });

  it('of one value is that value, and of none there is none', () => {
    expect(distributionOf([7])).toEqual({ count: 1, p50: 7, p90: 7, p99: 7, max: 7 });
    expect(distributionOf([])).toBeNull();
  });
});

describe('the key of a usage', () => {
  it('is the same however the amounts are spelled and whatever the order', () => {
    expect(usedKey({ cpu: '1500m', memory: '1Gi' })).toBe(usedKey({ memory: '1024Mi', cpu: '1.5' }));
  });

  it('is another one for another amount, and for a key more', () => {
    expect(usedKey({ cpu: '1' })).not.toBe(usedKey({ cpu: '2' }));
    expect(usedKey({ cpu: '1' })).not.toBe(usedKey({ cpu: '1', pods: '0' }));
  });
});
