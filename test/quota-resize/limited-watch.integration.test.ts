/** The watch of a pull request that ends by itself, and the date of a sync: the workflow on a real Temporal, with activities of the test. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elapsedAtServer, notLaterThanNow } from '../../activities/kernel/attempt.ts';
import { notYet } from '../../activities/kernel/not-yet.ts';
import type { QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import type { QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { quotaChanged, status } from '../../workflows/quota-resize/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type ChangedWorkflows, changedWorkflows } from '../replay/changed-workflows.ts';
import { type FakedActivities, fakedActivities, type Handle, openPullRequest, timings } from './faked-activities.ts';

/** Minutes are seconds here. */
const READER = 'workflows/quota-resize/pull-request-reader.ts';
const LONG_WATCH = {
  file: READER,
  from: 'const LONG_WATCH_MS = 5 * MINUTE_MS;',
  to: 'const LONG_WATCH_MS = MINUTE_MS / 60;',
};
const LATE = { file: READER, from: 'const LATE_MS = MINUTE_MS;', to: 'const LATE_MS = MINUTE_MS / 60;' };
const HOLD_MS = 3_000;

let workflows: ChangedWorkflows;
let episodes: FakedActivities;

beforeAll(async () => {
  workflows = await changedWorkflows([LONG_WATCH, LATE]);
  episodes = await fakedActivities(workflows.workflowsPath);
});
afterAll(async () => {
  await episodes?.stop();
  await workflows?.remove();
});

/** How often the quota was observed by an activity of its own, and how often a watch was begun. */
interface Seen {
  looks: number;
  watches: number;
}

/** An episode whose pull request waits for its checks, for as long as `HOLD_MS`. */
async function awaitingChecks(watch: QuotaResizeActivities['awaitPullRequestChange']): Promise<{
  readonly seen: Seen;
  readonly observe: () => QuotaObservation;
  readonly activities: Partial<QuotaResizeActivities>;
}> {
  const { open, pullRequest } = await openPullRequest();
  const seen: Seen = { looks: 0, watches: 0 };
  const policy = { ...open.policy, autoMerge: { allowed: true } } as QuotaObservation['policy'];
  const observe = (): QuotaObservation => ({
    ...open,
    timings: { ...timings, needGone: HOLD_MS },
    policy,
    mergeHold: null,
  });
  const activities: Partial<QuotaResizeActivities> = {
    observeQuota: () => {
      seen.looks += 1;
      return Promise.resolve(observe());
    },
    observePullRequest: () => Promise.resolve({ ...pullRequest, checks: { total: 1, pending: ['ci'], failing: [] } }),
    awaitPullRequestChange: async (input) => {
      seen.watches += 1;
      return await watch(input);
    },
    ensureLeaseUpdated: () => Promise.resolve({}),
    ensureQuotaEvent: () => Promise.resolve('told'),
    ensureComment: () => Promise.resolve(),
  };
  return { seen, observe, activities };
}

async function eventsOf(handle: Handle): Promise<readonly string[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => Object.keys(event).filter((key) => key.endsWith('EventAttributes')));
}

describe('a watch of a pull request that ends by itself', () => {
  it('has no timer beside it, and brings what it has seen of the quota', async () => {
    let watched: (() => QuotaObservation) | null = null;
    const { seen, observe, activities } = await awaitingChecks(async ({ forMs = Number.POSITIVE_INFINITY }) => {
      const left = forMs - elapsedAtServer();
      if (left > 0) throw notYet('nothing changed', left);
      const readAfter = notLaterThanNow() ?? 0;
      return await Promise.resolve({ pullRequest: null, isSame: true, observation: (watched ?? observe)(), readAfter });
    });
    watched = observe;
    await episodes.during('ends-by-itself', activities, async (handle) => {
      // Each is asked twice, at its beginning and at its end.
      await eventually('a second watch is begun', () => seen.watches >= 3);
      expect(seen.looks).toBe(1);
      expect((await eventsOf(handle)).filter((name) => name.startsWith('timerStarted'))).toEqual([]);
    });
  });

  it('does not keep the episode from looking when it said that it would, where the forge cannot be asked', async () => {
    const { seen, activities } = await awaitingChecks(() => {
      throw ApplicationFailure.create({
        type: 'ForgeRateLimited',
        message: 'GitHub limits us',
        nextRetryDelay: 3_600_000,
      });
    });
    await episodes.during('no-answer', activities, async (handle) => {
      await eventually('it waits for the checks', async () => (await handle.query(status)).phase === 'AwaitingChecks');
      const { until } = await handle.query(status);
      await eventually('it has looked again', () => seen.looks >= 2);
      const late = Date.now() - Date.parse(String(until));
      expect(late).toBeGreaterThanOrEqual(-1_000);
      // Once more for each wait, and not in a busy loop.
      expect(seen.watches).toBeLessThanOrEqual(seen.looks);
    });
  });
});

it('a sync is dated by when it was seen, so that nothing that was denied before it counts again', async () => {
  const { open } = await openPullRequest();
  const { decision } = open.lease;
  if (decision === null || open.quota === null) throw new Error('the recording has no decision');
  const limits = Object.fromEntries(decision.changes.map(({ resource, to }) => [resource, to]));
  const merged = { ...decision, merge: { sha: 'f00', at: Date.now() - 1_000, by: 'headroom-bot', limits } };
  const { quota } = open;
  let syncedAt: number | null = null;
  let isAsked = false;
  const observe = (): QuotaObservation => ({
    ...open,
    timings,
    lease: { ...open.lease, decision: syncedAt === null ? merged : null },
    quota: syncedAt === null ? quota : { ...quota, hard: { ...quota.hard, ...limits } },
    demand: [],
  });
  const activities: Partial<QuotaResizeActivities> = {
    observeQuota: () => Promise.resolve(observe()),
    ensureSyncRecorded: async () => {
      if (!isAsked) return { observation: observe(), recordedAt: null };
      // It waited for a worker, and the cluster followed meanwhile.
      await sleep(500);
      syncedAt = Date.now();
      return { observation: observe(), recordedAt: syncedAt - 6_000 };
    },
    ensureLeaseSynced: () => Promise.resolve({}),
    ensureQuotaEvent: () => Promise.resolve('told'),
  };
  await episodes.during('late-sync', activities, async (handle) => {
    await eventually('it waits for the sync', async () => (await handle.query(status)).phase === 'AwaitingSync');
    isAsked = true;
    await handle.signal(quotaChanged, { cause: 'the quota changed', resourceVersion: '2' });
    await eventually('it cools down', async () => (await handle.query(status)).until !== null && syncedAt !== null);
    await eventually('it cools down', async () => (await handle.query(status)).phase === 'CoolingDown');
    const { until } = await handle.query(status);
    // It is shown to the second.
    expect(Date.parse(String(until)) - open.policy.cooldown).toBeGreaterThan((syncedAt ?? 0) - 1_000);
  });
});
