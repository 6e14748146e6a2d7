import { describe, expect, it } from 'vitest';
import { ownProblems } from '../../../domain/memcached/api/own-rules.ts';

const problemsOf = (extraArgs: readonly string[], image?: string): readonly string[] =>
  ownProblems({ memcached: { extraArgs: [...extraArgs] }, ...(image === undefined ? {} : { image }) });

describe('arguments with which memcached does not serve', () => {
  it.each<[readonly string[], string, string]>([
    [['-t', '0'], '-t 0', 'a number from 1 on'],
    [['-vt0'], '-t 0', 'a number from 1 on'],
    [['--slab-growth-factor=1'], '--slab-growth-factor 1', 'a number above 1'],
    [['-p', '11311'], '-p 11311', '11211, where the probes and the Service expect memcached'],
    [['-d'], '-d', 'no daemon: the container ends when it leaves the foreground'],
    [['--daem'], '--daem', 'no daemon: the container ends when it leaves the foreground'],
    [['-x'], '-x', 'an option that memcached knows'],
    [['--mem=64'], '--mem=64', 'one of --memory-file, --memory-limit'],
    [['-o'], '-o', '-o needs a value after it'],
    [['-o', 'modern,moderne'], '-o moderne', 'a suboption that memcached knows'],
    [['-o', 'hash_algorithm=md5'], '-o hash_algorithm=md5', 'one of jenkins, murmur3, xxh3'],
    [
      ['-o', 'hot_lru_pct=50'],
      '-o hot_lru_pct=50',
      'at most 80 for hot_lru_pct (20 if absent) and warm_lru_pct (40 if absent) together',
    ],
    [
      ['-o', 'hot_lru_pct=050,warm_lru_pct=040'],
      '-o hot_lru_pct=050,warm_lru_pct=040',
      'at most 80 for hot_lru_pct (20 if absent) and warm_lru_pct (40 if absent) together',
    ],
    [['-Z'], '-Z', 'security.tls, which mounts the certificate that it needs'],
  ])('%j is refused with what would be right', (extraArgs, what, right) => {
    expect(problemsOf(extraArgs)).toEqual([
      `spec.memcached.extraArgs: Invalid value: ${JSON.stringify(what)}: memcached does not serve clients with it; it takes ${right}`,
    ]);
  });

  it('are left alone in a stored object until they change', () => {
    const old = { memcached: { extraArgs: ['-x'] } };
    expect(ownProblems({ ...old, replicas: 3 }, old)).toEqual([]);
    expect(ownProblems({ memcached: { extraArgs: ['-x', '-v'] } }, old)).toHaveLength(1);
  });

  it('are judged by the options of 1.6: those of an image of another release, or of another build, may be right', () => {
    expect(problemsOf(['-x', '-o', 'new'], 'memcached:1.6.18-alpine')).toHaveLength(2);
    expect(problemsOf(['-x', '-o', 'new'], 'memcached:1.7')).toEqual([]);
    expect(problemsOf(['-x', '-o', 'new'], 'memcached@sha256:0')).toEqual([]);
    expect(problemsOf(['-t', '0'], 'memcached:1.7')).toHaveLength(1);
    expect(problemsOf(['-o', 'proxy_config=/a'])).toEqual([]);
  });
});

it('too few connections for its own files are refused, with how many are enough', () => {
  expect(ownProblems({ memcached: { maxConnections: 25 } })).toEqual([]);
  expect(ownProblems({ memcached: { maxConnections: 24 } })).toEqual([
    'spec.memcached.maxConnections: Invalid value: 24: memcached needs files for itself out of these, with 4 threads: at least 25',
  ]);
  expect(ownProblems({ memcached: { maxConnections: 40, threads: 8 } })).toEqual([expect.stringContaining('least 43')]);
});

it('too few connections are refused as well where arguments set them, or the threads', () => {
  expect(ownProblems({ memcached: { threads: 12, extraArgs: ['-c', '62'] } })).toEqual([
    'spec.memcached.extraArgs: Invalid value: "-c 62": memcached needs files for itself out of these, with 12 threads: at least 63',
  ]);
  expect(ownProblems({ memcached: { threads: 12, extraArgs: ['-c', '63'] } })).toEqual([]);
  expect(ownProblems({ memcached: { maxConnections: 28, extraArgs: ['--threads', '6'] } })).toEqual([
    'spec.memcached.maxConnections: Invalid value: 28: memcached needs files for itself out of these, with 6 threads: at least 33',
  ]);
  expect(ownProblems({ memcached: { maxConnections: 10, threads: 8, extraArgs: ['-c', '33', '-t', '6'] } })).toEqual(
    [],
  );
});

it('root is refused as the user of memcached, unless it is told whom to become', () => {
  expect(ownProblems({ security: { podSecurityContext: { runAsUser: 0 } } })).toEqual([
    'spec.security.podSecurityContext.runAsUser: Invalid value: 0: memcached does not start as root without -u in extraArgs: 11211 is the user of its image',
  ]);
  const root = { runAsUser: 0 };
  expect(
    ownProblems({ security: { podSecurityContext: root, containerSecurityContext: { runAsUser: 1000 } } }),
  ).toEqual([]);
  expect(
    ownProblems({ memcached: { extraArgs: ['-u', 'memcache'] }, security: { containerSecurityContext: root } }),
  ).toEqual([]);
});
