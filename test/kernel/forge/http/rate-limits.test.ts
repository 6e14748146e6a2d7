import { describe, expect, it } from 'vitest';
import { mostWithin } from './rate-limits.ts';

describe('the most writes within a window', () => {
  it('are counted wherever the window begins, and a write that is a whole window old is not in it', () => {
    expect(mostWithin([], 60)).toBe(0);
    expect(mostWithin([0, 59, 60, 61, 200], 60)).toBe(3);
    expect(mostWithin([0, 60, 120], 60)).toBe(1);
    expect(mostWithin([30, 0, 10, 20], 60)).toBe(4);
  });
});
