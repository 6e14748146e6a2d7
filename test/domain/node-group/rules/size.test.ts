import { expect, it } from 'vitest';
import { nodesToAdd, nodesToRemove, wantedSize } from '../../../../domain/node-group/rules/size.ts';

it('a size stays within the bounds, and nothing wanted is the minimum', () => {
  const bounds = { minNodes: 2, maxNodes: 10 };
  expect([null, 0, 1, 5, 15].map((desired) => wantedSize(desired, bounds))).toEqual([2, 2, 2, 5, 10]);
});

it('nodes come as far as there is room, and no more than a batch', () => {
  const size = { current: 3, desired: 8 };
  expect([nodesToAdd(size, 7), nodesToAdd(size, 4), nodesToAdd(size, 7, 2), nodesToAdd(size, 7, 9)]).toEqual([
    5, 4, 2, 5,
  ]);
  expect(nodesToAdd({ current: 5, desired: 3 }, 5)).toBe(-2);
});

it('nodes go as far as the minimum allows', () => {
  expect([2, 5, 9].map((minNodes) => nodesToRemove({ current: 7, desired: 4 }, minNodes))).toEqual([3, 2, -2]);
});
