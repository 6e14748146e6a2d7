import { expect, it } from 'vitest';
import { NodeBill } from './node-bill.ts';

function node(uid: string, type: string) {
  return { metadata: { uid, labels: { 'node.kubernetes.io/instance-type': type } } };
}

it('nodes cost the price of their type for as long as they were there', () => {
  const bill = new NodeBill({ large: 0.4, small: 0.1 });
  bill.see([node('a', 'large')], 0);
  bill.see([node('a', 'large'), node('b', 'small')], 1_800_000);
  bill.see([node('b', 'small')], 3_600_000);
  bill.see([], 5_400_000);
  bill.see([], 9_000_000);
  expect(bill.lifetimes).toEqual([3_600_000, 3_600_000]);
  expect(bill.perHour).toBeCloseTo(0.5);
  expect(bill.total).toBeCloseTo(0.5);
});

it('a node that is still there has cost what it did until now', () => {
  const bill = new NodeBill({ large: 0.4 });
  bill.see([node('a', 'large')], 0);
  bill.see([node('a', 'large')], 900_000);
  expect(bill.total).toBeCloseTo(0.1);
});
