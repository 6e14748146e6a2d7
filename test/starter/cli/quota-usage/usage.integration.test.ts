/**
 * `headroom usage` on a real API server and its controllers. Kubernetes' own quota controller is off, so that a status is
 * what admission charged, and stays wrong once it is.
 */
import { KubernetesObjectApi, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kubernetes } from '../../../../activities/kubernetes/kubernetes.ts';
import { ensureQuotaEvent } from '../../../../activities/kernel/quota-event.ts';
import { type UsageArgument, usageArgument } from '../../../../starter/cli/quota-usage/argument.ts';
import { withCluster } from '../../../../starter/cli/cluster.ts';
import { counting, type CountingCluster } from '../../../../starter/cli/quota-usage/cluster.ts';
import { type Comparison, compareQuotas } from '../../../../starter/cli/quota-usage/compare.ts';
import { namespaceText } from '../../../../starter/cli/quota-usage/namespace-text.ts';
import { type NamespaceUsage, namespaceUsageOf, type Overview } from '../../../../starter/cli/quota-usage/report.ts';
import { loadConfig } from '../../../../starter/config.ts';
import { loadKubeConfig } from '../../../../platform/kubernetes/kubernetes-access.ts';
import { connect, namespaceOf, NOBODY, quotaOf, workloadOf } from '../../../activities/kubernetes/cluster.ts';
import { type ControlPlane, startControlPlane } from '../../../kernel/servers/control-plane.ts';
import { eventually } from '../../../kernel/stack/eventually.ts';
import { untilEnforced } from '../../../quota-usage/planes.ts';
import { openApi } from '../../../quota-usage/side-by-side/api.ts';
import { headroom, type ProgramOutcome } from '../../run-program.ts';

let plane: ControlPlane;
let admin: Kubernetes;
let objects: KubernetesObjectApi;

beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: NOBODY }],
    controllerManagerFlags: ['--controllers=*,-resourcequota-controller'],
  });
  admin = connect(plane.adminKubeconfig);
  const access = { kubeconfig: plane.adminKubeconfig, context: undefined, requestTimeoutMs: 30_000 };
  objects = loadKubeConfig(access, {}).makeApiClient(KubernetesObjectApi);
  await furnish();
});
afterAll(async () => {
  await plane?.stop();
});

/** Asks the cluster as the command does. */
async function asked<T>(
  question: (cluster: CountingCluster, argument: UsageArgument) => Promise<T>,
  argument: string,
  kubeconfig = plane.adminKubeconfig,
): Promise<T> {
  const env = { CLUSTER_NAME: 'test', KUBECONFIG: kubeconfig };
  const sources = { env, argv: [], program: 'command line' } as const;
  return await withCluster(
    { config: loadConfig(sources), sources },
    async (connected) => await question(counting(connected), usageArgument(argument)),
  );
}

/** Runs the program in a terminal of so many columns, as far as a pipe has any. */
async function usage(
  args: readonly string[],
  columns = 100,
  kubeconfig = plane.adminKubeconfig,
): Promise<ProgramOutcome> {
  return await headroom(['usage', ...args], {
    CLUSTER_NAME: 'test',
    KUBECONFIG: kubeconfig,
    COLUMNS: String(columns),
  });
}

async function create(...list: readonly object[]): Promise<void> {
  for (const object of list) await objects.create(object);
}

/** What the controller that is off would write of a namespace that uses this much; from then on admission charges. */
async function count(namespace: string, name: string, used: Readonly<Record<string, string>>): Promise<void> {
  const { spec } = await admin.core.readNamespacedResourceQuota({ namespace, name });
  const hard = spec?.hard ?? {};
  const nothing = Object.fromEntries(Object.keys(hard).map((key) => [key, '0']));
  await say(namespace, name, { hard, used: { ...nothing, ...used } });
}

async function countNothing(namespace: string, name: string): Promise<void> {
  await count(namespace, name, {});
}

/** Until admission charges what is created at this path; one with too much of what the last quota limits is refused then. */
async function charging(path: string, tooMuch: object): Promise<void> {
  const api = openApi(plane.adminKubeconfig);
  await untilEnforced(api, path, tooMuch).finally(() => api.close());
}

async function say(namespace: string, name: string, status: object): Promise<void> {
  await admin.core.patchNamespacedResourceQuotaStatus(
    { namespace, name, body: { status } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

const GOLD = 'gold.storageclass.storage.k8s.io/requests.storage';

/** team-a has workloads of every kind and a rollout that does not fit, team-b has room, team-c nothing at all. */
async function furnish(): Promise<void> {
  const claim = {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'gold', resources: { requests: { storage: '5Gi' } } },
  };
  const sized = (app: string, cpu: string, memory: string): object => ({
    metadata: { labels: { app } },
    spec: { containers: [{ name: 'app', image: 'app', resources: { requests: { cpu, memory } } }] },
  });
  await create(
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'gold' },
      provisioner: 'example.com/none',
    },
    namespaceOf('team-a'),
    workloadOf('StatefulSet', 'team-a', 'db', {
      replicas: 2,
      serviceName: 'db',
      podManagementPolicy: 'Parallel',
      template: sized('db', '250m', '1Gi'),
      volumeClaimTemplates: [claim],
    }),
    workloadOf('Deployment', 'team-a', 'web', { replicas: 1, template: sized('web', '500m', '512Mi') }),
    namespaceOf('team-b'),
    quotaOf('team-b', { pods: '10', 'requests.nvidia.com/gpu': '0' }),
    namespaceOf('team-c'),
  );
  await eventually('team-a has its own ConfigMap, which then nobody has charged', async () => {
    return (await admin.core.listNamespacedConfigMap({ namespace: 'team-a' })).items.length === 1;
  });
  // A controller whose cache is behind creates what has a name of its own once more, which is refused, but charged, and nobody
  // counts it anew here. So it is there, and its controller says that it sees it, before anything is charged.
  await eventually('the controllers of db and web see what they made', async () => {
    const db = await admin.apps.readNamespacedStatefulSet({ namespace: 'team-a', name: 'db' });
    const web = await admin.apps.readNamespacedDeployment({ namespace: 'team-a', name: 'web' });
    return db.status?.replicas === 2 && web.status?.replicas === 1;
  });
  await create(
    quotaOf('team-a', { 'requests.cpu': '4', 'requests.memory': '8Gi', pods: '20' }),
    quotaOf(
      'team-a',
      {
        services: '5',
        'services.nodeports': '3',
        [GOLD]: '30Gi',
        'count/replicasets.apps': '10',
        'count/configmaps': '40',
      },
      'objects',
    ),
    quotaOf('team-a', { pods: '2' }, 'best-effort', { scopes: ['BestEffort'] }),
  );
  await countNothing('team-a', 'best-effort');
  await count('team-a', 'compute', { 'requests.cpu': '1', 'requests.memory': '2560Mi', pods: '3' });
  await count('team-a', 'objects', { [GOLD]: '10Gi', 'count/replicasets.apps': '1' });
  const ports = [80, 81, 82, 83].map((port) => ({ name: `p${port}`, port }));
  await charging('/api/v1/namespaces/team-a/services', {
    metadata: { name: 'large' },
    spec: { type: 'NodePort', ports },
  });
  const service = {
    ports: [
      { name: 'http', port: 80 },
      { name: 'tls', port: 443 },
    ],
    type: 'NodePort',
  };
  await create(
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'team-a' }, spec: service },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'debug', namespace: 'team-a' },
      ...bare(sized('debug', '100m', '64Mi')),
    },
  );
  await admin.apps.patchNamespacedDeploymentScale(
    { namespace: 'team-a', name: 'web', body: { spec: { replicas: 10 } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
  // 4 CPUs, less 600m, are room for six pods of 500m.
  await pods('team-a', 9);
  await untilRefused('team-a');
  await admin.core.patchNamespacedPodStatus(
    {
      namespace: 'team-a',
      name: 'debug',
      body: {
        status: {
          conditions: [
            { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' },
          ],
        },
      },
    },
    setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
  );
}

function bare(template: object): object {
  return { spec: (template as { spec: object }).spec };
}

async function pods(namespace: string, count: number): Promise<void> {
  await eventually(`${namespace} has ${count} pods`, async () => {
    return (await admin.core.listNamespacedPod({ namespace })).items.length === count;
  });
}

/** Until a ReplicaSet says that it cannot create a pod, which is the last that its controller does in a turn. */
async function untilRefused(namespace: string): Promise<void> {
  await eventually(`a ReplicaSet of ${namespace} is refused a pod`, async () => {
    const { items } = await admin.apps.listNamespacedReplicaSet({ namespace });
    return items.some(({ status }) => status?.conditions?.some(({ type }) => type === 'ReplicaFailure'));
  });
}

describe('headroom usage', () => {
  it('has a row for each quota, the fullest first, as a table and as JSON', async () => {
    const { code, stdout, stderr } = await usage([], 80);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      'QUOTA               RESOURCE             USED  HARD',
      'team-a/compute      requests.cpu        3600m     4  #############--  90 %',
      'team-a/objects      services.nodeports      2     3  ##########-----  66 %',
      'team-a/best-effort  pods                    0     2  ---------------   0 %',
      'team-b/compute      pods                    ?    10  --------------- not counted',
    ]);
    const json = await usage(['--output', 'json']);
    expect({ code: json.code, stderr: json.stderr }).toEqual({ code: 0, stderr: '' });
    const seen = JSON.parse(json.stdout) as Overview;
    expect(seen).toMatchObject({ cluster: 'test', at: expect.stringMatching(/Z$/) });
    expect(seen.quotas.map(({ namespace, quota }) => `${namespace}/${quota}`)).toEqual([
      'team-a/compute',
      'team-a/objects',
      'team-a/best-effort',
      'team-b/compute',
    ]);
    expect(seen.quotas[0]?.resources).toEqual([
      { resource: 'requests.cpu', used: '3600m', hard: '4', percent: 90, enforced: null },
      { resource: 'requests.memory', used: '5184Mi', hard: '8Gi', percent: 63.28, enforced: null },
      { resource: 'pods', used: '9', hard: '20', percent: 45, enforced: null },
    ]);
  });

  it('says what uses a quota: pods and claims go to the workloads that people know', async () => {
    const seen = await asked(namespaceUsageOf, 'team-a');
    const uses = (quota: string): Record<string, readonly string[]> =>
      Object.fromEntries(
        (seen.quotas.find((report) => report.quota === quota)?.usedBy ?? []).map(({ resource, top }) => [
          resource,
          top.map((use) => `${use.workload} ${use.amount} (${use.objects})`),
        ]),
      );
    expect(uses('compute')).toEqual({
      'requests.cpu': ['Deployment/web 3 (6)', 'StatefulSet/db 500m (2)', 'Pod/debug 100m (1)'],
      'requests.memory': ['Deployment/web 3Gi (6)', 'StatefulSet/db 2Gi (2)', 'Pod/debug 64Mi (1)'],
      pods: ['Deployment/web 6 (6)', 'StatefulSet/db 2 (2)', 'Pod/debug 1 (1)'],
    });
    expect(uses('objects')).toEqual({
      'services.nodeports': ['Service/web 2 (1)'],
      services: ['Service/web 1 (1)'],
      [GOLD]: ['StatefulSet/db 10Gi (2)'],
      'count/replicasets.apps': ['Deployment/web 1 (1)'],
      'count/configmaps': ['configmaps 1 (1)'],
    });
    // It counts pods, and none of these.
    expect(uses('best-effort')).toEqual({ pods: [] });
    expect(seen.warnings).toEqual([]);
  });

  it('says what waits: replicas that were denied, with the answer to the next one, and pods that do not run', async () => {
    const { pending } = await asked(namespaceUsageOf, 'team-a');
    expect(pending).toEqual({
      workloads: [
        {
          kind: 'Deployment',
          name: 'web',
          resource: 'pods',
          missing: 4,
          needs: [{ quota: 'compute', amounts: { 'requests.cpu': '2', 'requests.memory': '2Gi', pods: '4' } }],
          deniedAt: expect.stringMatching(/Z$/),
          next: { allowed: false, answers: [{ quota: 'compute', message: await obstacleOf('team-a') }] },
        },
      ],
      pods: {
        count: 9,
        reasons: [
          { reason: 'NotScheduled', pods: 8, message: null },
          { reason: 'Unschedulable', pods: 1, message: '0/3 nodes are available' },
        ],
      },
    });
  });

  it('shows one quota alone', async () => {
    const { code, stdout } = await usage(['team-a/objects', '--output', 'json']);
    expect(code).toBe(0);
    const seen = JSON.parse(stdout) as NamespaceUsage;
    expect(seen.quotas.map(({ quota }) => quota)).toEqual(['objects']);
    expect(seen.pending).toEqual({ workloads: [], pods: { count: 0, reasons: [] } });
    const compute = await asked(namespaceUsageOf, 'team-a/compute');
    expect(compute.pending).toMatchObject({ workloads: [{ name: 'web' }], pods: { count: 9 } });
    const none = await asked(namespaceUsageOf, 'team-c');
    expect(namespaceText(none, { width: 80, colours: false })).toBe('team-c in test has no ResourceQuota.\n');
  });

  it('shows with --diff only what is not true, with what Headroom reported of it, and ends with 1', async () => {
    await countNothing('team-b', 'compute');
    const calm = await usage(['team-b', '--diff']);
    expect(calm).toMatchObject({
      code: 0,
      stdout: '1 quota of test compared: every status that could be counted is true.\n',
    });

    const before = await asked(compareQuotas, 'team-a');
    // The namespace's own ConfigMap was there before admission counted.
    expect(before).toMatchObject({
      compared: 3,
      wrong: [{ quota: 'objects', differences: [{ resource: 'count/configmaps', shown: '0', counted: '1' }] }],
      restless: [],
      unmeasured: [],
    });
    await say('team-a', 'objects', { used: { 'count/configmaps': '1' } });
    await say('team-a', 'compute', { used: { 'requests.cpu': '7', pods: '8' } });
    const { metadata } = await admin.core.readNamespacedResourceQuota({ namespace: 'team-a', name: 'compute' });
    await ensureQuotaEvent(
      { kubernetes: admin, log: { info: () => {} } },
      {
        target: { cluster: 'test', namespace: 'team-a', quota: 'compute' },
        quotaUid: metadata?.uid ?? '',
        type: 'Warning',
        reason: 'UsageWrong',
        message: 'requests.cpu: the status says 7, counted 3600m',
        key: 'a',
      },
    );
    const { code, stdout } = await usage(['--diff', '--output', 'json']);
    const seen = JSON.parse(stdout) as Comparison;
    expect({ code, compared: seen.compared }).toEqual({ code: 1, compared: 4 });
    expect(seen.wrong).toEqual([
      {
        namespace: 'team-a',
        quota: 'compute',
        differences: [
          { field: 'used', resource: 'pods', shown: '8', counted: '9', difference: '-1' },
          { field: 'used', resource: 'requests.cpu', shown: '7', counted: '3600m', difference: '3400m' },
        ],
        reported: {
          at: expect.stringMatching(/Z$/),
          message: 'requests.cpu: the status says 7, counted 3600m.',
        },
      },
    ]);
  });

  it('says what is wrong with its arguments, and what would be right, and ends with 2', async () => {
    const quota = await usage(['team-a/computer']);
    expect(quota).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'there is no ResourceQuota "computer" in team-a: did you mean compute?\n',
    });
    await expect(asked(namespaceUsageOf, 'teamA')).rejects.toThrow(
      'there is no namespace "teamA" in test: did you mean team-a?',
    );
    await expect(asked(compareQuotas, 'team-c/compute')).rejects.toThrow(
      'there is no ResourceQuota "compute" in team-c: it has none',
    );
    const both = await usage(['--diff', '--all-resources']);
    expect(both).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('leave out --all-resources') });
  });

  it('says which right is missing; with --diff that is not 1, which would be a difference', async () => {
    const nobody = plane.kubeconfigFor(NOBODY);
    const sentence =
      /^Kubernetes answers: resourcequotas is forbidden: User "nobody" cannot list .*\. headroom usage reads with your own rights, listed in docs\/quota-usage\.md\.\n$/;
    expect(await usage([], 100, nobody)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(sentence),
    });
    expect((await usage(['--diff'], 100, nobody)).code).toBe(2);
  });

  it('goes on without what it may not read, and says so', async () => {
    const rules = [
      { apiGroups: [''], resources: ['resourcequotas', 'pods', 'persistentvolumeclaims'], verbs: ['list'] },
    ];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'viewer' };
    const metadata = { namespace: 'team-a', name: 'viewer' };
    await create(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata, rules },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata,
        roleRef,
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: NOBODY }],
      },
    );
    const nobody = plane.kubeconfigFor(NOBODY);
    const seen = await eventually('the role is in force', async () => {
      const usage = await asked(namespaceUsageOf, 'team-a', nobody);
      // It may come into force between two of the lists.
      return usage.warnings.some((line) => /list (?:pods|persistentvolumeclaims)$/.test(line)) ? undefined : usage;
    });
    expect(seen.warnings).toEqual(
      expect.arrayContaining(['you may not list services', 'you may not list replicasets.apps']),
    );
    const compute = seen.quotas.find(({ quota }) => quota === 'compute');
    expect(compute?.usedBy[0]?.top[0]).toMatchObject({
      workload: expect.stringMatching(/^ReplicaSet\/web-/),
      amount: '3',
    });
    const { wrong, unmeasured } = await asked(compareQuotas, 'team-a/objects', nobody);
    expect(wrong).toEqual([]);
    expect(unmeasured).toContainEqual({
      namespace: 'team-a',
      quota: 'objects',
      resources: ['services', 'services.nodeports'],
      reason: 'you may not list services',
    });
  });

  it('shows the devices that would come with what waits', async () => {
    const devices = 'gpu.deviceclass.resource.k8s.io/devices';
    const gpus = { name: 'gpus', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } };
    await create(namespaceOf('team-d'), quotaOf('team-d', { pods: '1', [devices]: '4' }), {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaimTemplate',
      metadata: { name: 'two-gpus', namespace: 'team-d' },
      spec: { spec: { devices: { requests: [gpus] } } },
    });
    await countNothing('team-d', 'compute');
    const many = { name: 'gpus', exactly: { ...gpus.exactly, count: 5 } };
    await charging('/apis/resource.k8s.io/v1/namespaces/team-d/resourceclaims', {
      metadata: { name: 'large' },
      spec: { devices: { requests: [many] } },
    });
    const spec = {
      containers: [{ name: 'app', image: 'app' }],
      resourceClaims: [{ name: 'own', resourceClaimTemplateName: 'two-gpus' }],
    };
    const template = { metadata: { labels: { app: 'train' } }, spec };
    await create(workloadOf('ReplicaSet', 'team-d', 'train', { replicas: 4, template }));
    // Whoever looks before sees the quota as it was before the first pod, and the Event of the second.
    await untilRefused('team-d');
    const workloads = await eventually('the refusal is told', async () => {
      const { pending } = await asked(namespaceUsageOf, 'team-d');
      return pending.workloads.length === 2 ? pending.workloads : undefined;
    });
    expect(workloads).toMatchObject([
      { resource: 'pods', missing: 3, needs: [{ amounts: { pods: '3' } }], next: { allowed: false } },
      {
        kind: 'ReplicaSet',
        name: 'train',
        resource: 'resourceclaims.resource.k8s.io',
        missing: 3,
        needs: [{ quota: 'compute', amounts: { [devices]: '6' } }],
      },
    ]);
  });
});

/** What admission told the ReplicaSet that could not create its pods. */
async function obstacleOf(namespace: string): Promise<string> {
  const { items } = await admin.apps.listNamespacedReplicaSet({ namespace });
  const conditions = items.flatMap(({ status }) => status?.conditions ?? []);
  const { message = '' } = conditions.find(({ type }) => type === 'ReplicaFailure') ?? {};
  return message.replace(/^.* is forbidden: /, '');
}
