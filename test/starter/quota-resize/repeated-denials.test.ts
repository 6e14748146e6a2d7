import { expect, it } from 'vitest';
import { RepeatedDenials } from '../../../starter/quota-resize/repeated-denials.ts';

it('what was said within ten seconds is worth a request when they are over, and another denial at once', () => {
  let now = 0;
  const denials = new RepeatedDenials(() => now);
  const waits = (at: number, denial: string) => {
    now = at;
    return denials.waitOf(denial);
  };
  expect(waits(0, 'web')).toBe(0);
  expect(waits(5, 'web')).toBe(9_995);
  expect(waits(5, 'api')).toBe(0);
  expect(waits(9_999, 'web')).toBe(1);
  expect(waits(10_000, 'web')).toBe(0);
  expect(waits(10_001, 'web')).toBe(9_999);
  expect(waits(10_001, 'api')).toBe(4);
});
