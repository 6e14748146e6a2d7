/** Headroom as it is without any switch: it observes, and no more; and one switch further, it proposes and people merge. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sentence } from '../../domain/kernel/sentence.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickSettings } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota } from '../kernel/stack/watched-quota.ts';
import { reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { isDenied, deniedWhileOptedOut } from './denied.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    // Neither a mode nor auto-merge: the defaults are what this is about.
    env: {
      ...quickSettings,
      'timings.holdRetry': '2s',
      // Pressure wakes an episode that rests without a cooldown after as long.
      'timings.updateInterval': '1s',
      HEADROOM_GUARDRAILS: JSON.stringify([{ name: 'without a least cooldown', leastCooldown: '0' }]),
    },
  });
});
afterAll(async () => await stack?.stop());

describe.concurrent('observer mode, the default', SEVERAL_PHASES, () => {
  it('recommends once, as an Event and a line of the log, and rests for the cooldown whatever comes', async () => {
    const quota = await givenQuota(stack, { namespace: 'observed', hard: { 'requests.cpu': '2' } });
    await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 6, { cpu: '500m' }));
    const resting = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(resting.detail).toMatch(
      /^cooling down until 20.*Z\. The quota still needs more, and Headroom acts after the cooldown \(requests\.cpu 2 → 3800m\)$/,
    );
    const message =
      'requests.cpu should be raised from 2 to 3800m. Workloads still need 1 CPU that the quota denied. Usage is 2 of 2 CPU (100 %), and the threshold is 80 %.';
    expect(await quota.events()).toEqual([`Warning: ${message}`]);
    expect(await quota.logLines('QuotaResizeRecommended')).toMatchObject([
      {
        level: 'info',
        cluster: 'test',
        mode: 'observe',
        changes: [{ resource: 'requests.cpu', from: '2', to: '3800m', used: '2', demand: '1' }],
        evidence: [expect.stringMatching(/^ReplicaSet web-\w+ still needs .* for 2 replicas that the quota denied\./)],
      },
    ]);
    const lease = await quota.lease();
    expect(lease?.holder).toBeNull();
    expect(JSON.parse(lease?.annotations['resizer.io/last-recommendation'] ?? '')).toMatchObject({
      limits: { 'requests.cpu': '3800m' },
    });

    // A changed need, in the cooldown.
    await quota.scale('web', 8);
    // What is missing is known by the ReplicaSet, and pressure wakes nobody in a cooldown: one look too early is the last.
    await eventually('the ReplicaSet is to have eight', async () => {
      const { items } = await stack.apps.listNamespacedReplicaSet({ namespace: quota.target.namespace });
      return items.some(({ spec }) => spec?.replicas === 8);
    });
    await quota.command('reconcileNow');
    // 5100m would need a person, 4 does not.
    await eventually('the greater need is seen', async () => (await quota.status()).detail.includes('2 → 4)'));
    expect(await quota.status()).toMatchObject({ phase: 'CoolingDown', until: resting.until });
    expect(await quota.events()).toHaveLength(1);

    await quota.command('skipCooldown');
    await eventually('the greater need is recommended', async () => (await quota.events()).length === 2);
    expect(await quota.logLines('QuotaResizeRecommended')).toHaveLength(2);
    expect(await quota.hard()).toEqual({ 'requests.cpu': '2' });
  });

  it('says each changed value once, also where there is no cooldown', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'no-cooldown',
      hard: { pods: '10' },
      annotations: { 'resizer.io/cooldown-minutes': '0' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const resting = await quota.reaches('CoolingDown', 'AlreadyRecommended');
    expect(resting.detail).toMatch(
      /^pods 10 → 12 is recommended already. Headroom recommends it again at 20.*Z unless the demand changes$/,
    );
    await quota.scale('web', 9);
    await eventually('the quota counts nine pods', async () => (await quota.used())['pods'] === '9');
    await reconcileCompletely(quota);
    await quota.reaches('CoolingDown', 'AlreadyRecommended');
    expect(await quota.events()).toEqual([
      'Warning: Pods should be raised from 10 to 12. Usage is 8 of 10 pods (80 %), and the threshold is 80 %.',
    ]);
    // Paused, so that it does not see the moment in which ten pods are there and none is refused yet.
    await quota.command('pause');
    await quota.scale('web', 13);
    await eventually('ten pods are there, three are refused', async () => {
      return (await quota.pods()) === 10 && (await isDenied(quota));
    });
    await quota.command('resume');
    await eventually('the greater need is recommended', async () => (await quota.events()).length > 1);
    expect(await quota.events()).toContainEqual(
      expect.stringMatching(
        /^Warning: Pods should be raised from 10 to 17\. Workloads still need 3 pods that the quota denied\./,
      ),
    );
    expect(await quota.logLines('QuotaResizeRecommended')).toHaveLength(2);
  });
});

describe('GitHub', () => {
  it('is not even asked by a Headroom that observes', () => {
    expect(stack.forge.requests).toBe(0);
    expect(stack.forge.writes).toEqual([]);
  });
});

describe.concurrent('a namespace that is switched to propose', SEVERAL_PHASES, () => {
  it('gets its pull request, which people merge: auto-merge is off globally, and no approval overrides that', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'proposed',
      hard: { pods: '10' },
      annotations: { 'resizer.io/mode': 'propose', 'resizer.io/auto-merge': 'true', 'resizer.io/max-step': '1.1' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const waiting = await quota.reaches('AwaitingMerge', 'AutoMergeOff');
    const { number } = await quota.pullRequest();
    expect(waiting.detail).toMatch(
      /^pull request \[#\d+\]\(http.*\) is ready and waits for a person to merge it: auto-merge is off globally \(--enable-auto-merge\)$/,
    );
    await quota.untilAttributes({ HeadroomPhase: 'AwaitingMerge' });
    await quota.command('approve', { by: 'alice' });
    await eventually('the approval is told', async () => (await quota.events('QuotaResizeApproved')).length > 0);
    const approved = await quota.reaches('AwaitingMerge', 'AutoMergeOff');
    expect(approved.approval).toMatchObject({ by: 'alice' });

    await stack.forge.mergePullRequest(number, 'bob');
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    expect(await quota.events('QuotaResizeMerged')).toEqual([
      `Normal: pods 10 → 12: pull request #${number} was merged by bob.`,
    ]);
    expect(quota.writes().some(({ path }) => path.endsWith('/merge'))).toBe(false);
  });

  it('and back to observe has nothing more written: its pull request is left to people', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'back',
      hard: { pods: '10' },
      annotations: { 'resizer.io/mode': 'propose' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('AwaitingMerge', 'AutoMergeOff');
    const { number } = await quota.pullRequest();
    const written = quota.writes().length;
    await quota.annotate({ 'resizer.io/mode': null });
    const left = await quota.reaches('AwaitingMerge', 'ObserverMode');
    expect(left.detail).toMatch(
      /^the mode is observe, so nothing is written to pull request \[#\d+\].*: it is left to people, waiting until they merge or close it$/,
    );
    await quota.command('reject', { by: 'alice' });
    await eventually('the rejection shows', async () => (await quota.status()).detail.includes('alice rejected it'));
    await stack.forge.closePullRequest(number, 'carol');
    await eventually('it is over', async () => (await quota.status()).decision === null);
    expect(quota.writes()).toHaveLength(written);
    expect((await quota.lease())?.holder).toBeNull();
  });
});

describe('a worker without a repository', SEVERAL_PHASES, () => {
  it('recommends, and says RepositoryNotConfigured where it should propose', async () => {
    for (const worker of stack.processes.filter(({ name }) => name === 'worker')) await worker.stop();
    const unset = { GITHUB_OWNER: '', GITHUB_REPO: '', GITHUB_TOKEN: '', GITHUB_API_URL: '' };
    await stack.startWorker(unset);
    const quota = await givenQuota(stack, {
      namespace: 'bare',
      hard: { pods: '10' },
      annotations: { 'resizer.io/mode': 'propose' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    const message =
      'no GitOps repository is configured; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN to let Headroom propose';
    const blocked = await quota.reaches('Blocked', 'RepositoryNotConfigured');
    expect(blocked.detail).toContain(`${message}. Headroom tries again at 20`);
    expect(await quota.events('RepositoryNotConfigured')).toEqual([`Warning: ${sentence(message)}`]);
    expect(await quota.events('QuotaResizeRecommended')).toHaveLength(1);
    expect(await quota.lease()).toBeNull();
  });
});
