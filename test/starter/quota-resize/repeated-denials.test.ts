import { expect, it } from 'vitest';
import { RepeatedDenials } from '../../../starter/quota-resize/repeated-denials.ts';

function denials(isDecided: () => boolean = () => false) {
  let now = 0;
  const repeats = new RepeatedDenials(() => now);
  return (at: number, denial: string, quota = 'team-a/compute') => {
    now = at;
    return repeats.waitOf(quota, denial, { isDecided: isDecided() });
  };
}

it('what was said within ten seconds is worth a request when they are over, and another denial at once', () => {
  const waits = denials();
  expect(waits(0, 'web').afterMs).toBe(0);
  expect(waits(5, 'web').afterMs).toBe(9_995);
  expect(waits(5, 'api').afterMs).toBe(0);
  expect(waits(5, 'web', 'team-a/objects').afterMs).toBe(0);
  expect(waits(9_999, 'web').afterMs).toBe(1);
  expect(waits(10_000, 'web').afterMs).toBe(0);
  expect(waits(10_001, 'web').afterMs).toBe(9_999);
  expect(waits(10_001, 'api').afterMs).toBe(4);
});

it('what was said is worth a request a minute later while the quota has a decision, and is asked about every ten seconds', () => {
  let isDecided = false;
  const waits = denials(() => isDecided);
  expect(waits(0, 'web').afterMs).toBe(0);
  isDecided = true;
  expect(waits(5, 'web').afterMs).toBe(10_000);
  expect(waits(20_000, 'web').afterMs).toBe(10_000);
  expect(waits(52_000, 'web').afterMs).toBe(8_000);
  expect(waits(52_000, 'api').afterMs).toBe(0);
  isDecided = false;
  expect(waits(53_000, 'web').afterMs).toBe(0);
});

it('the first denial of a quota is one after ten seconds without any', () => {
  const waits = denials();
  expect(waits(0, 'web')).toEqual({ afterMs: 0, isFirst: true });
  expect(waits(5, 'api')).toEqual({ afterMs: 0, isFirst: false });
  expect(waits(5, 'web', 'team-a/objects')).toEqual({ afterMs: 0, isFirst: true });
  expect(waits(10_005, 'jobs')).toEqual({ afterMs: 0, isFirst: true });
});
