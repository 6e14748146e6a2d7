import * as fc from '../../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { batchesOf, inOrder, stepsOf } from '../../../../domain/lights-out/decide/order.ts';
import { itemOf } from '../planned.ts';

const names = (items: readonly { readonly workload: { readonly name: string } }[]) =>
  items.map(({ workload }) => workload.name);
const up = { direction: 'Up', reason: 'Up' } as const;

describe('the order of a plan', () => {
  it('is by priority: down with the least first, up with the greatest first, restores before all', () => {
    const items = [
      itemOf('web', { priority: 0 }),
      itemOf('db', { priority: 100 }),
      itemOf('batch', { priority: -5 }),
      itemOf('left-web', { ...up, priority: 0 }),
      itemOf('left-db', { ...up, priority: 100 }),
    ];
    expect(names(inOrder(items))).toEqual(['left-db', 'left-web', 'batch', 'web', 'db']);
    expect(stepsOf(inOrder(items)).map(names)).toEqual([['left-db'], ['left-web'], ['batch'], ['web'], ['db']]);
  });

  it('takes the namespaces in turns', () => {
    const items = [
      itemOf('a2'),
      itemOf('a1'),
      itemOf('a3'),
      itemOf('c1', { namespace: 'team-c' }),
      itemOf('b2', { namespace: 'team-b' }),
      itemOf('b1', { namespace: 'team-b' }),
    ];
    expect(names(inOrder(items))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(stepsOf(inOrder(items))).toHaveLength(1);
  });

  it('puts what failed before last of all, in the same order', () => {
    const items = [itemOf('broken', { ...up, priority: 9 }), itemOf('fine', up), itemOf('worse'), itemOf('web')];
    const failing = ['Deployment team-a/worse', 'Deployment team-a/broken'];
    expect(names(inOrder(items, failing))).toEqual(['fine', 'web', 'broken', 'worse']);
  });

  it('holds every item once, whatever the items are', () => {
    const item = fc.record({
      name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      namespace: fc.constantFrom('x', 'y', 'z'),
      priority: fc.integer({ min: -2, max: 2 }),
      direction: fc.constantFrom('Up' as const, 'Down' as const),
    });
    fc.assert(
      fc.property(fc.array(item), fc.boolean(), (list, isFailing) => {
        const items = list.map(({ name, ...rest }) => itemOf(name, rest));
        const ordered = inOrder(items, isFailing ? ['Deployment x/a'] : []);
        expect(ordered).toHaveLength(items.length);
        expect(new Set(ordered)).toEqual(new Set(items));
        expect(stepsOf(ordered).flat()).toEqual(ordered);
        expect(inOrder(ordered, isFailing ? ['Deployment x/a'] : [])).toEqual(ordered);
      }),
    );
  });
});

describe('batches', () => {
  it('have the size, the last one what is left', () => {
    expect(batchesOf([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
    expect(batchesOf([1, 2], 10)).toEqual([[1, 2]]);
    expect(batchesOf([1, 2], null)).toEqual([[1, 2]]);
    expect(batchesOf([], 3)).toEqual([]);
    expect(batchesOf([], null)).toEqual([]);
  });
});
