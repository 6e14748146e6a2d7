/** How many requests to GitHub an episode takes, from the refusal to the end of its branch, with checks of ten seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

const COLD = 4;
const WARM = 2;
/** From the open pull request to the deleted branch: two looks, the merge between two more, and the branch. */
const UNTIL_MERGED = 6;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 10_000 },
    env: {
      HEADROOM_MODE: 'propose',
      ENABLE_AUTO_MERGE: 'true',
      'timings.demandSettle': '500ms',
      'timings.syncPoll': '200ms',
    },
  });
});
afterAll(async () => await stack?.stop());

interface Requests {
  readonly toOpen: number;
  readonly toEnd: number;
}

/** The requests until the pull request is open, and from there until its branch is gone. */
async function requestsOf(quota: WatchedQuota): Promise<Requests> {
  const before = stack.forge.requests;
  await quota.deploy('web', 8, { cpu: '10m' });
  // Of the log of the forge: a status that lasts only until the next look may be missed.
  await eventually('its pull request is open', () => quota.pullRequests()[0], EPISODE_MS);
  const opened = stack.forge.writes.findLast(({ branch }) => branch?.startsWith(quota.branchPrefix));
  const openedAt = Date.parse(opened?.at ?? '');
  const toOpen = stack.forge.requestTimes.slice(before).filter((at) => at <= openedAt).length;
  await quota.reaches('CoolingDown', 'CoolingDown');
  const toEnd = stack.forge.requests - before - toOpen;
  // This asks the forge itself.
  expect(await quota.branches()).toEqual([]);
  return { toOpen, toEnd };
}

it('an episode takes eight requests where the repository is known, and a few more where nothing is', {
  timeout: 4 * SEVERAL_PHASES.timeout,
}, async () => {
  const quotas: WatchedQuota[] = [];
  for (const namespace of ['cold', 'warm', 'warm-again', 'warm-at-last']) {
    quotas.push(await givenQuota(stack, { namespace, hard: { pods: '10' } }));
  }
  const [first, ...others] = quotas;
  if (first === undefined) throw new Error('no quota');
  const cold = await requestsOf(first);
  // On a machine under load a look more may be due, or what was read a moment ago too old: the fewest count.
  const warm: Requests[] = [];
  for (const quota of others) {
    warm.push(await requestsOf(quota));
    if (warm.some(isFewest)) break;
  }
  // Compared whole, so that a failure shows the counts.
  expect(warm.some(isFewest) ? [] : warm).toEqual([]);
  expect(cold.toOpen).toBeGreaterThan(WARM);
  expect(cold.toOpen).toBeLessThanOrEqual(COLD + 2);
});

function isFewest({ toOpen, toEnd }: Requests): boolean {
  return toOpen <= WARM && toEnd <= UNTIL_MERGED;
}
