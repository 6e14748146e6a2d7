import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';

const interfaces = [
  'kernel',
  'lease-gc',
  'lights-out',
  'memcached',
  'node-group',
  'node-group/drain',
  'quota-resize',
  'quota-usage',
];

async function text(path: string): Promise<string> {
  return await readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** Activities that tests of forged input call by what their attacker does with them. */
const through: Readonly<Record<string, string>> = {
  ensureMerged: 'merged',
  ensureLeaseAcquired: 'opened',
  ensurePullRequest: 'opened',
};

/** Where those of the other controllers are called with forged input. What a Memcached's is told is its name and UID, and all else is read. */
const others = [
  'test/activities/lights-out/forged/schedules.integration.test.ts',
  'test/activities/node-group/forged/node-groups.integration.test.ts',
];
const toldNothing = ['ensureMemcached'];

/** The section about what activities believe. */
async function section(): Promise<string> {
  const [, found = ''] = /## What activities believe\n([^]*?)\n## /.exec(await text('docs/security.md')) ?? [];
  return found;
}

/** The entries of the list that names a test for each. */
async function testedEntries(): Promise<
  readonly { readonly activities: readonly string[]; readonly tests: readonly string[] }[]
> {
  return [...(await section()).matchAll(/^- (`ensure[^]*?)\. Told: [^]*?\sTest:\s(.*)\.$/gm)].map(
    ([, names = '', tests = '']) => ({
      activities: [...names.matchAll(/`(ensure\w+)`/g)].map(([, name = '']) => name),
      tests: [...tests.matchAll(/`(test\/[^`]+)`/g)].map(([, test = '']) => test),
    }),
  );
}

describe('docs/security.md', () => {
  it('says of each activity that writes what it believes', async () => {
    const all = await Promise.all(interfaces.map(async (name) => await text(`activities/${name}/interface.ts`)));
    const writing = all.flatMap((source) => [...source.matchAll(/^ {2}(ensure\w+)\(/gm)].map(([, name]) => name ?? ''));
    const named = [...(await section()).matchAll(/`(ensure\w+)`/g)].map(([, name]) => name ?? '');
    expect(named.toSorted()).toEqual([...new Set(writing)].toSorted());
  });

  it('names a test for what is said of quotas, which calls each activity with forged input', async () => {
    const entries = await testedEntries();
    expect(entries.length).toBeGreaterThan(10);
    const uncalled: string[] = [];
    for (const { activities, tests } of entries) {
      const sources = await Promise.all(tests.map(async (path) => await text(path)));
      const isCalled = (name: string) => sources.some((source) => new RegExp(`\\b${name}\\(`).test(source));
      uncalled.push(...activities.filter((name) => !isCalled(name) && !isCalled(through[name] ?? name)));
      expect(tests).toSatisfy((paths: readonly string[]) => paths.every((path) => path.includes('/forged/')));
    }
    expect(uncalled).toEqual([]);
  });

  it('says of no other activity what a lie gains without a test that lies', async () => {
    const tested = (await testedEntries()).flatMap(({ activities }) => activities);
    const named = [...(await section()).matchAll(/`(ensure\w+)`/g)].map(([, name]) => name ?? '');
    const sources = (await Promise.all(others.map(text))).join('\n');
    const uncalled = named.filter((name) => !tested.includes(name) && !sources.includes(`${name}(`));
    expect(uncalled).toEqual(toldNothing);
  });
});
