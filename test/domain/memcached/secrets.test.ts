import { expect, it } from 'vitest';
import { memcachedSpec, type WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { isSecretName, lackingKeys, SECRET_NAME_OR_NOTHING } from '../../../domain/memcached/children/secrets.ts';

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

const tls = { enabled: true, certificateSecretRef: { name: 'pair' } };
const sasl = { enabled: true, credentialsSecretRef: { name: 'users' } };
const pair = { 'tls.crt': 'YQ==', 'tls.key': 'YQ==' };

it.each<[string, NonNullable<WrittenSpec['security']>, string, Readonly<Record<string, string>>, readonly string[]]>([
  ['nothing', { tls }, 'pair', pair, []],
  ['its certificate', { tls }, 'pair', { 'tls.key': 'YQ==' }, ['tls.crt']],
  ['all, being empty', { tls }, 'pair', {}, ['tls.crt', 'tls.key']],
  ['what is an empty file', { tls }, 'pair', { ...pair, 'tls.key': '' }, ['tls.key']],
  [
    'the authority, where clients show certificates',
    { tls: { ...tls, enableClientCert: true } },
    'pair',
    pair,
    ['ca.crt'],
  ],
  [
    'no authority that is there',
    { tls: { ...tls, enableClientCert: true } },
    'pair',
    { ...pair, 'ca.crt': 'YQ==' },
    [],
  ],
  [
    'an authority that is empty',
    { tls: { ...tls, enableClientCert: true } },
    'pair',
    { ...pair, 'ca.crt': '' },
    ['ca.crt'],
  ],
  ['its passwords', { sasl }, 'users', { passwords: 'YQ==' }, ['password-file']],
  ['nothing that nobody mounts', { sasl, tls: { ...tls, enabled: false } }, 'pair', {}, []],
  [
    'what is for something else',
    { tls, sasl: { ...sasl, credentialsSecretRef: { name: 'pair' } } },
    'pair',
    pair,
    ['password-file'],
  ],
])('a Secret lacks %s', (_, security, name, data, keys) => {
  expect(lackingKeys(memcachedSpec.parse({ security }), { name, data })).toEqual(
    keys.map((key) => `${key} of ${name}`),
  );
});
