import { describe, expect, it } from 'vitest';
import { NothingToDo, Tally } from './tally.ts';

describe('the tally of a chaos run', () => {
  it('knows which kind never came about: nothing to do and a failure are none that did', async () => {
    const tally = new Tally(['kill', 'close', 'push']);
    expect(await tally.count('kill', Promise.resolve('process 7'))).toBe('process 7');
    expect(await tally.count('close', Promise.reject(new NothingToDo('none is open')))).toBe('none is open');
    expect(await tally.count('push', Promise.reject(new Error('HTTP 500\nbody')))).toBe('in vain: HTTP 500');
    expect(tally.missing).toEqual(['close', 'push']);
    await tally.count('close', Promise.resolve());
    await tally.count('push', Promise.resolve());
    expect(tally.missing).toEqual([]);
    expect(tally.lines()[1]).toBe('close: 1 done, 1 with nothing to do, 0 in vain');
  });

  it('takes no kind that it was not told of', async () => {
    await expect(new Tally(['kill']).count('close', Promise.resolve())).rejects.toThrow('there is no kind "close"');
  });
});
