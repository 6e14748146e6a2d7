import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Limited, Pace } from '../../../../../activities/node-group/provider/vpsie/pace.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

async function turns(pace: Pace, count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await pace.turn();
}

describe('the pace of requests', () => {
  it('lets no more through in a minute than VPSie takes', async () => {
    const pace = new Pace(100);
    await turns(pace, 100);
    await expect(pace.turn()).rejects.toMatchObject({ name: 'Limited', retryAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    await turns(pace, 100);
    await expect(pace.turn()).rejects.toBeInstanceOf(Limited);
  });

  it('waits by itself where it is only for seconds', async () => {
    const pace = new Pace(1);
    await pace.turn();
    await vi.advanceTimersByTimeAsync(59_900);
    const turn = pace.turn();
    await vi.advanceTimersByTimeAsync(100);
    await expect(turn).resolves.toBeUndefined();
  });

  it('rests as long as VPSie says, and a part of a minute where it says nothing', async () => {
    const pace = new Pace(100);
    pace.rest(30_000);
    await expect(pace.turn()).rejects.toMatchObject({ retryAfterMs: 30_000 });
    // A shorter one that comes later does not end it.
    expect(pace.rest(1_000).retryAfterMs).toBe(1_000);
    await expect(pace.turn()).rejects.toMatchObject({ retryAfterMs: 30_000 });
    await vi.advanceTimersByTimeAsync(30_000);
    await pace.turn();
    expect(pace.rest(null).retryAfterMs).toBe(20_000);
  });
});
