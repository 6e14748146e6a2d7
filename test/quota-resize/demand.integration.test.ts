/** One pull request that is enough: what was refused fits after it, and the threshold is not reached again at once. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { counted, EPISODE_MS, givenQuota, quotaManifest, WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { batchOwnerOf } from './batch-owner.ts';
import { reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { deniedWhileOptedOut } from './denied.ts';
import { podsCome, tryAgain } from './tried-again.ts';
import { openedBy } from '../kernel/forge/opening.ts';

/** How far a limit may grow in a day is not what this is about. */
const unbounded = { name: 'unbounded', growthPerDay: 'unlimited', growthPerWeek: 'unlimited' };

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: { ...quickAutoMerge, HEADROOM_GUARDRAILS: JSON.stringify([unbounded]) },
  });
});
afterAll(async () => await stack?.stop());

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
/** Bursts are what this is about; how large a step needs no approval is not. */
const annotations = { 'resizer.io/max-step': '100' };

/** The pull requests that were opened for any quota of a namespace. */
function pullRequestsOf(namespace: string): number {
  return stack.forge.writes.filter(
    (write) => openedBy(write) !== undefined && write.branch?.startsWith(`headroom/${stack.cluster}/${namespace}/`),
  ).length;
}

describe.concurrent('a burst', SEVERAL_PHASES, () => {
  it('of ten missing pods fits after one pull request, and is below the threshold then', async () => {
    const quota = await givenQuota(stack, { namespace: 'ten', hard: { 'requests.cpu': '2' }, annotations });
    await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 14, { cpu: '500m' }));
    await quota.reaches('CoolingDown', 'CoolingDown');
    await podsCome(quota, 14);
    // 7 of 9 are less than 80 %; 7 of 8750m would be exactly that.
    expect(await quota.hard()).toEqual({ 'requests.cpu': '9' });
    expect(quota.pullRequests()).toHaveLength(1);
    expect((await quota.pullRequest()).body).toMatch(
      /still needs 5 CPU \(requests\.cpu\) for 10 replicas that the quota denied\./,
    );
    await reconcileCompletely(quota);
    const { phase, detail } = await quota.status();
    expect(phase).toBe('CoolingDown');
    expect(detail).not.toContain('still needs more');
  });

  it('is raised for exactly where the policy says fill', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'fill',
      hard: { 'requests.cpu': '2' },
      annotations: { ...annotations, 'resizer.io/burst': 'fill' },
    });
    await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 14, { cpu: '500m' }));
    await quota.reaches('CoolingDown', 'CoolingDown');
    await podsCome(quota, 14);
    expect(await quota.hard()).toEqual({ 'requests.cpu': '7' });
    expect(quota.pullRequests()).toHaveLength(1);
  });

  it('raises every quota that counts its pods in one pull request, also one that has denied nothing', async () => {
    const namespace = 'both';
    const cpu = await givenQuota(stack, { namespace, hard: { 'requests.cpu': '2' }, annotations });
    const objects = new WatchedQuota(stack, namespace, 'objects');
    const file = quotaManifest({ namespace, quota: 'objects', hard: { pods: '6' } });
    await stack.forge.pushCommit({ files: { [objects.path]: file }, message: 'Add another quota' });
    await eventually('the second quota is there', async () => (await objects.hard())['pods'] === '6');
    await counted(objects);
    await deniedWhileOptedOut(cpu, 4, () => cpu.deploy('web', 10, { cpu: '500m' }));
    const batchOwner = await batchOwnerOf([cpu, objects]);
    await batchOwner.reaches('CoolingDown', 'CoolingDown');
    await podsCome(cpu, 10);
    expect(pullRequestsOf(namespace)).toBe(1);
    expect(await cpu.hard()).toEqual({ 'requests.cpu': '6300m' });
    expect(await objects.hard()).toEqual({ pods: '13' });
  });

  it('of a StatefulSet takes its claims along', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'claims',
      hard: { pods: '10', 'requests.storage': '1Gi', persistentvolumeclaims: '1' },
      annotations,
    });
    const labels = { app: 'db' };
    const body = {
      metadata: { name: 'db' },
      spec: {
        serviceName: 'db',
        replicas: 3,
        podManagementPolicy: 'Parallel',
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: { containers: [{ name: 'db', image: 'registry.example/db:1' }] },
        },
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    };
    await deniedWhileOptedOut(quota, 1, () => stack.apps.createNamespacedStatefulSet({ namespace: 'claims', body }));
    await quota.reaches('CoolingDown', 'CoolingDown');
    await podsCome(quota, 3);
    expect(await quota.hard()).toEqual({ pods: '10', 'requests.storage': '3968Mi', persistentvolumeclaims: '4' });
    expect(quota.pullRequests()).toHaveLength(1);
  });

  it('that is the surge of a rolling update says that it is needed only while that lasts', async () => {
    const namespace = 'surge';
    const quota = await givenQuota(stack, {
      namespace,
      hard: { pods: '4' },
      annotations: { ...annotations, 'resizer.io/threshold': '100' },
    });
    const labels = { app: 'web' };
    const template = (image: string) => ({
      metadata: { labels },
      spec: { containers: [{ name: 'app', image: `registry.example/${image}` }] },
    });
    await stack.apps.createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: 'web' },
        spec: {
          replicas: 3,
          selector: { matchLabels: labels },
          strategy: { rollingUpdate: { maxSurge: 3, maxUnavailable: 0 } },
          template: template('app:1'),
        },
      },
    });
    await eventually('3 pods are there', async () => (await quota.pods()) === 3);
    const updated = { spec: { template: template('app:2') } };
    await deniedWhileOptedOut(quota, 4, () =>
      stack.apps.patchNamespacedDeployment({ name: 'web', namespace, body: updated }, mergePatch),
    );
    await quota.reaches('CoolingDown', 'CoolingDown');
    await podsCome(quota, 6);
    expect((await quota.pullRequest()).body).toContain(
      'still needs 2 pods for 2 replicas that the quota denied. A rolling update needs 2 of them, only while it lasts.',
    );
  });

  it('of a rolling update to larger pods ends with all of them, after one pull request', async () => {
    const namespace = 'larger';
    const quota = await givenQuota(stack, { namespace, hard: { 'requests.cpu': '1250m' }, annotations });
    const labels = { app: 'web' };
    const template = (cpu: string) => ({
      metadata: { labels },
      spec: { containers: [{ name: 'app', image: 'registry.example/app:1', resources: { requests: { cpu } } }] },
    });
    await stack.apps.createNamespacedDeployment({
      namespace,
      body: {
        metadata: { name: 'web' },
        spec: {
          replicas: 4,
          selector: { matchLabels: labels },
          strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
          template: template('200m'),
        },
      },
    });
    await eventually('the 4 small pods run', async () => (await run(namespace, '200m')) === 4);
    await deniedWhileOptedOut(quota, 4, async () => {
      const body = { spec: { template: template('500m') } };
      await stack.apps.patchNamespacedDeployment({ name: 'web', namespace, body }, mergePatch);
      // The new ReplicaSet is there before the Deployment says that it is the newest, by which the update is known.
      await eventually('the Deployment says which ReplicaSet it updates to', async () => {
        const { metadata } = await stack.apps.readNamespacedDeployment({ name: 'web', namespace });
        return metadata?.annotations?.['deployment.kubernetes.io/revision'] === '2';
      });
    });
    await quota.reaches('CoolingDown', 'CoolingDown');
    await eventually(
      'the 4 large pods run, and no other',
      async () => {
        const large = await run(namespace, '500m');
        if (large === 0) await tryAgain(quota);
        return large === 4 && (await quota.pods()) === 4;
      },
      EPISODE_MS,
    );
    // 4 × 500m, and 200m of the last old one: 2200m are less than 80 % of it.
    expect(await quota.hard()).toEqual({ 'requests.cpu': '2800m' });
    expect(quota.pullRequests()).toHaveLength(1);
  });
});

/** Does the kubelet's part: every pod of a namespace is ready. @returns how many of them ask for this much cpu. */
async function run(namespace: string, cpu: string): Promise<number> {
  const { items } = await stack.core.listNamespacedPod({ namespace });
  const waiting = items.filter(({ status }) => status?.phase !== 'Running');
  for (const { metadata } of waiting) {
    const ready = { type: 'Ready', status: 'True' };
    await stack.core
      .patchNamespacedPodStatus(
        { name: metadata?.name ?? '', namespace, body: { status: { phase: 'Running', conditions: [ready] } } },
        mergePatch,
      )
      // Deleted in the meantime.
      .catch(() => {});
  }
  return items.filter(({ spec }) => spec?.containers[0]?.resources?.requests?.['cpu'] === cpu).length;
}
