/** memcached's fields and arguments, each with numbers around what it takes beside the others. */
import * as fc from 'fast-check';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';

type Words = readonly string[];

function numbered(options: readonly string[], min: number, max: number): fc.Arbitrary<Words> {
  return fc.tuple(fc.constantFrom(...options), fc.integer({ min, max })).map(([option, value]) => [option, `${value}`]);
}

function suboption(name: string, min: number, max: number, divisor = 1): fc.Arbitrary<Words> {
  return fc.integer({ min, max }).map((value) => ['-o', `${name}=${value / divisor}`]);
}

/** Each once: of two that are the same the last one counts, and Headroom refuses a wrong one before it all the same. */
const extraArgs = fc
  .record(
    {
      threads: numbered(['-t', '--threads'], 1, 12),
      connections: numbered(['-c', '--conn-limit'], 5, 90),
      backlog: numbered(['-b', '--listen-backlog'], 1, 2000),
      requests: numbered(['-R', '--max-reqs-per-event'], 1, 40),
      smallest: numbered(['-n', '--slab-min-size'], 1, 100),
      growth: fc.integer({ min: 101, max: 300 }).map((value) => ['-f', `${value / 100}`]),
      memory: numbered(['-m', '--memory-limit'], 8, 160),
      item: fc.constantFrom('512k', '1m', '1536k', '2m', '4m', '8m', '600k').map((size) => ['-I', size]),
      hashpower: suboption('hashpower', 11, 20),
      ratio: suboption('slab_automove_ratio', 1, 101, 100),
      window: suboption('slab_automove_window', 2, 20),
      hot: suboption('hot_lru_pct', 1, 60),
      warm: suboption('warm_lru_pct', 1, 60),
      sleep: suboption('lru_crawler_sleep', 0, 1_000_000),
      repair: suboption('tail_repair_time', 9, 100),
      idle: suboption('idle_timeout', 0, 100),
      chunk: fc.constantFrom(256, 384, 512, 1024).map((size) => ['-o', `slab_chunk_max=${size}`]),
      flags: fc.subarray(['-v', '-C', '-M', '-L', '-F', '-S', '-k'], { maxLength: 2 }),
    },
    { requiredKeys: [] },
  )
  .chain((given) => fc.subarray(Object.values(given), { maxLength: 5 }))
  .map((entries) => entries.flat());

export const anyServer: fc.Arbitrary<NonNullable<WrittenSpec['memcached']>> = fc.record(
  {
    extraArgs,
    threads: fc.integer({ min: 1, max: 12 }),
    maxConnections: fc.integer({ min: 10, max: 80 }),
    maxMemoryMB: fc.integer({ min: 16, max: 128 }),
    maxItemSize: fc.constantFrom('512k', '1m', '2m', '8m', '600k'),
    verbosity: fc.integer({ min: 0, max: 2 }),
  },
  { requiredKeys: ['extraArgs'] },
);
