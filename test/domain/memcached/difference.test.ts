import { describe, expect, it } from 'vitest';
import { hasAll } from '../../../domain/memcached/children/difference.ts';

describe('an object as it was applied', () => {
  it.each<[string, unknown, unknown, boolean]>([
    ['more than was applied', { a: 1, b: 2 }, { a: 1 }, true],
    ['less', { b: 2 }, { a: 1 }, false],
    ['another container', { c: [{ name: 'x' }, { name: 'a', image: 'i' }] }, { c: [{ name: 'a', image: 'i' }] }, true],
    ['a container that changed', { c: [{ name: 'a', image: 'j' }] }, { c: [{ name: 'a', image: 'i' }] }, false],
    ['an argument more', { args: ['-m', '64', '-v'] }, { args: ['-m', '64'] }, false],
    [
      'another item of the same name',
      {
        c: [
          { name: 'a', path: '/a' },
          { name: 'a', path: '/b' },
        ],
      },
      { c: [{ name: 'a', path: '/a' }] },
      true,
    ],
    ['only others of the same name', { c: [{ name: 'a', path: '/b' }] }, { c: [{ name: 'a', path: '/a' }] }, false],
    ['an empty text that is left out', { seLinuxOptions: {} }, { seLinuxOptions: { level: '' } }, true],
    ['a text in place of an empty one', { level: 's0' }, { level: '' }, false],
    ['no empty annotation that somebody deleted', { annotations: {} }, { annotations: { a: '' } }, false],
    ['an amount in another spelling', { cpu: '1' }, { cpu: '1000m' }, true],
    ['an empty object that is left out', {}, { emptyDir: {} }, true],
    ['an empty list that is left out', {}, { add: [] }, true],
  ])('may have %s: %j has all of %j: %s', (_, live, wanted, expected) => {
    expect(hasAll(live, wanted)).toBe(expected);
  });
});
