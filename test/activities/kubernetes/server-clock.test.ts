import { expect, it } from 'vitest';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';

const SERVER = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;

/** A clock that is wrong by so much, and answers that take 100 ms. */
function clockOf(aheadMs: number) {
  let server = SERVER;
  let ahead = aheadMs;
  const clock = new ServerClock(() => server + ahead);
  return {
    clock,
    /** How far it is from the server's time, in milliseconds. */
    wrongBy: () => clock.now() - server,
    set: (by: number) => void (ahead = by),
    ask: async (takes = 100, date: string | undefined = new Date(server).toUTCString(), meanwhile?: () => void) =>
      await clock.timed(
        async () => {
          server += takes;
          meanwhile?.();
          return await Promise.resolve(date);
        },
        (said) => said,
      ),
  };
}

it.each([25 * MINUTE, -25 * MINUTE, 3_000])('a clock that is wrong by %i ms goes by the server', async (ahead) => {
  const { ask, wrongBy } = clockOf(ahead);
  await ask();
  expect(Math.abs(wrongBy())).toBeLessThan(1_000);
});

it('a clock that is right stays as it is, whatever part of a second it is', async () => {
  const { ask, wrongBy } = clockOf(400);
  await ask();
  expect(wrongBy()).toBe(400);
});

it('goes on by its own once it is set right', async () => {
  const { ask, set, wrongBy } = clockOf(25 * MINUTE);
  await ask();
  set(0);
  await ask();
  expect(wrongBy()).toBe(0);
});

it('believes no answer that says no time', async () => {
  const { ask, wrongBy } = clockOf(25 * MINUTE);
  await ask(100, '');
  expect(wrongBy()).toBe(25 * MINUTE);
});

it('believes an answer that took long as far as it can be believed', async () => {
  const { ask, wrongBy } = clockOf(25 * MINUTE);
  await ask(20_000);
  expect(Math.abs(wrongBy())).toBeLessThan(11_000);
  const { ask: askRight, wrongBy: wrongByRight } = clockOf(400);
  await askRight(20_000);
  expect(wrongByRight()).toBe(400);
});

it('believes no answer during which it was set', async () => {
  const { ask, set, wrongBy } = clockOf(0);
  await ask(100, undefined, () => set(25 * MINUTE));
  expect(wrongBy()).toBe(25 * MINUTE);
  await ask();
  expect(Math.abs(wrongBy())).toBeLessThan(1_000);
});
