/** How long the history of a usual episode is, from the first signal to its end, on real servers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askedBy } from '../kernel/stack/asked.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

/** What a person reads from its beginning to its end (docs/performance.md#the-history-of-an-episode). */
const MOST_EVENTS = 79;
/** People are waited for, and answered with a comment, which is an activity. */
const MOST_REVIEWED = 120;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: quickAutoMerge,
  });
});
afterAll(async () => await stack?.stop());

/** Ends the episode as the clock would, and returns what its history has. */
async function endOf(quota: WatchedQuota) {
  await quota.reaches('CoolingDown', 'CoolingDown');
  const runId = await quota.runId();
  await quota.signal('skipCooldown', { by: 'alice' });
  await quota.ends('BelowThreshold');
  const { events } = await stack.client.workflow.getHandle(quota.workflowId, runId).fetchHistory();
  return (events ?? []).map((event) => `${String(event.eventId)} ${typeOf(event)} ${askedBy(event) ?? ''}`);
}

function typeOf(event: object): string {
  return Object.keys(event).find((key) => key.endsWith('EventAttributes')) ?? 'unknown';
}

describe.concurrent('the history of an episode', SEVERAL_PHASES, () => {
  it('has fewer than 80 events for a threshold that was reached', async () => {
    const quota = await givenQuota(stack, { namespace: 'short-threshold', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const events = await endOf(quota);
    expect(events.length > MOST_EVENTS ? events : []).toEqual([]);
  });

  it('has fewer than 80 events for workloads that were refused', async () => {
    const quota = await givenQuota(stack, { namespace: 'short-refused', hard: { 'requests.cpu': '2' } });
    await quota.deploy('web', 6, { cpu: '500m' });
    const events = await endOf(quota);
    expect(events.length > MOST_EVENTS ? events : []).toEqual([]);
  });

  it('has at most 120 events for a pull request that a person reviews', { timeout: 3 * EPISODE_MS }, async () => {
    const quota = await givenQuota(stack, {
      namespace: 'short-reviewed',
      hard: { pods: '10' },
      annotations: { 'resizer.io/approval': 'before-merge' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('AwaitingApproval', 'ApprovalRequired');
    await stack.forge.approveReview((await quota.pullRequest()).number, 'carol');
    const events = await endOf(quota);
    expect(events.length > MOST_REVIEWED ? events : []).toEqual([]);
  });
});
