import { expect, it } from 'vitest';
import { specProblems } from '../../../domain/memcached/api/validation.ts';

it.each(['4096Mi', '4Gi', '4194304Ki', '4.0Gi', '4294967296', '1e3'])(
  'a memory limit of %s that is too small is quoted as it is written',
  (memory) => {
    expect(specProblems({ resources: { limits: { memory } }, memcached: { maxMemoryMB: 4096 } })).toEqual([
      `spec.resources.limits.memory: Invalid value: "${memory}": memory limit must be at least 4128Mi (maxMemoryMB=4096Mi + 32Mi overhead)`,
    ]);
  },
);
