/**
 * Mode audit: the resizer goes by what the starter counted, and says where the status says something else. Kubernetes' own
 * quota controller is off, so that a status that is made false stays so.
 */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sentence } from '../../domain/kernel/sentence.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import { quotaChanged } from '../../workflows/quota-resize/messages.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickSettings } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { createQuota, EPISODE_MS, quotaManifest, WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { restsIn } from './resting.ts';

const HARD = { pods: '20', 'requests.cpu': '2' };

let running: Stack | undefined;
const stack = (): Stack => {
  if (running === undefined) throw new Error('the stack did not start');
  return running;
};

beforeAll(async () => {
  running = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    env: {
      ...quickSettings,
      HEADROOM_MODE: 'propose',
      HEADROOM_USAGE_MODE: 'audit',
      // There are no checks: a pull request waits for them for as long as these tests look at it.
      HEADROOM_SETTLE: '10m',
      // A starter that starves does not answer in time either, and is to be asked again within a test.
      'timings.holdRetry': '2s',
    },
    controlPlane: { controllerManagerFlags: ['--controllers=*,-resourcequota-controller'] },
    // What the tests set stays as they set it.
    sync: false,
  });
});
afterAll(async () => await running?.stop());

/** Writes the status as nobody counted it. */
async function say({ target }: WatchedQuota, used: Readonly<Record<string, string>>): Promise<void> {
  await stack().core.patchNamespacedResourceQuotaStatus(
    { namespace: target.namespace, name: target.quota, body: { status: { hard: HARD, used } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

/** A namespace with a quota that admission charges, without Kubernetes' controller to count it first. */
async function given(namespace: string, annotations: Readonly<Record<string, string>> = {}): Promise<WatchedQuota> {
  const quota = new WatchedQuota(stack(), namespace);
  await stack().core.createNamespace({ body: { metadata: { name: namespace, annotations: { ...annotations } } } });
  await stack().forge.pushCommit({ files: { [quota.path]: quotaManifest({ hard: HARD }) } });
  await createQuota(stack(), { namespace, hard: HARD });
  await say(quota, { pods: '0', 'requests.cpu': '0' });
  return quota;
}

async function deployed(quota: WatchedQuota, name: string, replicas: number, cpu: string): Promise<void> {
  const before = await quota.pods();
  await quota.deploy(name, replicas, { cpu });
  await eventually(`the pods of ${name} are there`, async () => (await quota.pods()) === before + replicas);
}

/** Whether a pod with such a request would be let in. */
async function isAdmitted({ target: { namespace } }: WatchedQuota, cpu: string): Promise<boolean> {
  const containers = [{ name: 'app', image: 'registry.example/app:1', resources: { requests: { cpu } } }];
  const body = { metadata: { name: 'tried' }, spec: { containers } };
  await stack().core.createNamespacedPod({ namespace, dryRun: 'All', body });
  return true;
}

/** Starts an episode, or has the one look again that a starter has begun before it had counted anything. */
async function start({ workflowId, target }: WatchedQuota) {
  const request = { cause: 'a test', resourceVersion: '' };
  return await stack().client.workflow.signalWithStart<typeof quotaResize, [typeof request]>('quotaResize', {
    workflowId,
    taskQueue: taskQueue(target.cluster),
    args: [{ target }],
    signal: quotaChanged,
    signalArgs: [request],
  });
}

describe.concurrent('a status that says too little', SEVERAL_PHASES, () => {
  const SAID =
    "requests.cpu: the quota's status says 0.2 CPU, but the objects add up to 1.8 CPU. Headroom goes by its own count.";

  it('does not hide the pressure, and is said in the recommendation, on the pull request and in the details', async () => {
    const quota = await given('too-little', { 'resizer.io/enabled': 'false' });
    await deployed(quota, 'web', 9, '200m');
    await say(quota, { pods: '1', 'requests.cpu': '200m' });
    await quota.annotate({ 'resizer.io/enabled': null });

    const { title, body } = await quota.pullRequest();
    expect(title).toContain('requests.cpu 2 → 2400m');
    expect(body).toContain(`- ${SAID}`);
    expect(await quota.events('QuotaResizeRecommended')).toEqual([expect.stringContaining(SAID)]);
    expect(await quota.logLines('QuotaResizeRecommended')).toMatchObject([{ notes: [SAID] }]);
    await quota.reaches('AwaitingChecks');
    expect(await quota.details()).toContain(SAID);
    expect(await quota.details()).toContain("pods: the quota's status says 1 pod, but the objects add up to 9 pods.");
    expect(await quota.events('UsageContradicted')).toEqual([]);
  });

  it('does not keep a count that reaches the threshold from starting an episode', async () => {
    const quota = await given('by-count');
    await deployed(quota, 'web', 5, '200m');
    await say(quota, { pods: '0', 'requests.cpu': '0' });
    // Admission reads quotas from a cache of its own, and goes by the count before while that is behind.
    await eventually('admission goes by what the status says', async () => await isAdmitted(quota, '1500m'));
    // Admission adds to what the status says: 800m of 2, and 1800m are charged.
    await deployed(quota, 'more', 4, '200m');

    const { title } = await quota.pullRequest();
    expect(title).toContain('requests.cpu 2 → 2400m');
    expect((await quota.used())['requests.cpu']).toBe('800m');
  });
});

describe.concurrent('a status that says too much', SEVERAL_PHASES, () => {
  it('raises nothing, and the episode says both numbers', async () => {
    const quota = await given('too-much');
    await deployed(quota, 'web', 1, '200m');
    await say(quota, { pods: '9', 'requests.cpu': '1800m' });
    // What the starter has not seen of the status yet contradicts nothing: such an episode is right, and has less to say.
    const { reason, detail } = await eventually(
      'the starter knows what the status says',
      async () => {
        const ended = await (await start(quota)).result();
        return (ended.reason !== 'BelowThreshold' || ended.detail.includes("the quota's status says")) && ended;
      },
      EPISODE_MS,
    );
    expect(reason).toBe('BelowThreshold');
    expect(detail).toContain(
      "requests.cpu: the quota's status says 1.8 CPU, but the objects add up to 0.2 CPU. Headroom goes by its own count.",
    );
    expect(quota.pullRequests()).toEqual([]);
  });
});

// Two counts that nobody answers for 20 s each, a starter that starts, and an episode: up to as long each as its wait says.
describe('while no starter can be asked', { timeout: 400_000 }, () => {
  it('nothing is raised by the status alone, and it goes on once one is back', async () => {
    const quota = await given('nobody-counts', { 'resizer.io/enabled': 'false' });
    await deployed(quota, 'web', 9, '200m');
    const starters = stack().processes.filter(({ name }) => name === 'starter');
    await Promise.all(starters.map(async (starter) => await starter.stop()));
    await quota.annotate({ 'resizer.io/enabled': null });
    await start(quota);

    const { detail } = await restsIn(quota, 'Blocked', 'UsageNotCounted', 90_000);
    expect(detail).toContain('no starter answered on headroom-cache/test within 20 s');
    expect(await quota.events('UsageNotCounted')).toEqual([`Warning: ${sentence(detail)}`]);
    expect(quota.pullRequests()).toEqual([]);

    await stack().startStarter();
    await quota.command('reconcileNow', { by: 'alice' });
    expect((await quota.pullRequest()).title).toContain('requests.cpu 2 → 2400m');
  });
});
