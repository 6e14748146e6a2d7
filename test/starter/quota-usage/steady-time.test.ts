import { beforeEach, expect, it } from 'vitest';
import { SteadyTime } from '../../../starter/quota-usage/steady-time.ts';

const MINUTE_MS = 60_000;
const AT = Date.parse('2026-11-27T00:00:00Z');

/** A machine's clocks, of which somebody may set the one. */
const clock = { setBy: 0, running: 0 };
const wall = () => AT + clock.setBy + Math.floor(clock.running);
const steady = () => new SteadyTime(wall, () => clock.running);
beforeEach(() => {
  Object.assign(clock, { setBy: 0, running: 1_234.5 });
});

it('is the time of the day for as long as nobody sets the clock', () => {
  const time = steady();
  for (let step = 0; step < 100; step += 1) {
    clock.running += 777.7;
    expect(Math.abs(time.now() - wall())).toBeLessThanOrEqual(1);
  }
});

it('goes on as before when the clock is set forward, and believes it after ten minutes', () => {
  const time = steady();
  clock.setBy = 60 * MINUTE_MS;
  expect(wall() - time.now()).toBe(60 * MINUTE_MS);
  clock.running += 10 * MINUTE_MS - 1;
  expect(wall() - time.now()).toBe(60 * MINUTE_MS);
  clock.running += 1;
  expect(wall() - time.now()).toBe(0);
});

it('goes back with the clock at once, also to where it was', () => {
  const time = steady();
  clock.setBy = -60 * MINUTE_MS;
  expect(wall() - time.now()).toBe(0);
  clock.setBy = 0;
  expect(wall() - time.now()).toBe(60 * MINUTE_MS);
  clock.setBy = -60 * MINUTE_MS;
  clock.running += 9 * MINUTE_MS;
  expect(wall() - time.now()).toBe(0);
  // Another step has its own ten minutes.
  clock.setBy = 0;
  clock.running += 9 * MINUTE_MS;
  expect(wall() - time.now()).toBe(60 * MINUTE_MS);
});
