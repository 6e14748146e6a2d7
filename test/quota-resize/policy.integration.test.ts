/** What annotations and pauses make of an episode, on real servers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../domain/kernel/time.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { counted, givenQuota, WatchedQuota, EPISODE_MS } from '../kernel/stack/watched-quota.ts';
import { reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: {
      ...quickAutoMerge,
    },
  });
});
afterAll(async () => await stack?.stop());

describe.concurrent('the annotations', SEVERAL_PHASES, () => {
  it('stop everything at once when a namespace opts out, and the cooldown runs when they are taken off', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'opt-out',
      hard: { pods: '10' },
      annotations: { 'resizer.io/auto-merge': 'false' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { number } = await quota.pullRequest();

    await quota.annotate({ 'resizer.io/enabled': 'false' });
    expect(await quota.ends('OptedOut')).toBe('the namespace opted out (resizer.io/enabled is "false")');
    expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
    expect((await quota.comments(number))[0]).toContain(
      'Closed by Headroom: the namespace opted out (resizer.io/enabled is "false").',
    );
    expect(await quota.branches()).toEqual([]);
    const lease = await quota.lease();
    expect(lease?.holder).toBeNull();
    expect(lease?.annotations).not.toHaveProperty('resizer.io/refusals');

    const optedOutAt = new Date();
    await quota.scale('web', 9);
    await eventually('9 pods are there', async () => (await quota.pods()) === 9);
    await quota.annotate({ 'resizer.io/enabled': null, 'resizer.io/auto-merge': null });
    // To opt out and in again is no way around the cooldown.
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toEqual([number]);
    await quota.command('skipCooldown');
    await eventually('the raise is in the cluster', async () => (await quota.hard())['pods'] === '12', EPISODE_MS);
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toHaveLength(2);
    // One run since then: the pressure while it had opted out started none.
    const runs = await eventually('it is listed', async () => (await runsSince(quota.workflowId, optedOutAt)) || null);
    expect(runs).toBe(1);
  });

  it('that are wrong are a Warning on the quota with key and value, and the next layer holds', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'wrong-value',
      hard: { pods: '10' },
      annotations: { 'resizer.io/threshold': '70', 'resizer.io/increment': '0', 'resizer.io/cooldown-minutes': '1h' },
    });
    await quota.annotateQuota({ 'resizer.io/threshold': '90x' });
    await quota.deploy('web', 7, { cpu: '10m' });

    // 70 of the namespace, 20 and 60 of the process.
    const cooling = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    const lease = await quota.lease();
    const rested = Date.parse(lease?.annotations['resizer.io/last-modified'] ?? '') + 60 * 60_000;
    expect(cooling.detail).toBe(`cooling down until ${formatInstant(rested)}`);
    const warnings = (await quota.events('PolicyInvalid')).toSorted();
    expect(warnings).toEqual([
      expect.stringMatching(/^Warning: .*resizer\.io\/cooldown-minutes.*"1h"/),
      expect.stringMatching(/^Warning: .*resizer\.io\/increment.*"0"/),
      expect.stringMatching(/^Warning: .*resizer\.io\/threshold.*"90x"/),
    ]);
  });

  it('that are wrong in many places are ten Warnings an hour', async () => {
    const wrong = ['cpu', 'memory', 'pods', 'services', 'secrets', 'configmaps'].flatMap((resource) =>
      ['threshold', 'increment'].map((setting) => [`resizer.io/${resource}-${setting}`, 'high'] as const),
    );
    const quota = await givenQuota(stack, {
      namespace: 'wrong-values',
      hard: { pods: '10' },
      annotations: Object.fromEntries(wrong),
    });
    await quota.deploy('web', 10, { cpu: '10m' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(wrong).toHaveLength(12);
    expect(await quota.events('PolicyInvalid')).toHaveLength(10);
  });

  it.each([
    { form: 'without a sign', namespace: 'percent-bare', sign: '' },
    { form: 'with a percent sign', namespace: 'percent-sign', sign: '%' },
  ])('set threshold and increment for each resource, in percent $form', async ({ namespace, sign }) => {
    const quota = await givenQuota(stack, {
      namespace,
      hard: { pods: '20', 'requests.cpu': '2', 'requests.memory': '20Gi' },
      annotations: {
        'resizer.io/threshold': `90${sign}`,
        'resizer.io/cpu-threshold': `85${sign}`,
        'resizer.io/requests.cpu-increment': `10${sign}`,
        'resizer.io/cooldown-minutes': '20',
      },
    });
    // 85 % of everything.
    await quota.deploy('web', 17, { cpu: '100m', memory: '1Gi' });
    const cooling = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '20', 'requests.cpu': '2200m', 'requests.memory': '20Gi' });
    expect(await quota.events('QuotaResizeRecommended')).toEqual([
      'Warning: requests.cpu should be raised from 2 to 2200m. Usage is 1.7 of 2 CPU (85 %), and the threshold is 85 %.',
    ]);
    expect(await quota.events('PolicyInvalid')).toEqual([]);
    const lease = await quota.lease();
    const rested = Date.parse(lease?.annotations['resizer.io/last-modified'] ?? '') + 20 * 60_000;
    expect(cooling.until).toBe(formatInstant(rested));
  });

  it('lower one namespace to observing, and taking that off proposes at once', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'observing',
      hard: { pods: '10' },
      annotations: { 'resizer.io/mode': 'observe' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.events()).toEqual([
      'Warning: Pods should be raised from 10 to 12. Usage is 8 of 10 pods (80 %), and the threshold is 80 %.',
    ]);
    expect(quota.writes()).toEqual([]);

    await quota.annotate({ 'resizer.io/mode': null });
    // A whole episode, which on a machine under load takes ten times as long as its few seconds.
    await eventually('the raise is in the cluster', async () => (await quota.hard())['pods'] === '12', EPISODE_MS);
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toHaveLength(1);
    // The recommendation was told already.
    expect(await quota.events('QuotaResizeRecommended')).toHaveLength(1);
    expect(await quota.logLines('QuotaResizeRecommended')).toMatchObject([{ mode: 'observe' }]);
  });

  it('of a quota that opts out leave the other quota of the namespace in', async () => {
    const out = await givenQuota(stack, { namespace: 'one-of-two', hard: { pods: '10' } });
    await out.annotateQuota({ 'resizer.io/enabled': 'false' });
    await stack.forge.pushCommit({
      files: {
        'managed-resources/test/one-of-two/objects.yaml':
          'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: objects\n  namespace: one-of-two\nspec:\n  hard:\n    count/pods: 10\n',
      },
    });
    const objects = new WatchedQuota(stack, 'one-of-two', 'objects');
    await counted(objects);
    await out.deploy('web', 9, { cpu: '10m' });
    await objects.reaches('CoolingDown', 'CoolingDown');
    expect(await objects.hard()).toEqual({ 'count/pods': '12' });
    await expect(out.status()).rejects.toThrow(/not found/i);
    expect(out.writes()).toEqual([]);
    expect(await out.events()).toEqual([]);
  });

  it('say nothing while an operator has paused the episode: resume acts on them', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'paused-by-alice',
      hard: { pods: '10' },
      annotations: { 'resizer.io/auto-merge': 'false' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { number } = await quota.pullRequest();
    const written = quota.writes().length;

    expect(await quota.command('pause', { by: 'alice', reason: 'release day' })).toBe(
      'paused by alice: nothing is written until resume',
    );
    const paused = await quota.reaches('Paused', 'Paused');
    expect(paused.detail).toMatch(/^paused by alice since .*Z: release day \(ConfigMap headroom-pauses, key \S+\)$/);
    await expect(quota.command('pause', { by: 'bob' })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^already paused by alice since /) },
    });
    await quota.untilAttributes({ HeadroomPhase: 'Paused' });

    await quota.annotate({ 'resizer.io/auto-merge': null });
    await quota.scale('web', 10);
    await eventually('10 pods are there', async () => (await quota.pods()) === 10);
    await reconcileCompletely(quota);
    await quota.reaches('Paused', 'Paused');
    expect(quota.writes()).toHaveLength(written);

    expect(await quota.command('resume', { by: 'bob' })).toBe('resumed by bob');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.shown(number)).toMatchObject({ merged: true });
    await expect(quota.command('resume')).rejects.toMatchObject({
      cause: { message: 'not paused, so there is nothing to resume' },
    });
  });
});

describe('the global pause', SEVERAL_PHASES, () => {
  it('stops every write at once, names who paused and why, and lets go on when it is taken away', async () => {
    const open = await givenQuota(stack, {
      namespace: 'pause-open',
      hard: { pods: '10' },
      annotations: { 'resizer.io/auto-merge': 'false' },
    });
    await open.deploy('web', 8, { cpu: '10m' });
    await open.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const fresh = await givenQuota(stack, { namespace: 'pause-fresh', hard: { pods: '10' } });

    const name = 'headroom-pause';
    await stack.core.createNamespacedConfigMap({
      namespace: SYSTEM_NAMESPACE,
      body: { metadata: { name }, data: { by: 'carol', reason: 'datacenter move' } },
    });
    const before = { forge: stack.forge.writes.length, writes: await workerWrites() };
    await open.annotate({ 'resizer.io/auto-merge': null });
    await fresh.deploy('web', 8, { cpu: '10m' });
    for (const quota of [open, fresh]) {
      const paused = await quota.reaches('Paused', 'GloballyPaused');
      expect(paused.detail).toMatch(
        /^Headroom is paused in this cluster by carol since .*: datacenter move \(ConfigMap headroom-pause\)$/,
      );
    }
    await Promise.all([open, fresh].map(reconcileCompletely));
    expect(stack.forge.writes).toHaveLength(before.forge);
    expect(await workerWrites()).toBe(before.writes);
    expect(await fresh.lease()).toBeNull();
    expect(await fresh.events()).toEqual([]);

    await stack.core.deleteNamespacedConfigMap({ name, namespace: SYSTEM_NAMESPACE });
    for (const quota of [open, fresh]) {
      await quota.reaches('CoolingDown', 'CoolingDown');
      expect(await quota.hard()).toEqual({ pods: '12' });
      expect(quota.pullRequests()).toHaveLength(1);
    }
  });
});

/** How often the worker has written to the cluster. */
async function workerWrites(): Promise<number> {
  const events = await stack.controlPlane.auditEvents();
  return events.filter(
    ({ user, verb }) => user.username === 'headroom-worker' && ['create', 'update', 'patch', 'delete'].includes(verb),
  ).length;
}

/** How many runs of an episode were begun after a moment, as far as they are listed, which is a little later. */
async function runsSince(workflowId: string, moment: Date): Promise<number> {
  let count = 0;
  for await (const run of stack.client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    if (run.startTime > moment) count += 1;
  }
  return count;
}
