import { describe, expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';

const problemsOf = (spec: object): readonly string[] =>
  readMemcached({ metadata: { name: 'cache', namespace: 'team-a', uid: 'u', generation: 1 }, spec }).problems;

describe('a Memcached as somebody wrote it', () => {
  // The pattern of the definition, which is Kubernetes', lets them through.
  it.each(['1e1001', '1e1.5', '1e-1001'])('with a memory limit of %s is read, and is a problem', (memory) => {
    expect(problemsOf({ resources: { limits: { memory } } })).toEqual([
      `spec.resources.limits.memory: Invalid value: "${memory}": a quantity, such as 96Mi`,
    ]);
  });

  it('with arguments without end has a few problems', () => {
    const many = Array.from({ length: 100_000 }, () => 'a');
    expect(problemsOf({ memcached: { extraArgs: many } })).toEqual([expect.stringContaining('128')]);
    const wrong = Array.from({ length: 100 }, () => '-q');
    expect(problemsOf({ memcached: { extraArgs: wrong } })).toHaveLength(21);
    expect(problemsOf({ memcached: { extraArgs: wrong } }).at(-1)).toBe('and 80 more');
    expect(problemsOf({ memcached: { extraArgs: Array.from({ length: 100 }, () => 5) } })).toHaveLength(21);
  });
});
