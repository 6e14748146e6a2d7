import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GroupResource } from '../../../domain/kernel/group-resource.ts';
import { CacheChecks } from '../../../starter/quota-usage/cache-checks.ts';

const PODS = { group: '', resource: 'pods' };
const SECRETS = { group: '', resource: 'secrets' };
const SERVICES = { group: '', resource: 'services' };
const WIDGETS = { group: 'example.com', resource: 'widgets' };
/** How long a list takes. */
const LIST_MS = 20;
/** How long one takes that is not answered. */
const TIMEOUT_MS = 30_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Stored {
  version: string;
  pods: readonly string[];
}

const object = (name: string) => ({ metadata: { name, uid: `uid-${name}`, resourceVersion: '1' } });

/** Checks of caches of pods, by what is stored and what the cache has, as a test says; and what was asked and told. */
function checking({
  stored = { version: '9', pods: [] },
  cached = { ...stored },
  watched = ['pods'],
}: {
  stored?: Stored;
  cached?: Stored;
  watched?: readonly string[];
}) {
  const asked: string[] = [];
  const checked: string[] = [];
  let inFlight = 0;
  const most = { inFlight: 0 };
  /** Names of resources that nobody answers for. */
  const hanging = new Set<string>();
  const informerOf = () => ({ resourceVersion: () => cached.version, list: () => cached.pods.map(object) });
  const informers = new Map(watched.map((resource) => [resource, informerOf()]));
  const checks = new CacheChecks({
    get: async (path, { accept, query }) => {
      asked.push(`${path} ${query?.['limit']}`);
      expect(accept).toContain('PartialObjectMetadataList');
      inFlight += 1;
      most.inFlight = Math.max(most.inFlight, inFlight);
      const body = { items: stored.pods.map(object), metadata: { resourceVersion: stored.version } };
      const isHanging = hanging.has(path.split('/').at(-1) ?? '');
      await new Promise((resolve) => setTimeout(resolve, isHanging ? TIMEOUT_MS : LIST_MS));
      inFlight -= 1;
      if (isHanging) throw new Error('nobody answers');
      return { kind: 'answer', body, etag: undefined };
    },
    cacheOf: ({ resource }) => {
      if (resource === 'widgets') return 'unserved';
      const informer = informers.get(resource);
      if (informer === undefined) return 'unwatched';
      return { resource: { group: '', resource, version: 'v1' }, namespaced: true, informer };
    },
    onChecked: (namespace) => checked.push(namespace),
    log: pino({ level: 'silent' }),
  });
  const asOf = (namespace = 'team-a') => checks.currentAsOf(PODS, namespace);
  const check = (namespace: string, resources: readonly GroupResource[], from = performance.now()) =>
    checks.check(namespace, { resources, from });
  return { checks, check, asked, checked, informers, stored, cached, most, hanging, asOf };
}

const listed = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(LIST_MS));

describe('a cache is current in a namespace', () => {
  it('up to ten times the duration of a list before it, once it has come to it, and then in all namespaces', async () => {
    const { check, checked, asked, asOf } = checking({
      stored: { version: '9', pods: ['a'] },
      cached: { version: '9', pods: [] },
    });
    expect(asOf()).toBe(Number.NEGATIVE_INFINITY);
    const upTo = performance.now() - 10 * LIST_MS;
    expect(check('team-a', [PODS])).toBeNull();
    await listed();
    expect({ checked, asked }).toEqual({ checked: ['team-a'], asked: ['/api/v1/namespaces/team-a/pods 500'] });
    expect([asOf(), asOf('team-b')]).toEqual([upTo, upTo]);
  });

  it('as of a list of which it has all, although its watch has told nothing since; in others once it has come so far', async () => {
    const cached = { version: '5', pods: ['a'] };
    const { check, asOf } = checking({ stored: { version: '9', pods: ['a'] }, cached });
    const upTo = performance.now() - 10 * LIST_MS;
    check('team-a', [PODS]);
    await listed();
    expect([asOf(), asOf('team-b')]).toEqual([upTo, Number.NEGATIVE_INFINITY]);
    cached.version = '10';
    expect(asOf('team-b')).toBe(upTo);
  });

  it.each([
    ['lacks an object', ['a', 'b'], ['a']],
    ['has one that is gone', ['a'], ['a', 'b']],
    ['has another one in its place', ['a', 'b'], ['a', 'c']],
  ])('not while it %s and its watch is behind; the next list comes later and later', async (_, there, here) => {
    const stored = { version: '9', pods: there };
    const { check, checked, asked, asOf } = checking({ stored, cached: { version: '5', pods: here } });
    const rests: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      expect(check('team-a', [PODS])).toBeNull();
      await listed();
      const until = check('team-a', [PODS]) ?? 0;
      rests.push(until - performance.now());
      await vi.advanceTimersByTimeAsync(until - performance.now());
    }
    expect(rests).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);
    expect([asOf(), checked.length, asked.length]).toEqual([Number.NEGATIVE_INFINITY, 7, 7]);
  });

  it('by a list that knows better than what its watch tells of before, however many namespaces are checked meanwhile', async () => {
    const cached = { version: '5', pods: ['a'] };
    const { checks, check } = checking({ stored: { version: '9', pods: ['a'] }, cached });
    expect(checks.isOutdated(PODS, 'team-a', '1')).toBe(false);
    check('team-a', [PODS]);
    await listed();
    const outdated = () => ['8', '9', '10'].map((version) => checks.isOutdated(PODS, 'team-a', version));
    expect(outdated()).toEqual([true, true, false]);
    expect([checks.isOutdated(PODS, 'team-b', '8'), checks.isOutdated(SERVICES, 'team-a', '8')]).toEqual([
      false,
      false,
    ]);
    const checkOthers = async (): Promise<void> => {
      await vi.advanceTimersByTimeAsync(6_000);
      for (let index = 0; index < 300; index += 1) check(`other-${index}`, [PODS]);
      await vi.advanceTimersByTimeAsync(300 * LIST_MS);
    };
    await checkOthers();
    expect(outdated()).toEqual([true, true, false]);
    // Nothing that is older can come any more.
    cached.version = '9';
    await checkOthers();
    expect(outdated()).toEqual([false, false, false]);
  });

  it('by no list of a resource that is not watched any more, which is forgotten', async () => {
    const cached = { version: '5', pods: ['a'] };
    const { checks, check, informers } = checking({ stored: { version: '9', pods: ['a'] }, cached });
    check('team-a', [PODS]);
    await listed();
    expect(checks.isOutdated(PODS, 'team-a', '8')).toBe(true);
    informers.delete('pods');
    await vi.advanceTimersByTimeAsync(6_000);
    for (let index = 0; index < 300; index += 1) check(`other-${index}`, [PODS]);
    await listed();
    expect(checks.isOutdated(PODS, 'team-a', '8')).toBe(false);
  });

  it('not while the list fails, which ends the check; the next one comes within seconds, however long that took', async () => {
    const names = ['pods', 'services', 'secrets', 'configmaps'];
    const { check, checked, asked, hanging, asOf } = checking({ watched: names });
    for (const name of names) hanging.add(name);
    const resources = names.map((resource) => ({ group: '', resource }));
    const rests: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      expect(check('team-a', resources)).toBeNull();
      await vi.advanceTimersByTimeAsync(TIMEOUT_MS);
      const until = check('team-a', resources) ?? 0;
      rests.push(until - performance.now());
      await vi.advanceTimersByTimeAsync(until - performance.now());
    }
    expect(rests).toEqual([250, 500, 1_000, 2_000, 4_000, 5_000]);
    expect([checked.length, asked.length, asOf()]).toEqual([6, 6, Number.NEGATIVE_INFINITY]);
    hanging.clear();
    check('team-a', resources);
    await vi.advanceTimersByTimeAsync(names.length * LIST_MS);
    expect(asOf()).toBeGreaterThan(0);
  });

  it('although the lists of other resources fail: what failed is asked last, in any namespace', async () => {
    const { check, asked, hanging, asOf } = checking({ watched: ['pods', 'services', 'secrets'] });
    hanging.add('services').add('secrets');
    const checkAll = async (namespace: string): Promise<void> => {
      check(namespace, [SERVICES, SECRETS, PODS]);
      await vi.advanceTimersByTimeAsync(TIMEOUT_MS + 2 * LIST_MS);
    };
    await checkAll('team-a');
    await checkAll('team-b');
    await checkAll('team-c');
    expect(asOf('team-c')).toBeGreaterThan(0);
    expect(asked.map((path) => path.replace('/api/v1/namespaces/', '').replace(' 500', ''))).toEqual([
      'team-a/services',
      'team-b/secrets',
      'team-c/pods',
      'team-c/services',
    ]);
  });

  it('without a list where the cluster does not serve the resource, and not where it is not watched yet', async () => {
    const { checks, check, checked, asked } = checking({});
    expect(checks.currentAsOf(WIDGETS, 'team-a')).toBe(Number.POSITIVE_INFINITY);
    expect(checks.currentAsOf(SERVICES, 'team-a')).toBe(Number.NEGATIVE_INFINITY);
    expect(check('team-a', [SERVICES])).toBeNull();
    await listed();
    expect({ checked, asked }).toEqual({ checked: ['team-a'], asked: [] });
    expect(check('team-a', [SERVICES])).toBeGreaterThan(performance.now());
  });
});

describe('the lists', () => {
  it('are one of a namespace at a time, a few of all, and take a tenth of the time of each', async () => {
    const { check, checked, asked, most } = checking({});
    const namespaces = Array.from({ length: 10 }, (_, index) => `team-${index}`);
    for (const namespace of [...namespaces, ...namespaces]) expect(check(namespace, [PODS])).toBeNull();
    await vi.advanceTimersByTimeAsync(20 * LIST_MS);
    expect([asked.length, checked.length, most.inFlight]).toEqual([10, 10, 4]);
    const last = namespaces.at(-1) ?? '';
    check(last, [PODS]);
    await listed();
    expect((check(last, [PODS]) ?? 0) - performance.now()).toBe(10 * LIST_MS);
  });

  it('are of nothing that another namespace has shown meanwhile, however many ask at once', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `kind-${index}`);
    const { check, checked, asked } = checking({ watched: names });
    const resources = names.map((resource) => ({ group: '', resource }));
    const from = performance.now() - 10 * LIST_MS;
    for (let index = 0; index < 1_000; index += 1) check(`team-${index}`, resources, from);
    await vi.advanceTimersByTimeAsync(names.length * LIST_MS);
    expect([checked.length, asked.length]).toEqual([1_000, 4 * names.length]);
  });

  it('come again where what is known is of an earlier moment, as the later of two who ask wants', async () => {
    // What is behind in its version is known of one namespace only.
    const { check, asked } = checking({ cached: { version: '5', pods: [] } });
    check('team-a', [PODS]);
    await listed();
    await vi.advanceTimersByTimeAsync(10 * LIST_MS);
    const proven = performance.now() - 21 * LIST_MS;
    check('team-a', [PODS], proven);
    await listed();
    expect(asked).toHaveLength(1);
    for (const team of ['team-b', 'team-c', 'team-d', 'team-e']) check(team, [PODS], Number.POSITIVE_INFINITY);
    check('team-a', [PODS], proven + 1);
    check('team-a', [PODS], proven);
    await listed();
    await listed();
    expect(asked).toHaveLength(6);
  });
});
