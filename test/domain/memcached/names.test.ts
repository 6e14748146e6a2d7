import { describe, expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';

const named = (name: string) => readMemcached({ metadata: { name }, spec: { replicas: 2 } });

describe('the name of a Memcached', () => {
  it.each([['a'], ['x'.repeat(63)], ['1-cache']])('%s can be that of its Service', (name) => {
    expect(named(name)).toMatchObject({ problems: [], spec: { replicas: 2 } });
  });

  it.each([['x'.repeat(64)], ['x'.repeat(253)], ['cache.eu']])('%s cannot, so that nothing is made', (name) => {
    const message = 'its Service is called the same: at most 63 characters, and no dots';
    expect(named(name)).toMatchObject({
      problems: [`metadata.name: Invalid value: "${name}": ${message}`],
      spec: null,
    });
  });
});
