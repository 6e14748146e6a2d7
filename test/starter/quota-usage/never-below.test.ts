import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Random, seededRandom } from '../../chaos/random.ts';
import { seed } from '../../kernel/seed.ts';
import { SimulatedCluster, sleep } from './simulated-cluster.ts';

const HARD = { pods: 10, services: 6 };
const RESOURCES = ['pods', 'services'] as const;
/** Milliseconds of the virtual clock that one tenant lives. */
const LIFE_MS = 60_000;
const TENANTS = 20;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'clearImmediate', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** The clock goes on until something is over. */
async function played<T>(act: Promise<T>): Promise<T> {
  const over = new AbortController();
  const ended = act.finally(() => over.abort());
  // What fails is awaited below.
  ended.catch(() => {});
  while (!over.signal.aborted) await vi.advanceTimersByTimeAsync(100);
  return await ended;
}

/** Somebody who creates and deletes, and mostly more than there is room for. Returns where the status said too little. */
async function live(cluster: SimulatedCluster, random: Random): Promise<string | null> {
  const until = performance.now() + LIFE_MS;
  for (let made = 0; performance.now() < until; made += 1) {
    for (const resource of RESOURCES) {
      const names = cluster.names(resource);
      const newest = names.at(-1);
      const chance = random.next();
      // A tenth is charged, and then not made.
      const name = chance < 0.25 ? random.pick(['taken', ...names]) : `made-${made}`;
      if (chance >= 0.15) await cluster.create(resource, name);
      else if (newest !== undefined) await cluster.remove(resource, newest);
      const [used, there] = [cluster.used(resource), cluster.names(resource).length];
      if (used < there) return `${resource}: the status says ${used}, and there are ${there}`;
    }
    await sleep(150);
  }
  return null;
}

/** What tenants found whose watches are that late. */
async function found(lateMs: Readonly<Record<string, number>>, storedAfterMs: (random: Random) => number) {
  const wrong: string[] = [];
  for (let tenant = 0; tenant < TENANTS; tenant += 1) {
    const random = seededRandom(seed + tenant);
    const cluster = new SimulatedCluster({ hard: HARD, random, lateMs, storedAfterMs: () => storedAfterMs(random) });
    const said = await played(live(cluster, random));
    if (said !== null) wrong.push(`tenant ${tenant}: ${said}`);
    cluster.stop();
  }
  return wrong;
}

describe('the status of a quota says no less than what is there', () => {
  it('where an object that came and went is reported after a list has shown that it is gone', async () => {
    const cluster = new SimulatedCluster({
      hard: { pods: 1 },
      random: seededRandom(seed),
      lateMs: { pods: 3_500 },
      storedAfterMs: () => 1,
    });
    const play = async (): Promise<void> => {
      await cluster.create('pods', 'first');
      await cluster.remove('pods', 'first');
      // Its charge is confirmed by a list that is as empty as the cache.
      while (cluster.used('pods') > 0) await sleep(10);
      expect(performance.now()).toBeLessThan(3_500);
      await cluster.create('pods', 'second');
      // Now the first one comes, and goes.
      for (; performance.now() < 5_000; await sleep(10)) expect(cluster.used('pods')).toBe(1);
      await cluster.create('pods', 'third');
      expect(cluster.names('pods')).toEqual(['second']);
    };
    await played(play()).finally(() => cluster.stop());
  });

  it('where the answer to a write is lost, something is charged, and quotas are listed anew', async () => {
    const random = seededRandom(seed);
    const cluster = new SimulatedCluster({
      hard: { pods: 9 },
      random,
      lateMs: { pods: 3_500 },
      storedAfterMs: () => 1,
    });
    const play = async (): Promise<void> => {
      await cluster.create('pods', 'first');
      await cluster.create('pods', 'second');
      await sleep(10_000);
      await cluster.remove('pods', 'second');
      cluster.cutQuotas();
      while (cluster.used('pods') > 1) await sleep(1);
      await cluster.create('pods', 'third');
      cluster.listQuotasAnew();
      for (const until = performance.now() + 10_000; performance.now() < until; await sleep(10)) {
        expect(cluster.used('pods')).toBe(2);
      }
      // A list confirms what was charged only because the quotas were listed, and the status is lowered again.
      await cluster.remove('pods', 'third');
      await sleep(5_000);
      expect(cluster.used('pods')).toBe(1);
    };
    await played(play()).finally(() => cluster.stop());
  });

  it.each([
    [{}],
    [{ services: 700 }],
    [{ services: 3_500 }],
    [{ resourcequotas: 700 }],
    [{ resourcequotas: 3_500 }],
    [{ services: 3_500, resourcequotas: 700 }],
  ])('while watches are late: %j', async (lateMs) => {
    expect(await found(lateMs, (random) => 1 + 3 * random.next())).toEqual([]);
  });
});
