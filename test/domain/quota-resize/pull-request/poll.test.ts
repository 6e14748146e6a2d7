import { describe, expect, it } from 'vitest';
import { pullRequestPoll } from '../../../../domain/quota-resize/pull-request/poll.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const timings = { checksPollMin: 15_000, checksPollMax: 5 * MINUTE, checksPollRamp: 10 * MINUTE };
const withWebhooks = { ...timings, webhookPoll: HOUR };

/** When a pull request is looked at that nothing happens to, in milliseconds from its last change. */
function pollTimes(poll: typeof timings & { webhookPoll?: number }, until: number, computing = false): number[] {
  const at: number[] = [];
  for (let now = 0; now <= until; now += pullRequestPoll(poll, now, computing).delay) at.push(now);
  return at;
}

describe('how often a pull request is asked for', () => {
  it('is every 15 s at first, and then smoothly slower up to 5 min', () => {
    const delays = pollTimes(timings, HOUR).map((at) => pullRequestPoll(timings, at, false).delay);
    expect(delays[0]).toBe(15_000);
    expect(delays.at(-1)).toBe(5 * MINUTE);
    for (const [index, delay] of delays.entries()) {
      const before = delays[index - 1] ?? delay;
      expect(delay).toBeGreaterThanOrEqual(before);
      expect(delay / before, 'no jump').toBeLessThan(2);
    }
  });

  it('is at most 12 requests in any hour that begins after ten quiet minutes', () => {
    const all = pollTimes(timings, 5 * HOUR);
    for (const start of all.filter((at) => at >= 10 * MINUTE)) {
      const hour = all.filter((at) => at >= start && at < start + HOUR);
      expect(hour.length).toBeLessThanOrEqual(12);
      for (const at of hour) expect(pullRequestPoll(timings, at, false).readsChecks).toBe(false);
    }
  });

  it('is once an hour after the first minute where webhooks tell', () => {
    const all = pollTimes(withWebhooks, 5 * HOUR);
    expect(all.filter((at) => at < MINUTE)).toEqual([0, 15_000, 30_000, 45_000]);
    expect(all.slice(4).map((at) => (at - MINUTE) / HOUR)).toEqual([0, 1, 2, 3, 4]);
    expect(pullRequestPoll(withWebhooks, MINUTE, false).readsChecks).toBe(false);
  });

  it('is quick for a mergeability that is being computed, for five minutes only', () => {
    expect(pollTimes(timings, 5 * MINUTE - 1, true)).toHaveLength(20);
    expect(pullRequestPoll(timings, 10 * MINUTE, true).delay).toBe(5 * MINUTE);
    expect(pullRequestPoll(withWebhooks, 4 * MINUTE, true)).toEqual({
      delay: 15_000,
      readsChecks: false,
      readsState: false,
    });
    expect(pullRequestPoll(withWebhooks, 5 * MINUTE, true).delay).toBe(HOUR);
  });

  it('takes clocks that differ for no time at all', () => {
    expect(pullRequestPoll(timings, -5000, false)).toEqual({ delay: 15_000, readsChecks: true, readsState: true });
  });
});
