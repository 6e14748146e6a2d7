import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Alarms } from '../../../starter/quota-usage/alarms.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => {
  // Before the timers: what the spy puts back is the one that it found.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

it('fires once when a moment is over, however often it was set, and for each of two moments', async () => {
  const rung: [string, number][] = [];
  const alarms = new Alarms(
    () => Date.now(),
    (namespace) => rung.push([namespace, Date.now()]),
  );
  alarms.set('team-a', 2_000);
  alarms.set('team-a', 1_000);
  alarms.set('team-a', 2_000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(rung).toEqual([
    ['team-a', 1_001],
    ['team-a', 2_001],
  ]);
  alarms.stop();
});

it('waits for a moment that is further away than a timer can hold', async () => {
  const MONTH_MS = 31 * 24 * 3_600_000;
  let rung = 0;
  const alarms = new Alarms(
    () => Date.now(),
    () => {
      rung += 1;
    },
  );
  const set = vi.spyOn(globalThis, 'setTimeout');
  alarms.set('team-a', MONTH_MS);
  // Node fires a longer one after a millisecond, and then again and again.
  expect(Math.max(...set.mock.calls.map(([, ms]) => ms ?? 0))).toBeLessThan(2 ** 31);
  await vi.advanceTimersByTimeAsync(MONTH_MS);
  expect(rung).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(rung).toBe(1);
  alarms.stop();
});
