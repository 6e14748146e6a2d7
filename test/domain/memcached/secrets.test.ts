import { expect, it } from 'vitest';
import { isSecretName, SECRET_NAME_OR_NOTHING } from '../../../domain/memcached/children/secrets.ts';

it.each<[string, boolean]>([
  ['tls', true],
  ['cache.tls-1', true],
  ['x'.repeat(253), true],
  ['x'.repeat(254), false],
  ['a, b', false],
  ['.', false],
  ['..', false],
  ['a/b', false],
  ['Users', false],
])('%s can be the name of a Secret: %s', (name, expected) => {
  expect(isSecretName(name)).toBe(expected);
  // The definition has a maximum besides.
  expect(new RegExp(SECRET_NAME_OR_NOTHING).test(name)).toBe(expected || name.length > 253);
});

it('no name at all is left to the rules of a spec', () => {
  expect(new RegExp(SECRET_NAME_OR_NOTHING).test('')).toBe(true);
});
