import { describe, expect, it } from 'vitest';
import { ownProblems } from '../../../domain/memcached/api/own-rules.ts';

describe('a size of items that memcached does not start with', () => {
  // As memcached 1.6.18 itself answers with -m and -I.
  it.each<[number, string, boolean]>([
    [64, '1m', true],
    [64, '512k', true],
    [64, '1536k', true],
    [64, '32m', true],
    [16, '8m', true],
    [4096, '1024m', true],
    [64, '33m', false],
    [16, '9m', false],
    [64, '600k', false],
    [64, '100k', false],
    [64, '0m', false],
    [4096, '1025m', false],
  ])('with -m %i, -I %s is taken: %s', (maxMemoryMB, maxItemSize, isTaken) => {
    expect(ownProblems({ memcached: { maxMemoryMB, maxItemSize } })).toHaveLength(isTaken ? 0 : 1);
  });

  it('is refused with what would be right, unless other arguments say what it depends on', () => {
    expect(ownProblems({ memcached: { maxMemoryMB: 64, maxItemSize: '600k' } })).toEqual([
      'spec.memcached.maxItemSize: Invalid value: "600k": memcached takes a multiple of 512k, and at most half of maxMemoryMB (64): 32m',
    ]);
    for (const extraArgs of [
      ['-o', 'slab_chunk_max=1024'],
      ['-I', '1m'],
    ]) {
      expect(ownProblems({ memcached: { maxItemSize: '600k', extraArgs } })).toEqual([]);
    }
    expect(ownProblems({ memcached: { maxItemSize: '40m', extraArgs: ['-m', '80'] } })).toEqual([]);
    expect(ownProblems({ memcached: { extraArgs: ['-m', 'plenty'] } })).toEqual([
      'spec.memcached.extraArgs: Invalid value: "-m plenty": memcached keeps items of 512k in at least twice as much: -m of 1 or more',
    ]);
  });

  it('is left alone in a stored object, until it or what it depends on changes', () => {
    const old = { memcached: { maxMemoryMB: 64, maxItemSize: '600k' } };
    expect(ownProblems({ ...old, replicas: 3 }, old)).toEqual([]);
    expect(ownProblems({ memcached: { maxMemoryMB: 128, maxItemSize: '600k' } }, old)).toHaveLength(1);
    expect(ownProblems({ memcached: { ...old.memcached, extraArgs: ['-v'] } }, old)).toEqual([]);
    expect(ownProblems({ memcached: { ...old.memcached, extraArgs: ['-m', '32'] } }, old)).toHaveLength(1);
  });

  it('depends on threads, TLS and the release too, where arguments do', () => {
    const extraArgs = ['-o', 'hashpower=12', '-o', 'ssl_verify_mode=2'];
    const old = { image: 'example.com/memcached:own', memcached: { threads: 2, extraArgs } };
    const now = { ...old, memcached: { threads: 64, extraArgs } };
    expect(ownProblems(now, old).join()).toContain('hashpower=12');
  });
});

describe('a gentle scale-down', () => {
  const autoscaling = { enabled: true, maxReplicas: 5 };
  it.each(['1s', '5m', '30m', '1m30s'])('takes %s', (scaleDownOnePodEvery) => {
    expect(ownProblems({ autoscaling: { ...autoscaling, scaleDownOnePodEvery } })).toEqual([]);
  });

  it.each(['31m', '500ms', '1500ms', '0s'])('does not take %s', (scaleDownOnePodEvery) => {
    expect(ownProblems({ autoscaling: { ...autoscaling, scaleDownOnePodEvery } })).toEqual([
      `spec.autoscaling.scaleDownOnePodEvery: Invalid value: "${scaleDownOnePodEvery}": an autoscaler takes whole seconds, from 1s to 30m`,
    ]);
  });

  it('is refused beside policies that say how fast', () => {
    const policies = [{ type: 'Percent', value: 10, periodSeconds: 60 }];
    const both = { ...autoscaling, scaleDownOnePodEvery: '5m', behavior: { scaleDown: { policies } } };
    expect(ownProblems({ autoscaling: both })).toEqual([expect.stringContaining('leave one of them out')]);
  });
});

describe('a storage on disk', () => {
  const stored = (memcached: object, ...options: readonly string[]) =>
    ownProblems({ memcached: { maxMemoryMB: 1024, ...memcached, extraArgs: ['-o', options.join()] } });
  const FILE = 'ext_path=/data/file:4G';

  // As memcached 1.6 itself answers (real-arguments.integration.test.ts).
  it('takes items of its buffer at most, and the message has a buffer that takes them', () => {
    const through = 'memcached writes items to ext_path through a buffer of ext_wbuf_size';
    expect(stored({ maxItemSize: '5m' }, FILE)).toEqual([
      `spec.memcached.maxItemSize: Invalid value: "5m": ${through} (4 MB): at most 4m, or with -o ext_wbuf_size=8`,
    ]);
    expect(stored({ maxItemSize: '5m' }, FILE, 'ext_wbuf_size=8')).toEqual([]);
    expect(stored({ maxItemSize: '5m' }, 'ext_wbuf_size=2')).toEqual([]);
    expect(stored({ maxItemSize: '128m' }, FILE)).toEqual([
      `spec.memcached.maxItemSize: Invalid value: "128m": ${through} (4 MB): at most 4m`,
    ]);
    const extraArgs = ['-I', '8m', '-o', FILE];
    expect(ownProblems({ memcached: { maxMemoryMB: 1024, extraArgs } })).toEqual([
      `spec.memcached.extraArgs: Invalid value: "-I 8m": ${through} (4 MB): at most 4m, or with -o ext_wbuf_size=8`,
    ]);
  });

  it.each<[string, string, string]>([
    ['ext_wbuf_size=1', 'ext_wbuf_size=1', 'a multiple of 2 (MB) of which ext_page_size (64) is one: 2'],
    ['ext_wbuf_size=6', 'ext_wbuf_size=6', 'a multiple of 2 (MB) of which ext_page_size (64) is one: 8'],
    ['ext_wbuf_size=128', 'ext_wbuf_size=128', 'a multiple of 2 (MB) of which ext_page_size (64) is one: 64'],
    ['ext_wbuf_size=06', 'ext_wbuf_size=06', 'a multiple of 2 (MB) of which ext_page_size (64) is one: 8'],
    ['ext_page_size=3', 'ext_page_size=3', 'a multiple of 2 (MB)'],
    ['ext_page_size=6', 'ext_page_size=6', 'a multiple of ext_wbuf_size (4)'],
  ])('has buffers and pages that fit together: not %s', (option, shown, right) => {
    expect(stored({}, option, FILE)).toEqual([
      `spec.memcached.extraArgs: Invalid value: "-o ${shown}": memcached does not serve clients with it; it takes ${right}`,
    ]);
  });

  it('is judged again when the size of items changes', () => {
    const extraArgs = ['-o', FILE];
    const old = { memcached: { maxMemoryMB: 1024, maxItemSize: '5m', extraArgs } };
    expect(ownProblems({ ...old, replicas: 2 }, old)).toEqual([]);
    expect(ownProblems({ memcached: { ...old.memcached, maxItemSize: '6m' } }, old)).toHaveLength(1);
  });
});
