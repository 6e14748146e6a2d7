/**
 * What a step has seen of the quota, when something happens between its reading and its answer: the workflow on a real Temporal, with
 * activities that answer when the test says so.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notYet } from '../../activities/kernel/not-yet.ts';
import type { PullRequestChange, QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import type { QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import { quotaChanged, quotaPressureSeen, status } from '../../workflows/quota-resize/messages.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import {
  answers,
  type FakedActivities,
  fakedActivities,
  type Handle,
  openPullRequest,
  timings,
} from './faked-activities.ts';

let episodes: FakedActivities;

beforeAll(async () => {
  episodes = await fakedActivities();
});
afterAll(async () => await episodes?.stop());

/** An episode whose pull request waits for its checks, and what it has done; once frozen it must not merge. */
async function awaitingChecks(
  watch: (observe: () => QuotaObservation) => Promise<Pick<PullRequestChange, 'observation' | 'readAfter'>>,
) {
  const { open, pullRequest } = await openPullRequest();
  const story = { frozen: false, merges: 0, observations: 0, changed: Promise.withResolvers<void>() };
  const observe = (): QuotaObservation => {
    const until = Date.now() + 3_600_000;
    const { frozen } = story;
    return {
      ...open,
      timings,
      policy: {
        ...open.policy,
        autoMerge: { allowed: true },
        freezeUntil: frozen ? until : null,
      } as QuotaObservation['policy'],
      mergeHold: frozen ? { reason: 'Frozen', until, detail: 'merging is frozen' } : null,
    };
  };
  const activities: Partial<QuotaResizeActivities> = {
    observeQuota: () => {
      story.observations += 1;
      return Promise.resolve(observe());
    },
    observePullRequest: () => Promise.resolve({ ...pullRequest, checks: { total: 1, pending: ['ci'], failing: [] } }),
    awaitPullRequestChange: async () => {
      // Only the first watch finds a change.
      if (story.merges > 0 || story.frozen) throw notYet('nothing changed', 60_000);
      await story.changed.promise;
      return { pullRequest, ...(await watch(observe)) };
    },
    ensureMerged: () => {
      story.merges += 1;
      return Promise.resolve({ kind: 'moved' });
    },
    ensureLeaseUpdated: () => Promise.resolve({}),
    ensureQuotaEvent: () => Promise.resolve('told'),
    ensureComment: () => Promise.resolve(),
  };
  return { story, activities };
}

const waitsForChecks = async (handle: Handle) =>
  await eventually('it waits for the checks', async () => (await handle.query(status)).phase === 'AwaitingChecks');

describe('an observation that a step has brought', () => {
  it('is not taken from the watch of a pull request where the quota was observed, or changed, after it', async () => {
    const read = Promise.withResolvers<void>();
    const { story, activities } = await awaitingChecks(async (observe) => {
      const seen = { readAfter: Date.now(), observation: observe() };
      read.resolve();
      await sleep(700);
      return seen;
    });
    await episodes.during('older-watch', activities, async (handle) => {
      await waitsForChecks(handle);
      story.changed.resolve();
      await read.promise;
      story.frozen = true;
      const before = story.observations;
      await handle.signal(quotaChanged, { cause: 'the quota changed', resourceVersion: '2' });
      await eventually('it has looked after the signal and after the watch', () => story.observations >= before + 2);
      await eventually('it holds', async () => (await handle.query(status)).reason === 'Frozen');
      expect(story.merges).toBe(0);
    });
  });

  it('is not taken from the watch of a pull request whose answer came long after it was read', async () => {
    const { story, activities } = await awaitingChecks(async (observe) => {
      const seen = { readAfter: Date.now(), observation: observe() };
      story.frozen = true;
      await sleep(5_500);
      return seen;
    });
    await episodes.during('late-watch', activities, async (handle) => {
      await waitsForChecks(handle);
      story.changed.resolve();
      await eventually('it holds', async () => (await handle.query(status)).reason === 'Frozen');
      expect(story.merges).toBe(0);
    });
  });

  it('is not taken from a look-up where the pressure came after the quota was read', async () => {
    const [idle] = await answers<QuotaObservation>('observeQuota');
    const [place] = await answers<Awaited<ReturnType<QuotaResizeActivities['observeSource']>>>('observeSource');
    if (idle?.quota == null || place === undefined) throw new Error('the recording has no quota');
    const { quota } = idle;
    let used = '9';
    const readings: string[] = [];
    const read = Promise.withResolvers<void>();
    const observe = (): QuotaObservation => ({ ...idle, timings, quota: { ...quota, used: { pods: used } } });
    const activities: Partial<QuotaResizeActivities> = {
      observeQuota: async ({ afterMs }) => {
        await sleep(afterMs ?? 0);
        readings.push(used);
        return observe();
      },
      observeSource: async ({ afterMs, observes }) => {
        await sleep(afterMs ?? 0);
        if (observes !== true) return place;
        used = '2';
        const readAfter = Date.now();
        const observation = observe();
        read.resolve();
        await sleep(600);
        return { ...place, observation, readAfter };
      },
      ensureQuotaEvent: () => Promise.resolve('told'),
      ensureRecommendation: () => Promise.resolve({}),
      ensureLeaseAcquired: () => Promise.resolve({ kind: 'held', by: 'somebody' }),
    };
    await episodes.during('older-look-up', activities, async (handle) => {
      await read.promise;
      used = '10';
      await handle.signal(quotaPressureSeen, { cause: 'a threshold is reached', resourceVersion: '3' });
      await eventually('the quota is read once more', () => readings.includes('10'));
      expect((await handle.describe()).status.name).toBe('RUNNING');
    });
  });
});
