import {
  AppsV1Api,
  CoreV1Api,
  type CoreV1Event,
  KubeConfig,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaUsageId } from '../../domain/kernel/target.ts';
import { commandSignals, status } from '../../workflows/quota-usage/messages.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import { headroom as runHeadroom } from '../starter/run-program.ts';
import { CLUSTER, type HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { startUsagePlane } from './planes.ts';

const QUOTA = 'compute';

/** Kubernetes' own controller counts, Headroom watches it, and says after two seconds what is wrong. */
let headroom: HeadroomPlane;
let core: CoreV1Api;
let apps: AppsV1Api;
beforeAll(async () => {
  headroom = await startUsagePlane({
    hasOriginal: true,
    env: { HEADROOM_USAGE_MODE: 'audit', HEADROOM_USAGE_AUDIT_AFTER: '2s' },
  });
  await Promise.all([headroom.startWorker(), headroom.startStarter()]);
  const admin = new KubeConfig();
  admin.loadFromFile(headroom.plane.adminKubeconfig);
  core = admin.makeApiClient(CoreV1Api);
  apps = admin.makeApiClient(AppsV1Api);
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

/** What nobody counts again before the resync, five minutes later. */
async function falsify(namespace: string, numbers: Readonly<Record<string, string>>): Promise<void> {
  await core.patchNamespacedResourceQuotaStatus(
    { name: QUOTA, namespace, body: { status: { used: numbers } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

async function events(namespace: string, reason: string): Promise<readonly CoreV1Event[]> {
  return (await core.listNamespacedEvent({ namespace, fieldSelector: `reason=${reason}` })).items;
}

const episode = (namespace: string) =>
  headroom.client.workflow.getHandle(quotaUsageId({ cluster: CLUSTER, namespace, quota: QUOTA }));

describe('a status that stays wrong', () => {
  it('is told on the quota, shown by --diff, and told again when it is true', async () => {
    await givenQuota('team-wrong', { pods: '5', 'requests.cpu': '2' });
    await falsify('team-wrong', { pods: '4' });
    const [told] = await eventually('it is told', async () => {
      const found = await events('team-wrong', 'UsageWrong');
      return found.length > 0 ? found : null;
    });
    expect(told).toMatchObject({ type: 'Warning', involvedObject: { kind: 'ResourceQuota', name: QUOTA } });
    expect(told?.message).toMatch(/^pods: the status says 4, counted 0, wrong for \d+ s$/);
    expect(await episode('team-wrong').query(status)).toMatchObject({ phase: 'Wrong', reason: 'UsageWrong' });

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
  });
});

describe("limits of the status that are not the spec's", () => {
  it('are told as well: admission goes by them', async () => {
    await givenQuota('team-limits', { pods: '5' });
    await core.patchNamespacedResourceQuotaStatus(
      { name: QUOTA, namespace: 'team-limits', body: { status: { hard: { pods: '50' } } } },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    const [told] = await eventually('it is told', async () => {
      const found = await events('team-limits', 'UsageWrong');
      return found.length > 0 ? found : null;
    });
    expect(told?.message).toMatch(/^the limits of the status are not those of the spec, for \d+ s$/);
  });
});

describe('a starter that has just begun', () => {
  it('does not take a wrong status for a true one, and tells it no second time', async () => {
    await givenQuota('team-restart', { pods: '5' });
    await falsify('team-restart', { pods: '3' });
    await eventually('it is told', async () => (await events('team-restart', 'UsageWrong')).length === 1);
    await headroom.processes.at(-1)?.kill();
    await headroom.processes.at(-2)?.kill();
    await Promise.all([headroom.startStarter(), headroom.startWorker()]);
    await episode('team-restart').signal(commandSignals.reconcileNow, { by: 'alice' });
    await never(
      'it is called true, or wrong once more',
      async () =>
        (await events('team-restart', 'UsageTrue')).length > 0 ||
        (await events('team-restart', 'UsageWrong')).length > 1,
      5_000,
    );
    // What began anew counts from its own beginning: until that is long enough ago, it is late.
    await eventually('it stands as wrong', async () => (await episode('team-restart').query(status)).phase === 'Wrong');
  });
});

describe('a controller that merely runs behind', () => {
  it('is not called wrong, however much it has to do, and costs no episode', async () => {
    await givenQuota('team-busy', { pods: '100', 'requests.cpu': '50', 'count/configmaps': '200' });
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
      await eventually('the pods follow', async () => (await used('team-busy'))['pods'] === String(replicas));
    };
    for (const replicas of [30, 5, 40, 0, 20]) await scale(replicas);
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
