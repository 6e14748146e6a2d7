import { expect, it } from 'vitest';
import { backoffAfterFailure } from '../../../../domain/node-group/rules/backoff.ts';

const MINUTE = 60_000;

it('rests for 5, 10, 20 and then always 30 minutes', () => {
  const rests: number[] = [];
  let backoff: ReturnType<typeof backoffAfterFailure> | null = null;
  let now = 0;
  for (let count = 0; count < 5; count += 1) {
    backoff = backoffAfterFailure(backoff, 'it never registered', now);
    rests.push((backoff.until - now) / MINUTE);
    now = backoff.until;
  }
  expect(rests).toEqual([5, 10, 20, 30, 30]);
});

it('machines that fail together count once, and the last reason is told', () => {
  const first = backoffAfterFailure(null, 'one', 0);
  expect(backoffAfterFailure(first, 'two', MINUTE)).toEqual({ ...first, reason: 'two' });
});

it('three quiet hours after its end it begins anew', () => {
  const previous = { until: 0, failures: 4, reason: 'old' };
  expect(backoffAfterFailure(previous, 'new', 180 * MINUTE - 1).failures).toBe(5);
  expect(backoffAfterFailure(previous, 'new', 180 * MINUTE)).toEqual({
    until: 185 * MINUTE,
    failures: 1,
    reason: 'new',
  });
});
