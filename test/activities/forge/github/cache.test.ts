import { describe, expect, it } from 'vitest';
import { BoundedCache, ObjectCache } from '../../../../activities/forge/github/cache.ts';

describe('a bounded cache', () => {
  it('forgets what was not used for longest once the weights exceed the limit', () => {
    const cache = new BoundedCache<string>(3);
    cache.set('a', 'A');
    cache.set('b', 'B');
    cache.set('c', 'C');
    cache.get('a');
    cache.set('d', 'D', 2);
    expect(['a', 'b', 'c', 'd'].map((key) => cache.get(key))).toEqual(['A', undefined, undefined, 'D']);
  });

  it('keeps the newest even when it alone is too heavy', () => {
    const cache = new BoundedCache<string>(3);
    cache.set('a', 'A');
    cache.set('b', 'B', 10);
    expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'B']);
  });

  it('counts an entry that is replaced once', () => {
    const cache = new BoundedCache<string>(2);
    cache.set('a', 'A');
    for (let round = 0; round < 5; round += 1) cache.set('b', `B${round}`);
    expect([cache.get('a'), cache.get('b')]).toEqual(['A', 'B4']);
  });
});

describe('a cache of git objects', () => {
  it('loads an object once, also when several ask at the same time', async () => {
    const cache = new ObjectCache<string>(10, () => 1);
    let loads = 0;
    const load = () => {
      loads += 1;
      return Promise.resolve('tree');
    };
    expect(await Promise.all([cache.get('sha', load), cache.get('sha', load)])).toEqual(['tree', 'tree']);
    expect(await cache.get('sha', load)).toBe('tree');
    expect(loads).toBe(1);
  });

  it('loads again after a failure', async () => {
    const cache = new ObjectCache<string>(10, () => 1);
    await expect(cache.get('sha', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    expect(await cache.get('sha', () => Promise.resolve('tree'))).toBe('tree');
  });

  it('loads several that are missing at once, keeps what comes along, and joins a load that is on its way', async () => {
    const cache = new ObjectCache<string | null>(10, () => 1);
    const loads: (readonly string[])[] = [];
    const load = (missing: readonly string[]) => {
      loads.push(missing);
      return Promise.resolve(new Map([...missing, 'next'].map((key) => [key, key === 'c' ? null : `${key}!`])));
    };
    await cache.get('a', () => Promise.resolve('a!'));
    const [first, other] = await Promise.all([
      cache.getAll(['a', 'b', 'c', 'b'], load),
      cache.getAll(['c', 'b'], () => Promise.reject(new Error('asked twice'))),
    ]);
    expect([...first]).toEqual([
      ['a', 'a!'],
      ['b', 'b!'],
      ['c', null],
    ]);
    expect([...other.keys()]).toEqual(['c', 'b']);
    await cache.getAll(['next', 'c'], load);
    expect(loads).toEqual([['b', 'c']]);
  });

  it('is not broken for others where somebody who loads is cancelled', async () => {
    const cache = new ObjectCache<string>(10, () => 1);
    const cancelled = Promise.withResolvers<string>();
    const first = cache.get('a', () => cancelled.promise);
    const others = [
      cache.get('a', () => Promise.resolve('tree')),
      cache.getAll(['a', 'b'], (keys) => Promise.resolve(new Map(keys.map((key) => [key, `${key}!`])))),
    ] as const;
    cancelled.reject(new Error('cancelled'));
    await expect(first).rejects.toThrow('cancelled');
    const [single, all] = await Promise.all(others);
    expect(single).toBe('tree');
    expect(all).toEqual(
      new Map([
        ['a', 'tree'],
        ['b', 'b!'],
      ]),
    );
  });

  it('fails for all of them where a load fails, and asks again afterwards', async () => {
    const cache = new ObjectCache<string>(10, () => 1);
    await expect(cache.getAll(['a', 'b'], () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
    await expect(cache.getAll(['a'], () => Promise.resolve(new Map()))).rejects.toThrow('asked for a');
    const all = await cache.getAll(['a', 'b'], (keys) => Promise.resolve(new Map(keys.map((key) => [key, key]))));
    expect(all.size).toBe(2);
  });
});
