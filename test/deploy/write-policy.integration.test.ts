/** What the API server admits of worker and starter by the policy of writes, where their roles allow everything. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../kernel/servers/shared-control-plane.ts';
import { applyWritePolicy, WEBHOOK_KINDS, templateObjects, webhookObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests, applyObjects, readManifests } from '../kernel/stack/manifests.ts';
import { CustomWorkloads } from '../lights-out/custom-workloads.ts';
import { type Api, type ApiAnswer, openApi } from '../quota-usage/side-by-side/api.ts';

const SYSTEM = 'namespace-resizer-system';
const WORKER = `system:serviceaccount:${SYSTEM}:headroom-worker`;
const STARTER = `system:serviceaccount:${SYSTEM}:headroom-starter`;
const GROUP = 'lightsout.techsupport.mk';

let plane: ControlPlane;
let admin: Api;
let worker: Api;
let starter: Api;

beforeAll(async () => {
  plane = await borrowControlPlane([{ name: WORKER }, { name: STARTER }]);
  const definition = new URL('../../deploy/chart-crds/definitions/lights-out.yaml', import.meta.url);
  await applyManifests(plane.adminKubeconfig, [definition]);
  await applyObjects(plane.adminKubeconfig, [
    ...(await templateObjects('namespace', 'configuration')),
    ...(await webhookObjects('lights-out', 'Secret', ...WEBHOOK_KINDS)),
    ...everythingAllowed,
    ...scaledObjects,
  ]);
  [admin, worker, starter] = [plane.adminKubeconfig, plane.kubeconfigFor(WORKER), plane.kubeconfigFor(STARTER)].map(
    openApi,
  ) as [Api, Api, Api];
  await made('/api/v1/namespaces', { metadata: { name: 'team-a' } });
  for (const path of [`/apis/${GROUP}/v1alpha1/lightsoutschedules`, SCALED]) {
    await eventually(`${path} is served`, async () => (await admin.ask('GET', path)).code === 200);
  }
  for (const [path, body] of objects) await made(path, body);
  const custom = new CustomWorkloads(plane.adminKubeconfig);
  await custom.define();
  await custom.create('Rollout', 'team-a', 'site', { replicas: 3 });
  await custom.create('ScaledJob', 'team-a', 'mails', {});
  await eventually(
    'whoever has every right may write',
    async () => (await patched(worker, DEPLOYMENT, {})).code === 200,
  );
  await applyWritePolicy(plane.adminKubeconfig);
  for (const api of [worker, starter]) {
    await eventually('the policy is in force', async () => (await podOf(api)).message.includes('headroom-'));
  }
});
afterAll(async () => {
  for (const api of [admin, worker, starter]) api?.close();
  await plane?.stop();
});

const APPS = '/apis/apps/v1/namespaces/team-a';
const DEPLOYMENT = `${APPS}/deployments/web`;
const STATEFUL_SET = `${APPS}/statefulsets/db`;
const CRON_JOB = '/apis/batch/v1/namespaces/team-a/cronjobs/report';
const AUTOSCALER = '/apis/autoscaling/v2/namespaces/team-a/horizontalpodautoscalers/web';
const SCALED = '/apis/keda.sh/v1alpha1/namespaces/team-a/scaledobjects';
const ROLLOUT = '/apis/argoproj.io/v1alpha1/namespaces/team-a/rollouts/site';
const SCALED_JOB = '/apis/keda.sh/v1alpha1/namespaces/team-a/scaledjobs/mails';
const SCHEDULE = `/apis/${GROUP}/v1alpha1/lightsoutschedules/nights`;
const QUOTA = '/api/v1/namespaces/team-a/resourcequotas/compute';
const PAUSES = `/api/v1/namespaces/${SYSTEM}/configmaps/headroom-pauses`;
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases`;
const EVENTS = '/api/v1/namespaces/team-a/events';
const TLS = `/api/v1/namespaces/${SYSTEM}/secrets/headroom-lights-out-tls`;
const CONFIGURATIONS = ['mutating', 'validating'].map(
  (kind) => `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/headroom-lights-out`,
);

const selector = { matchLabels: { app: 'web' } };
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'web:1' }] } };
const owned = { annotations: { [`${GROUP}/managed-by`]: 'nights', [`${GROUP}/down-since`]: '2026-11-20T18:00:00Z' } };
const ownedLabels = { [`${GROUP}/managed-by`]: 'nights' };
const asleep = {
  annotations: { ...owned.annotations, [`${GROUP}/original-replicas`]: '3' },
  labels: { ...ownedLabels, [`${GROUP}/original-replicas`]: '3' },
};

/** What the tests write to, by the path of the collection. */
const objects: readonly (readonly [path: string, body: object])[] = [
  [
    `${APPS}/deployments`,
    { metadata: { name: 'web', labels: { team: 'a' } }, spec: { replicas: 3, selector, template } },
  ],
  [`${APPS}/statefulsets`, { metadata: { name: 'db' }, spec: { serviceName: 'db', replicas: 3, selector, template } }],
  [
    '/apis/batch/v1/namespaces/team-a/cronjobs',
    {
      metadata: { name: 'report' },
      spec: {
        schedule: '0 6 * * *',
        jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: 'Never' } } } },
      },
    },
  ],
  [
    '/apis/autoscaling/v2/namespaces/team-a/horizontalpodautoscalers',
    {
      metadata: { name: 'web' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        minReplicas: 2,
        maxReplicas: 9,
      },
    },
  ],
  [
    SCALED,
    { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', metadata: { name: 'web' }, spec: { pollingInterval: 30 } },
  ],
  [
    `/apis/${GROUP}/v1alpha1/lightsoutschedules`,
    {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: 'LightsOutSchedule',
      metadata: { name: 'nights', finalizers: ['example.com/theirs'] },
      spec: { upscale: '0 6 * * 1-5', downscale: '0 20 * * 1-5', namespaces: ['team-a'] },
    },
  ],
  ['/api/v1/namespaces/team-a/resourcequotas', { metadata: { name: 'compute' }, spec: { hard: { pods: '10' } } }],
  [
    '/apis/coordination.k8s.io/v1/namespaces/team-a/leases',
    { metadata: { name: 'theirs' }, spec: { holderIdentity: 'them' } },
  ],
];

const eventFrom = (component: string) => ({
  metadata: { name: `web.${component}` },
  involvedObject: { apiVersion: 'v1', kind: 'ResourceQuota', namespace: 'team-a', name: 'compute' },
  reason: 'QuotaResizeRecommended',
  message: 'It should be raised.',
  type: 'Normal',
  source: { component },
  reportingComponent: component,
  reportingInstance: component,
});

const FINALIZER = `${GROUP}/cleanup`;
const leaseOf = (name: string) => ({ metadata: { name, labels: { a: 'b' } }, spec: { holderIdentity: 'headroom/1' } });

describe('the worker', () => {
  it.each<[string, string, object]>([
    ['scales a Deployment and notes what it had', DEPLOYMENT, { metadata: asleep, spec: { replicas: 0 } }],
    ['wakes it', DEPLOYMENT, { metadata: nulls(asleep), spec: { replicas: 3 } }],
    ['scales a StatefulSet', STATEFUL_SET, { metadata: asleep, spec: { replicas: 0 } }],
    ['scales a Rollout', ROLLOUT, { metadata: asleep, spec: { replicas: 0 } }],
    [
      'pauses a ScaledJob',
      SCALED_JOB,
      {
        metadata: {
          annotations: {
            ...owned.annotations,
            [`${GROUP}/original-suspend`]: 'lightsout',
            [`${GROUP}/original-paused`]: 'false',
            'autoscaling.keda.sh/paused': 'true',
          },
          labels: ownedLabels,
        },
      },
    ],
    [
      'suspends a CronJob',
      CRON_JOB,
      {
        metadata: {
          annotations: { ...owned.annotations, [`${GROUP}/original-suspend`]: 'lightsout' },
          labels: ownedLabels,
        },
        spec: { suspend: true },
      },
    ],
    [
      'narrows the bounds of a HorizontalPodAutoscaler',
      AUTOSCALER,
      {
        metadata: { annotations: { ...owned.annotations, [`${GROUP}/original-bounds`]: '2-9' }, labels: ownedLabels },
        spec: { minReplicas: 1, maxReplicas: 1 },
      },
    ],
    [
      'pauses a ScaledObject',
      `${SCALED}/web`,
      {
        metadata: {
          annotations: { ...owned.annotations, 'autoscaling.keda.sh/paused-replicas': '0' },
          labels: ownedLabels,
        },
      },
    ],
    ['adds its finalizer', SCHEDULE, { metadata: { finalizers: ['example.com/theirs', FINALIZER] } }],
    ['takes it off', SCHEDULE, { metadata: { finalizers: ['example.com/theirs'] } }],
    ['writes the status of a schedule', `${SCHEDULE}/status`, { status: { state: 'Down' } }],
    ['keeps a pause', PAUSES, { data: { 'controller.lights-out': '{}' } }],
  ])('%s', async (_, path, body) => {
    expect(await patched(worker, path, body)).toMatchObject({ code: 200, message: '' });
  });

  it('creates, changes and deletes Leases of its own namespace, and creates Events of its own', async () => {
    expect(await worker.ask('POST', LEASES, leaseOf('ours'))).toMatchObject({ code: 201 });
    const change = {
      metadata: { annotations: { 'resizer.io/decision': '{}' } },
      spec: { holderIdentity: 'headroom/2' },
    };
    expect(await patched(worker, `${LEASES}/ours`, change)).toMatchObject({ code: 200, message: '' });
    expect(await worker.ask('DELETE', `${LEASES}/ours`)).toMatchObject({ code: 200 });
    expect(await worker.ask('POST', EVENTS, eventFrom('headroom'))).toMatchObject({ code: 201 });
  });

  it.each<[string, string, object, string]>([
    [
      'the image of a Deployment',
      DEPLOYMENT,
      { spec: { replicas: 0, template: { spec: { containers: [{ name: 'main', image: 'evil' }] } } } },
      'spec.template',
    ],
    [
      'the account of a StatefulSet',
      STATEFUL_SET,
      { spec: { template: { spec: { serviceAccountName: 'admin' } } } },
      'spec.template',
    ],
    [
      'the command of a CronJob',
      CRON_JOB,
      {
        spec: {
          jobTemplate: {
            spec: { template: { spec: { containers: [{ name: 'main', image: 'web:1', command: ['sh'] }] } } },
          },
        },
      },
      'spec.jobTemplate',
    ],
    ['the template of a Rollout', ROLLOUT, { spec: { template: { spec: { nodeName: 'n' } } } }, 'spec.template'],
    ['the template of a ScaledJob', SCALED_JOB, { spec: { template: { a: 'b' } } }, 'spec.template'],
    ['an annotation of somebody else', DEPLOYMENT, annotated('example.com/a'), 'metadata.annotations.example.com/a'],
    ['a label of somebody else', DEPLOYMENT, { metadata: { labels: { team: null } } }, 'metadata.labels.team'],
    [
      'the owner of a Deployment',
      DEPLOYMENT,
      { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'a' }] } },
      'metadata.ownerReferences',
    ],
    ['a finalizer of a Deployment', DEPLOYMENT, { metadata: { finalizers: [FINALIZER] } }, 'metadata.finalizers'],
    [
      'what a HorizontalPodAutoscaler scales',
      AUTOSCALER,
      { spec: { scaleTargetRef: { kind: 'Deployment', name: 'other', apiVersion: 'apps/v1' } } },
      'spec.scaleTargetRef',
    ],
    ['the interval of a ScaledObject', `${SCALED}/web`, { spec: { pollingInterval: 1 } }, 'spec.pollingInterval'],
    [
      'what pauses a ScaledObject otherwise',
      `${SCALED}/web`,
      annotated('autoscaling.keda.sh/paused'),
      'metadata.annotations.autoscaling.keda.sh/paused',
    ],
    ["somebody else's finalizer", SCHEDULE, { metadata: { finalizers: [] } }, 'metadata.finalizers'],
    ['the spec of a schedule', SCHEDULE, { spec: { namespaces: ['team-b'] } }, 'spec.namespaces'],
    ['labels of the pauses', PAUSES, { metadata: { labels: { a: 'b' } } }, 'metadata.labels.a'],
  ])('cannot change %s', async (_, path, body, field) => {
    const answer = await patched(worker, path, body);
    expect(answer.message).toContain(`headroom-worker may not change ${field} of `);
    expect(answer.code).toBe(422);
  });

  it.each<[string, () => Promise<ApiAnswer>]>([
    ['update resourcequotas', async () => await patched(worker, QUOTA, { spec: { hard: { pods: '99' } } })],
    ['create pods', async () => await podOf(worker)],
    ['create apps/deployments', async () => await worker.ask('POST', `${APPS}/deployments`, objects[0]?.[1])],
    ['delete apps/deployments', async () => await worker.ask('DELETE', DEPLOYMENT)],
    [
      'update apps/deployments/scale',
      async () => await patched(worker, `${DEPLOYMENT}/scale`, { spec: { replicas: 1 } }),
    ],
    ['update apps/deployments/status', async () => await patched(worker, `${DEPLOYMENT}/status`, annotated('a'))],
    [
      'update coordination.k8s.io/leases',
      async () => await patched(worker, '/apis/coordination.k8s.io/v1/namespaces/team-a/leases/theirs', annotated('a')),
    ],
    [
      'create coordination.k8s.io/leases',
      async () => await worker.ask('POST', '/apis/coordination.k8s.io/v1/namespaces/team-a/leases', leaseOf('ours')),
    ],
    [
      'update configmaps',
      async () =>
        await patched(worker, `/api/v1/namespaces/${SYSTEM}/configmaps/kube-root-ca.crt`, { data: { a: 'b' } }),
    ],
    ['update namespaces', async () => await patched(worker, '/api/v1/namespaces/team-a', annotated('resizer.io/mode'))],
    [
      'create secrets',
      async () => await worker.ask('POST', `/api/v1/namespaces/${SYSTEM}/secrets`, { metadata: { name: 'a' } }),
    ],
    [
      'create serviceaccounts/token',
      async () =>
        await worker.ask('POST', `/api/v1/namespaces/team-a/serviceaccounts/default/token`, {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { audiences: [] },
        }),
    ],
    [
      'create rbac.authorization.k8s.io/clusterrolebindings',
      async () =>
        await worker.ask('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
          metadata: { name: 'more' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
        }),
    ],
    [
      'connect services/proxy',
      async () => await worker.ask('POST', '/api/v1/namespaces/default/services/kubernetes/proxy/'),
    ],
  ])('cannot %s', async (what, attempt) => {
    expect((await attempt()).message).toContain(`headroom-worker may not ${what} `);
  });

  it('creates, changes and deletes what a Memcached owns, and cannot make it so of anything else', async () => {
    const owner = {
      apiVersion: 'memcached.c5c3.io/v1beta1',
      kind: 'Memcached',
      name: 'cache',
      uid: 'a',
      controller: true,
    };
    const ownedBy = (...ownerReferences: readonly object[]) => ({
      metadata: { name: 'cache', ownerReferences },
      spec: { replicas: 1, selector, template },
    });
    const path = `${APPS}/deployments/cache`;
    for (const other of [
      { ...owner, kind: 'Redis' },
      { ...owner, controller: false },
      { ...owner, apiVersion: 'example.com/v1' },
    ]) {
      const { message } = await worker.ask('POST', `${APPS}/deployments`, ownedBy(other));
      expect(message).toContain('headroom-worker may not create apps/deployments ');
    }
    expect(await worker.ask('POST', `${APPS}/deployments`, ownedBy(owner))).toMatchObject({ code: 201 });
    const image = { spec: { template: { spec: { containers: [{ name: 'main', image: 'cache:2' }] } } } };
    expect(await patched(worker, path, image)).toMatchObject({ code: 200, message: '' });
    expect(await patched(worker, path, { metadata: asleep, spec: { replicas: 0 } })).toMatchObject({ code: 200 });
    const orphaned = await patched(worker, path, { metadata: { ownerReferences: null } });
    expect(orphaned.message).toContain('headroom-worker may not change metadata.ownerReferences of ');
    expect(await worker.ask('DELETE', path)).toMatchObject({ code: 200 });
  });

  it('creates and changes ConfigMaps that a Memcached owns, and no others', async () => {
    const controller = { apiVersion: 'memcached.c5c3.io/v1beta1', kind: 'Memcached', name: 'cache', uid: 'a' };
    const ownerReferences = [{ ...controller, controller: true }];
    const path = '/api/v1/namespaces/team-a/configmaps';
    const data = { 'servers.txt': 'cache-0 10.0.0.7:11211\n' };
    await made(path, { metadata: { name: 'theirs' }, data });
    const { message } = await patched(worker, `${path}/theirs`, { data: { more: 'x' } });
    expect(message).toContain('headroom-worker may not update configmaps team-a/theirs');
    const unowned = await worker.ask('POST', path, { metadata: { name: 'other' }, data });
    expect(unowned.message).toContain('headroom-worker may not create configmaps ');
    const own = { metadata: { name: 'cache-servers', ownerReferences }, data };
    expect(await worker.ask('POST', path, own)).toMatchObject({ code: 201 });
    expect(await patched(worker, `${path}/cache-servers`, { data: { 'servers.txt': '' } })).toMatchObject({
      code: 200,
    });
    const deleted = await worker.ask('DELETE', `${path}/cache-servers`);
    expect(deleted.message).toContain('headroom-worker may not delete configmaps team-a/cache-servers');
    // It cannot make one its own.
    const taken = await patched(worker, `${path}/theirs`, { metadata: { ownerReferences } });
    expect(taken.message).toContain('headroom-worker may not update configmaps team-a/theirs');
  });

  it('cannot write an Event in the name of somebody else', async () => {
    const { message } = await worker.ask('POST', EVENTS, eventFrom('replicaset-controller'));
    expect(message).toContain('headroom-worker may write Events in its own name only');
  });
});

describe('the starter', () => {
  it('fills its Secret, and no other, and changes nothing else of it', async () => {
    expect(await patched(starter, TLS, { data: { 'tls.crt': 'YQ==' } })).toMatchObject({ code: 200, message: '' });
    const { message } = await patched(starter, TLS, { metadata: { labels: { a: 'b' } } });
    expect(message).toContain('headroom-starter may not change metadata.labels.a of secrets');
    await made(`/api/v1/namespaces/${SYSTEM}/secrets`, { metadata: { name: 'other' } });
    const other = await patched(starter, `/api/v1/namespaces/${SYSTEM}/secrets/other`, { data: { a: 'YQ==' } });
    expect(other.message).toContain('headroom-starter may not update secrets namespace-resizer-system/other');
  });

  it.each(CONFIGURATIONS)('says whom to trust in %s, and changes nothing else of it', async (path) => {
    const [webhook] = ((await admin.ask('GET', path)).object as { webhooks?: readonly Webhook[] }).webhooks ?? [];
    if (webhook === undefined) throw new Error(`${path} has no webhook`);
    const withClient = (clientConfig: object) => ({ webhooks: [{ ...webhook, clientConfig }] });
    const trusting = withClient({ ...webhook.clientConfig, caBundle: btoa(CERTIFICATE) });
    expect(await patched(starter, path, trusting)).toMatchObject({ code: 200, message: '' });
    const elsewhere = { ...webhook.clientConfig, service: { ...webhook.clientConfig.service, name: 'elsewhere' } };
    const everything = [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'], scope: '*' }];
    for (const body of [
      withClient(elsewhere),
      { webhooks: [{ ...webhook, rules: everything }] },
      { webhooks: [{ ...webhook, failurePolicy: 'Fail' }] },
      { webhooks: [] },
      { webhooks: [webhook, { ...webhook, name: `another.${webhook.name}` }] },
    ]) {
      const { message } = await patched(starter, path, body);
      expect(message).toContain('headroom-starter may change nothing of these webhooks but caBundle');
    }
    const { message } = await patched(starter, path, { metadata: { labels: { a: 'b' } } });
    expect(message).toContain('headroom-starter may not change metadata.labels.a of ');
  });

  it('writes the status of a quota, and nothing else of it', async () => {
    const status = { status: { hard: { pods: '10' }, used: { pods: '1' } } };
    expect(await patched(starter, `${QUOTA}/status`, status)).toMatchObject({ code: 200, message: '' });
    const { message } = await patched(starter, `${QUOTA}/status`, annotated('resizer.io/mode'));
    expect(message).toContain('headroom-starter may not change metadata.annotations.resizer.io/mode of ');
    const spec = await patched(starter, QUOTA, { spec: { hard: { pods: '99' } } });
    expect(spec.message).toContain('headroom-starter may not update resourcequotas');
  });

  it('has the Lease of the owner, and no other', async () => {
    expect(await starter.ask('POST', LEASES, leaseOf('quota-usage-owner'))).toMatchObject({ code: 201 });
    const renewed = await patched(starter, `${LEASES}/quota-usage-owner`, { spec: { holderIdentity: 'other' } });
    expect(renewed).toMatchObject({ code: 200, message: '' });
    const { message } = await starter.ask('POST', LEASES, leaseOf('state-team-a-compute'));
    expect(message).toContain('headroom-starter writes no other Lease than quota-usage-owner');
  });

  it('creates nothing else', async () => {
    expect((await podOf(starter)).message).toContain('headroom-starter may not create pods');
    const secret = { metadata: { name: 'a' } };
    const { message } = await starter.ask('POST', `/api/v1/namespaces/${SYSTEM}/secrets`, secret);
    expect(message).toContain('headroom-starter may not create secrets');
  });
});

describe('anybody else', () => {
  it('writes as before', async () => {
    expect(await patched(admin, DEPLOYMENT, annotated('example.com/a'))).toMatchObject({ code: 200 });
  });
});

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly service: object };
}

/** An authority that nobody has the key of: the API server wants a certificate in a bundle. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
-----END CERTIFICATE-----
`;

const everythingAllowed: readonly KubernetesObject[] = [
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'everything' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [WORKER, STARTER].map((name) => ({ kind: 'User', name, apiGroup: 'rbac.authorization.k8s.io' })),
  } as KubernetesObject,
];

/** KEDA's, as far as it is written here. The client has names of its own for some fields of a definition. */
const scaledObjects = readManifests(
  JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'scaledobjects.keda.sh' },
    spec: {
      group: 'keda.sh',
      scope: 'Namespaced',
      names: { plural: 'scaledobjects', singular: 'scaledobject', kind: 'ScaledObject' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  }),
);

function annotated(key: string): object {
  return { metadata: { annotations: { [key]: 'x' } } };
}

/** The same keys, taken away. */
function nulls(metadata: Readonly<Record<string, object>>): object {
  return Object.fromEntries(
    Object.entries(metadata).map(([part, entries]) => [
      part,
      Object.fromEntries(Object.keys(entries).map((key) => [key, null])),
    ]),
  );
}

async function patched(api: Api, path: string, body: object): Promise<ApiAnswer> {
  return await api.ask('PATCH', path, body, 'merge');
}

async function podOf(api: Api): Promise<ApiAnswer> {
  return await api.ask('POST', '/api/v1/namespaces/team-a/pods', {
    metadata: { name: 'pod' },
    spec: { containers: [{ name: 'main', image: 'main' }] },
  });
}

async function made(path: string, body: object): Promise<void> {
  expect(await admin.ask('POST', path, body)).toMatchObject({ code: 201, message: '' });
}
