import { expect, it } from 'vitest';
import { Refusals } from '../../../../starter/quota-resize/webhooks/refusals.ts';

it('are too many for the rest of a second in which there were many', () => {
  const refusals = new Refusals(3);
  for (const now of [10_000, 10_400]) refusals.add(now);
  expect(refusals.areTooMany(10_400)).toBe(false);
  refusals.add(10_500);
  expect([10_500, 10_999, 11_000].map((now) => refusals.areTooMany(now))).toEqual([true, true, false]);
  refusals.add(11_200);
  expect(refusals.areTooMany(11_200)).toBe(false);
});
