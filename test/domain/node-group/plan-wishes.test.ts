import { describe, expect, it } from 'vitest';
import {
  areEqualWishes,
  boundNodes,
  goneNodes,
  joinedWishes,
  NO_WISHES,
  parseWishes,
  type Wishes,
  wishesOf,
  withBound,
  withoutNodes,
  withoutWishes,
  withWishes,
} from '../../../domain/node-group/plan-wishes.ts';
import { NOW } from './builders.ts';

const POOL = { group: 'pool', uid: 'uid-pool' };
const asked: Wishes = { ...NO_WISHES, requested: [{ node: 'a', by: 'alice' }] };
const failed = { node: 'b', uid: 'uid-b', detail: 'the budget web-pdb refused', until: NOW + 10 };
const rejected = { key: 'uid-c Underutilized', by: 'bob', until: NOW + 20 };

describe('what is written down of a group', () => {
  it('is read again as it was written, beside that of others', () => {
    const other = { group: 'other', uid: 'uid-other', ...asked };
    const own = { ...POOL, ...NO_WISHES, failed: [failed], rejected: [rejected] };
    const text = withWishes(JSON.stringify([other]), own, NOW);
    expect(parseWishes(text ?? '')).toEqual([other, own]);
  });

  it('is written once, and again only where something else is known', () => {
    const text = withWishes(undefined, { ...POOL, ...asked }, NOW) ?? '';
    expect(withWishes(text, { ...POOL, ...asked }, NOW)).toBeNull();
    expect(withWishes(undefined, { ...POOL, ...NO_WISHES }, NOW)).toBeNull();
    expect(withWishes(text, { ...POOL, ...NO_WISHES }, NOW)).toBe('[]');
  });

  it('goes with the group that it was said of', () => {
    const text = withWishes(undefined, { ...POOL, ...asked }, NOW) ?? '';
    expect(withWishes(text, { group: 'pool', uid: 'uid-again', ...NO_WISHES }, NOW)).toBe('[]');
  });

  it('goes when the group is gone, and that of another one under its name stays', () => {
    const text = withWishes(undefined, { ...POOL, ...asked }, NOW) ?? '';
    expect(withoutWishes(text, POOL)).toBe('[]');
    expect(withoutWishes(text, { ...POOL, uid: 'uid-before' })).toBeNull();
  });

  it('keeps no node for longer than a day', () => {
    const forEver = { ...POOL, ...NO_WISHES, rejected: [{ ...rejected, until: NOW + 1e12 }] };
    const [own] = parseWishes(withWishes(undefined, forEver, NOW) ?? '');
    expect(own?.rejected).toEqual([{ ...rejected, until: NOW + 86_400_000 }]);
  });

  it('is as nothing where nobody can read it', () => {
    const broken = ['', 'x', '{}', '[1]', '[{"group":"pool"}]', JSON.stringify([{ ...POOL, ...asked, failed: [{}] }])];
    for (const text of broken) expect(parseWishes(text)).toEqual([]);
  });

  it('has room: of many rests the longest twenty', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({
      ...rejected,
      key: `${index} Empty`,
      until: NOW + index,
    }));
    const kept = wishesOf({ ...NO_WISHES, rejected: many }, NOW).rejected;
    expect(kept).toHaveLength(20);
    expect(kept[0]?.until).toBe(NOW + 999);
  });
});

it('what was said of nodes that are not there any more is left out, and all else stays', () => {
  const wishes: Wishes = { ...asked, failed: [failed], rejected: [rejected] };
  const all = [
    { name: 'a', uid: 'uid-a' },
    { name: 'b', uid: 'uid-b' },
    { name: 'c', uid: 'uid-c' },
  ];
  const left = (...names: readonly string[]) =>
    withoutNodes(
      wishes,
      goneNodes(
        wishes,
        all.filter(({ name }) => names.includes(name)),
      ),
    );
  expect(left('a', 'b', 'c')).toEqual(wishes);
  expect(left('a')).toEqual(asked);
  expect(left('b')).toEqual({ ...NO_WISHES, failed: [failed] });
  expect(left('c')).toEqual({ ...NO_WISHES, rejected: [rejected] });
  // Another node has its name.
  const again = goneNodes(wishes, [{ name: 'b', uid: 'uid-again' }]);
  expect(withoutNodes(wishes, again)).toEqual(NO_WISHES);
});

it('who was asked for by name is one node, and not another one that gets the name', () => {
  const there = [{ name: 'a', uid: 'uid-a' }];
  const bound = withBound(asked, boundNodes(asked, there));
  expect(bound.requested).toEqual([{ node: 'a', uid: 'uid-a', by: 'alice' }]);
  expect(areEqualWishes(asked, bound, NOW)).toBe(false);
  expect(parseWishes(withWishes(undefined, { ...POOL, ...bound }, NOW) ?? '')).toMatchObject([bound]);
  const again = [{ name: 'a', uid: 'uid-again' }];
  expect(withBound(bound, boundNodes(bound, again))).toEqual(bound);
  const gone = goneNodes(bound, again);
  expect(withoutNodes(bound, gone).requested).toEqual([]);
  // Asked for again meanwhile: that is the node of now.
  expect(withoutNodes(asked, gone)).toEqual(asked);
});

it('a rest whose time is over makes no difference', () => {
  expect(areEqualWishes({ ...asked, failed: [failed] }, asked, NOW)).toBe(false);
  expect(areEqualWishes({ ...asked, failed: [failed] }, asked, failed.until)).toBe(true);
});

it('of two that speak of the same node the first counts', () => {
  const second: Wishes = { requested: [{ node: 'a', by: 'carol' }], failed: [failed], rejected: [rejected] };
  expect(joinedWishes(asked, second)).toEqual({ ...second, requested: asked.requested });
});
