import { setTimeout as sleep } from 'node:timers/promises';
import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, it, vi } from 'vitest';
import { beginAttempt, elapsedAtServer, notLaterThanNow } from '../../../activities/kernel/attempt.ts';

/** Of the clock of Temporal's server, which is far from that of this process. */
const ASKED = 1_000_000;
const TRIED = 1_300_000;

function attempt<T>(run: () => Promise<T> | T): Promise<T> {
  const info = { attempt: 3, scheduledTimestampMs: ASKED, currentAttemptScheduledTimestampMs: TRIED };
  return new MockActivityEnvironment(info).run(async () => await run());
}

it('what has passed since an activity was asked for is told by the clock of the server', async () => {
  expect(await attempt(elapsedAtServer)).toBe(TRIED - ASKED);
  expect(elapsedAtServer()).toBe(0);
});

it('a moment that is not later than now goes by the clock of the server, and by what has passed since', async () => {
  const moment = await attempt(async () => {
    beginAttempt();
    await sleep(50);
    vi.setSystemTime(Date.now() + 3_600_000);
    beginAttempt();
    return notLaterThanNow() ?? 0;
  });
  vi.useRealTimers();
  expect(moment).toBeGreaterThanOrEqual(TRIED + 45);
  expect(moment).toBeLessThan(TRIED + 60_000);
});

it('without the beginning of an attempt it is the moment at which the server gave it away', async () => {
  expect(await attempt(notLaterThanNow)).toBe(TRIED);
  expect(notLaterThanNow()).toBeNull();
});
