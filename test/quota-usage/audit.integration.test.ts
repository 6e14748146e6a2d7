import { AppsV1Api, CoreV1Api, type CoreV1Event, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaUsageId } from '../../domain/quota-usage/target.ts';
import { commandSignals, status } from '../../workflows/quota-usage/messages.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import { headroom as runHeadroom } from '../starter/run-program.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { startUsagePlane, untilEnforced } from './planes.ts';
import { openApi } from './side-by-side/api.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { metricsOf } from '../kernel/stack/metrics-of.ts';

const QUOTA = 'compute';

/** How late a controller may be that has to keep up: on a busy machine it takes seconds for what is nothing otherwise. */
const LATE_MS = 10_000;

/** Kubernetes' own controller counts, Headroom watches it, and says after two seconds what is wrong. */
let headroom: HeadroomPlane;
let starter: SupervisedProcess;
let worker: SupervisedProcess;
let core: CoreV1Api;
let apps: AppsV1Api;
beforeAll(async () => {
  headroom = await startUsagePlane({
    hasOriginal: true,
    env: { HEADROOM_USAGE_MODE: 'audit', 'quotaUsage.auditAfter': '2s', 'quotaUsage.resync': '0' },
    // What is falsified stays so, and is told for no other reason, however long the tests take.
    controllerManagerFlags: ['--resource-quota-sync-period=1h'],
  });
  const admin = accessOf(headroom.plane.adminKubeconfig);
  core = admin.makeApiClient(CoreV1Api);
  apps = admin.makeApiClient(AppsV1Api);
  // Nobody waits for the controllers of this plane, and two seconds may be over before the first of them counts: Headroom
  // would rightly say so. It comes when what the tests falsify is true, and nothing that they do makes it late.
  await givenQuota('team-wrong', { pods: '5', 'requests.cpu': '2' });
  await givenQuota('team-limits', { pods: '5' });
  await givenQuota('team-restart', { pods: '5' });
  [starter, worker] = await Promise.all([headroom.startStarter(), headroom.startWorker()]);
});
afterAll(async () => await headroom?.stop());

async function givenQuota(namespace: string, hard: Readonly<Record<string, string>>): Promise<void> {
  await core.createNamespace({ body: { metadata: { name: namespace } } });
  await core.createNamespacedResourceQuota({ namespace, body: { metadata: { name: QUOTA }, spec: { hard } } });
  const [first = ''] = Object.keys(hard);
  await eventually('Kubernetes counts it', async () => (await used(namespace))[first] !== undefined);
}

async function used(namespace: string): Promise<Readonly<Record<string, string>>> {
  return (await core.readNamespacedResourceQuota({ name: QUOTA, namespace })).status?.used ?? {};
}

/**
 * Until Kubernetes says so. Its own count goes by caches of objects that may be behind that of quotas, and is right again with
 * the next.
 */
async function untilUsed(namespace: string, resource: string, amount: string): Promise<void> {
  let countedAt = Date.now();
  await eventually(`${namespace} uses ${amount} ${resource}`, async () => {
    if ((await used(namespace))[resource] === amount) return true;
    if (Date.now() - countedAt > 2_000) {
      await countAnew(namespace);
      countedAt = Date.now();
    }
    return false;
  });
}

/** Has Kubernetes count once more, which it does when something is deleted that the quota counts. */
async function countAnew(namespace: string): Promise<void> {
  const body = { metadata: { generateName: 'counted-' } };
  const { metadata } = await core.createNamespacedConfigMap({ namespace, body });
  await core.deleteNamespacedConfigMap({ namespace, name: metadata?.name ?? '' });
}

/** What nobody counts again: Kubernetes' own controller does not look at statuses. */
async function falsify(namespace: string, numbers: Readonly<Record<string, string>>): Promise<void> {
  await core.patchNamespacedResourceQuotaStatus(
    { name: QUOTA, namespace, body: { status: { used: numbers } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

async function events(namespace: string, reason: string): Promise<readonly CoreV1Event[]> {
  return (await core.listNamespacedEvent({ namespace, fieldSelector: `reason=${reason}` })).items;
}

/** How many numbers of a namespace's quota the starter calls wrong; null where it says nothing of it. */
async function wrongResources(namespace: string): Promise<number | null> {
  const line = new RegExp(`^headroom_usage_wrong_resources\\{namespace="${namespace}".*\\} (\\d+)$`, 'm');
  const [, count] = line.exec(await metricsOf(starter)) ?? [];
  return count === undefined ? null : Number(count);
}

const episode = (namespace: string) =>
  headroom.client.workflow.getHandle(quotaUsageId({ cluster: CLUSTER, namespace, quota: QUOTA }));

describe('a status that stays wrong', () => {
  it('has an Event on the quota, is shown by --diff, and has another Event when it is true', async () => {
    await falsify('team-wrong', { pods: '4' });
    const [event] = await eventually('the Event is there', async () => {
      const found = await events('team-wrong', 'UsageWrong');
      return found.length > 0 ? found : null;
    });
    expect(event).toMatchObject({ type: 'Warning', involvedObject: { kind: 'ResourceQuota', name: QUOTA } });
    expect(event?.message).toMatch(
      /^Pods: the status says 4 pods, but Headroom counted 0 pods\. It has been wrong for \d+ s\.$/,
    );
    expect(await episode('team-wrong').query(status)).toMatchObject({ phase: 'Wrong', reason: 'UsageWrong' });
    expect(await wrongResources('team-wrong')).toBe(1);

    const env = { KUBECONFIG: headroom.plane.adminKubeconfig, CLUSTER_NAME: CLUSTER };
    const cli = await runHeadroom(['usage', 'team-wrong', '--diff'], env);
    expect(cli.code).toBe(1);
    expect(cli.stdout).toMatch(/pods\s.*4.*0/);
    // Headroom has written nothing to the status itself.
    expect(await used('team-wrong')).toMatchObject({ pods: '4' });

    await falsify('team-wrong', { pods: '0' });
    await eventually('it is true', async () => (await events('team-wrong', 'UsageTrue')).length === 1);
    await eventually('it ends', async () => (await episode('team-wrong').describe()).status.name === 'COMPLETED');
    expect(await events('team-wrong', 'UsageWrong')).toHaveLength(1);
    expect(await wrongResources('team-wrong')).toBeNull();
  });
});

describe("limits of the status that are not the spec's", () => {
  it('have Events as well, because admission uses them', async () => {
    await core.patchNamespacedResourceQuotaStatus(
      { name: QUOTA, namespace: 'team-limits', body: { status: { hard: { pods: '50' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    const [event] = await eventually('the Event is there', async () => {
      const found = await events('team-limits', 'UsageWrong');
      return found.length > 0 ? found : null;
    });
    expect(event?.message).toMatch(/^The limits of the status have differed from those of the spec for \d+ s\.$/);
  });
});

describe('a starter that has just begun', () => {
  it('does not take a wrong status for a true one, and tells it no second time', async () => {
    await falsify('team-restart', { pods: '3' });
    await eventually('the Event is there', async () => (await events('team-restart', 'UsageWrong')).length === 1);
    await Promise.all([starter.kill(), worker.kill()]);
    [starter, worker] = await Promise.all([headroom.startStarter(), headroom.startWorker()]);
    await forgetWorker('team-restart');
    await episode('team-restart').signal(commandSignals.reconcileNow, { by: 'alice' });
    // What began anew counts from its own beginning, and finds it wrong when that is long enough ago.
    await eventually('the new starter finds it wrong, and the episode has looked', isFoundAgain);
    await never(
      'it is called true, or wrong once more',
      async () =>
        (await events('team-restart', 'UsageTrue')).length > 0 ||
        (await events('team-restart', 'UsageWrong')).length > 1,
      3_000,
    );
    expect(await episode('team-restart').query(status)).toMatchObject({ phase: 'Wrong' });
  });

  /** The killed worker's: the server would offer it the episode's next task for ten seconds before another one may have it. */
  async function forgetWorker(namespace: string): Promise<void> {
    const { workflowId } = episode(namespace);
    const { client, temporal } = headroom;
    await client.workflowService.resetStickyTaskQueue({ namespace: temporal.namespace, execution: { workflowId } });
  }

  /** Whether the episode got a second reconcile request because it stays wrong, and has counted since then. */
  async function isFoundAgain(): Promise<boolean> {
    const { events: history } = await episode('team-restart').fetchHistory();
    const requests = (history ?? []).filter(({ workflowExecutionSignaledEventAttributes: signal }) =>
      Buffer.from(signal?.input?.payloads?.[0]?.data ?? []).includes('the status stays wrong'),
    );
    const [, again] = requests;
    const observations = (history ?? []).filter(
      ({ activityTaskScheduledEventAttributes: activity }) => activity?.activityType?.name === 'observeUsage',
    );
    const observed = observations.find(({ eventId }) => again !== undefined && Number(eventId) > Number(again.eventId));
    return (history ?? []).some(
      ({ activityTaskCompletedEventAttributes: done }) =>
        observed !== undefined && String(done?.scheduledEventId) === String(observed.eventId),
    );
  }
});

describe('a controller that merely runs behind', () => {
  it('is not called wrong, however much it has to do, and costs no episode', async () => {
    await starter.kill();
    await givenQuota('team-busy', { pods: '100', 'requests.cpu': '50', 'count/configmaps': '200' });
    const api = openApi(headroom.plane.adminKubeconfig);
    const large = { name: 'web', image: 'web', resources: { requests: { cpu: '51' } } };
    // What admission lets in uncharged, Kubernetes' own controller does not count before something is deleted.
    await untilEnforced(api, '/api/v1/namespaces/team-busy/pods', {
      metadata: { name: 'large' },
      spec: { containers: [large] },
    });
    api.close();
    // The ConfigMap that every namespace gets comes about when the quota does. Kubernetes would never count one that its cache did
    // not have yet, or that was let in uncharged, and Headroom would rightly say so.
    await untilUsed('team-busy', 'count/configmaps', '1');
    starter = await headroom.startStarter({ 'quotaUsage.auditAfter': `${LATE_MS / 1_000}s` });
    await apps.createNamespacedDeployment({
      namespace: 'team-busy',
      body: {
        metadata: { name: 'web' },
        spec: {
          replicas: 0,
          selector: { matchLabels: { app: 'web' } },
          template: {
            metadata: { labels: { app: 'web' } },
            spec: { containers: [{ name: 'web', image: 'web', resources: { requests: { cpu: '100m' } } }] },
          },
        },
      },
    });
    const scale = async (replicas: number): Promise<void> => {
      await apps.patchNamespacedDeploymentScale(
        { name: 'web', namespace: 'team-busy', body: { spec: { replicas } } },
        setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
      );
      await untilUsed('team-busy', 'pods', String(replicas));
    };
    // For longer than it may be late: a status that is untrue again and again is not untrue since the first time.
    const began = Date.now();
    while (Date.now() - began < 1.5 * LATE_MS) for (const replicas of [30, 5, 40, 0, 20]) await scale(replicas);
    await never('it is told', async () => (await events('team-busy', 'UsageWrong')).length > 0, 3_000);
    await expect(episode('team-busy').describe()).rejects.toThrow(/not found/i);
  });
});

describe('the audit', () => {
  it('writes nothing to any status', async () => {
    const writes = (await headroom.plane.auditEvents()).filter(
      ({ objectRef, user }) => objectRef?.subresource === 'status' && user.username.startsWith('headroom-'),
    );
    expect(writes).toEqual([]);
  });
});
