import { describe, expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { SECRET_HASH } from '../../../domain/memcached/api/names.ts';
import { seenSecrets } from '../../../starter/memcached/seen-secrets.ts';

const hashed = { spec: { template: { metadata: { annotations: { [SECRET_HASH]: 'somebody' } } } } };
const withSecrets = { security: { tls: { enabled: true, certificateSecretRef: { name: 'tls' } } } };
const read = (spec: object) => readMemcached({ metadata: { name: 'cache' }, spec });

describe('the Secrets of a Memcached, as the starter knows them', () => {
  it('are as its pods have them', () => {
    expect(seenSecrets(read(withSecrets), hashed)).toEqual({
      hash: 'somebody',
      missing: [],
      lacking: [],
      unreadable: [],
    });
  });

  it('lack what the worker wrote into the status, as long as it is mounted', () => {
    const notes = [
      'no pod is made or replaced until these Secrets have what pods mount: ca.crt of tls, tls.key of old',
    ];
    const status = { notes };
    const memcached = readMemcached({ metadata: { name: 'cache' }, spec: withSecrets, status });
    expect(seenSecrets(memcached, hashed).lacking).toEqual(['ca.crt of tls']);
  });

  it('are none where it names none, whoever wrote a hash: so the worker sees it', () => {
    expect(seenSecrets(read({}), hashed).hash).toBe('');
  });
});
