/** What a worker does with what a newer release left, and what is kept where Leases are restored or Temporal is empty: docs/upgrade.md. */
import type { V1Lease } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { taskQueue } from '../../domain/kernel/target.ts';
import { borrowTemporal } from '../kernel/servers/shared-temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

const DECISION = 'resizer.io/decision';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    // Each head gets a check `ci` that waits for the test.
    forge: { checks: 'pending' },
    // Nothing begins by itself but what the test asks for.
    env: { ...quickAutoMerge, 'timings.holdRetry': '1s', 'starter.resyncInterval': '1h' },
  });
});
afterAll(async () => await stack?.stop());

/** A quota whose pull request is open and waits for its check. */
async function openQuota(namespace: string): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('AwaitingChecks', 'ChecksPending');
  return quota;
}

function leaseName({ target: { namespace, quota } }: WatchedQuota): string {
  return `state-${namespace}-${quota}`;
}

/** As a starter does it for a quota under pressure. */
async function begin(quota: WatchedQuota): Promise<void> {
  await stack.client.workflow.start('quotaResize', {
    workflowId: quota.workflowId,
    taskQueue: taskQueue(stack.cluster),
    args: [{ target: quota.target }],
  });
}

async function readLease(quota: WatchedQuota): Promise<V1Lease> {
  return await stack.coordination.readNamespacedLease({ name: leaseName(quota), namespace: SYSTEM_NAMESPACE });
}

async function writeDecision(quota: WatchedQuota, decision: string): Promise<void> {
  const body = await readLease(quota);
  Object.assign(body.metadata?.annotations ?? {}, { [DECISION]: decision });
  await stack.coordination.replaceNamespacedLease({ name: leaseName(quota), namespace: SYSTEM_NAMESPACE, body });
}

/** One pull request and one merge have done it. */
async function finishes(quota: WatchedQuota, number: number): Promise<void> {
  const { head } = await quota.pullRequest();
  await quota.check(head.sha, 'success');
  await eventually('the cluster follows', async () => (await quota.hard())['pods'] === '12', EPISODE_MS);
  expect(await quota.pullRequest()).toMatchObject({ number, merged: true, commits: 1 });
  expect(quota.writes().filter(({ path }) => path.endsWith('/merge'))).toHaveLength(1);
}

describe.concurrent('an older worker', SEVERAL_PHASES, () => {
  it('leaves a decision alone that it cannot read, says whose it may be, and goes on when it can', async () => {
    const quota = await openQuota('newer-lease');
    const { number } = await quota.pullRequest();
    const written = quota.writes().length;
    await quota.terminate();
    const readable = (await readLease(quota)).metadata?.annotations?.[DECISION] ?? '';
    const newer = JSON.stringify({ v: 3, decision: { id: 'of a form that this release does not know' } });
    await writeDecision(quota, newer);
    await begin(quota);
    const { detail } = await quota.reaches('Blocked', 'LeaseHeld');
    expect(detail).toContain('cannot read');
    expect((await readLease(quota)).metadata?.annotations?.[DECISION]).toBe(newer);
    expect(quota.writes()).toHaveLength(written);
    // As it is again for the newer worker, which reads it.
    await writeDecision(quota, readable);
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await finishes(quota, number);
  });

  it('does not go on with state that a newer run carried, and from the Lease once the run is terminated', async () => {
    const quota = await openQuota('newer-state');
    const { number } = await quota.pullRequest();
    const written = quota.writes().length;
    await quota.terminate();
    const handle = await stack.client.workflow.start('quotaResize', {
      workflowId: quota.workflowId,
      taskQueue: taskQueue(stack.cluster),
      args: [{ target: quota.target, carried: { version: 3, memory: {} } }],
    });
    const failure = await eventually('its task has failed', async () => {
      const { events = [] } = await handle.fetchHistory();
      return events?.find((event) => event.workflowTaskFailedEventAttributes)?.workflowTaskFailedEventAttributes;
    });
    expect(failure.failure?.message).toBe('the carried state has version 3: run a worker of the newer release');
    // It waits for another worker, and its task is tried again.
    expect((await handle.describe()).status.name).toBe('RUNNING');
    expect(quota.writes()).toHaveLength(written);
    await quota.terminate();
    await begin(quota);
    await quota.reaches('AwaitingChecks', 'ChecksPending');
    await finishes(quota, number);
  });
});

describe('what outlives a loss', SEVERAL_PHASES, () => {
  it('of Leases is restored with them: the same decision goes on with its pull request', async () => {
    const quota = await openQuota('restored-lease');
    const { number } = await quota.pullRequest();
    await quota.terminate();
    const { metadata, ...backup } = await readLease(quota);
    await quota.deleteLease();
    const { name, namespace, labels, annotations } = metadata ?? {};
    const body = { ...backup, metadata: { name, namespace, labels, annotations } } as V1Lease;
    await stack.coordination.createNamespacedLease({ namespace: SYSTEM_NAMESPACE, body });
    await begin(quota);
    const { decision } = await quota.reaches('AwaitingChecks', 'ChecksPending');
    expect(backup.spec?.holderIdentity).toBe(`headroom/${decision?.id}`);
    await finishes(quota, number);
  });

  it('of everything in Temporal is what the Leases have: no pull request is opened twice', async () => {
    const quota = await openQuota('empty-temporal');
    const { number } = await quota.pullRequest();
    for (const running of stack.processes) await running.stop();
    const { namespace } = await borrowTemporal();
    await stack.startWorker({ TEMPORAL_NAMESPACE: namespace });
    // Its first list finds the quota under pressure.
    await stack.startStarter({ TEMPORAL_NAMESPACE: namespace });
    await finishes(quota, number);
  });
});
