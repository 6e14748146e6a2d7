/** The steps of docs/uninstall.md, one after the other, on an installation that is in the middle of everything. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clientConnectionOptions } from '../../platform/temporal/temporal.ts';
import { runHelm } from '../../tools/manifests/render-chart.ts';
import { resolveServer } from '../../tools/resolver/resolve-server.ts';
import { type Forge, startForge } from '../kernel/forge/forge.ts';
import { type ControlPlane, startControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowTemporal } from '../kernel/servers/shared-temporal.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import type { TemporalServer } from '../kernel/servers/temporal.ts';
import { chartObjects } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { createGitOpsRepository } from '../kernel/stack/gitops-repository.ts';
import { launchProgram } from '../kernel/stack/launch-program.ts';
import { quickSettings } from '../kernel/stack/quick-settings.ts';
import { type Api, type ApiObject, openApi } from '../quota-usage/side-by-side/api.ts';
import { headroom } from '../starter/run-program.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const NAMESPACE = 'capacity';
const CLUSTER = 'going';
const PROCESSES = ['worker', 'starter'] as const;
const userOf = (process: string): string => `system:serviceaccount:${NAMESPACE}:headroom-${process}`;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SCHEDULES = '/apis/lightsout.techsupport.mk/v1alpha1/lightsoutschedules';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/team-a/deployments';
const QUOTAS = '/api/v1/namespaces/team-a/resourcequotas';
const TOKEN = 'forge-token-of-this-run';

/** Asleep but for twelve hours of leap days. */
const NIGHTS = {
  apiVersion: 'lightsout.techsupport.mk/v1alpha1',
  kind: 'LightsOutSchedule',
  metadata: { name: 'nights' },
  spec: { upscale: '0 6 29 2 *', downscale: '0 18 * * *', namespaces: ['team-b'] },
};

const values = {
  config: {
    kubernetes: { clusterName: CLUSTER, writePolicy: 'required' },
    temporal: { address: '', namespace: '' },
    quotaUsage: { mode: 'audit' },
    lightsOut: { enabled: true },
  },
  webhooks: { certificates: 'none' },
};

let home: string;
let plane: ControlPlane;
let temporal: TemporalServer;
let forge: Forge;
let admin: Api;
let client: Client;
/** Of the command line. */
let operator: Readonly<Record<string, string>>;
const started: SupervisedProcess[] = [];

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'headroom-uninstall-'));
  const gitDir = join(home, 'gitops.git');
  const manifest =
    'apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: team-a\nspec:\n  hard:\n    pods: "3"\n';
  await createGitOpsRepository(gitDir, { [`managed-resources/${CLUSTER}/team-a/quota.yaml`]: manifest });
  const users = PROCESSES.map((process) => ({ name: userOf(process) }));
  [plane, temporal, forge] = await Promise.all([
    startControlPlane({ users }),
    borrowTemporal(),
    startForge({ gitDir, owner: 'acme', repo: 'gitops', token: TOKEN }),
  ]);
  admin = openApi(plane.adminKubeconfig);
  const connection = await Connection.connect(clientConnectionOptions({ address: temporal.address }, 10_000));
  client = new Client({ connection, namespace: temporal.namespace });
  Object.assign(values.config.temporal, { address: temporal.address, namespace: temporal.namespace });
  operator = {
    CLUSTER_NAME: CLUSTER,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    SYSTEM_NAMESPACE: NAMESPACE,
    KUBECONFIG: plane.adminKubeconfig,
  };
  await helm(['install', 'headroom-crds', path('../../deploy/chart-crds'), '--create-namespace']);
  await eventually('schedules are served', async () => (await admin.ask('GET', SCHEDULES)).code === 200);
  await inFlight();
  await install();
});
afterAll(async () => {
  await Promise.all(started.map(async (process) => await process.stop()));
  await client?.connection.close();
  admin?.close();
  await forge?.stop();
  await temporal?.stop();
  await plane?.stop();
  await rm(home, { recursive: true, force: true });
});

it('without its steps leaves a workload asleep, which the release wakes when it is installed again', async () => {
  await eventually('the workload sleeps', async () => (await replicasOf('nightly')) === 0);
  await uninstall();
  expect(await admin.ask('DELETE', `${SCHEDULES}/nights`)).toMatchObject({ code: 200 });
  expect(await admin.ask('GET', `${SCHEDULES}/nights`), 'its finalizer waits for Headroom').toMatchObject({
    code: 200,
  });
  expect(await replicasOf('nightly')).toBe(0);
  await install();
  await eventually('the schedule is gone', async () => (await admin.ask('GET', `${SCHEDULES}/nights`)).code === 404);
  expect(await replicasOf('nightly')).toBe(2);
  expect(await admin.ask('POST', SCHEDULES, NIGHTS)).toMatchObject({ code: 201 });
});

it('is left by its steps as if it had never been there', async () => {
  await eventually('a pull request is open', async () => (await github.pulls()).includes('open'));
  await eventually('the workload sleeps', async () => (await replicasOf('nightly')) === 0);

  // 1. What is open is decided.
  const rejected = await headroom(['reject', 'team-a/compute', '--reason', 'Headroom goes'], operator);
  expect(rejected).toMatchObject({ code: 0 });
  await eventually('it is closed', async () => (await github.pulls())[0] === 'closed');
  await eventually('its branch is gone', async () => (await github.branches()).join() === 'main');

  // 2. What sleeps is woken by the end of its schedule.
  expect(await admin.ask('DELETE', `${SCHEDULES}/nights`)).toMatchObject({ code: 200 });
  await eventually('the schedule is gone', async () => (await admin.ask('GET', `${SCHEDULES}/nights`)).code === 404);
  expect(await replicasOf('nightly')).toBe(2);

  // 3. The release.
  await uninstall();
  expect(await leases(), 'the memory outlasts the release').not.toEqual([]);
  expect(await running(), 'and so do the workflows').not.toEqual([]);

  // 4. Temporal: the Schedule first, which would begin one more.
  await cli(['schedule', 'delete', '--schedule-id', `lease-gc/${CLUSTER}`]);
  const query = `HeadroomCluster = '${CLUSTER}' OR WorkflowType = 'githubBudget'`;
  await cli(['workflow', 'terminate', '--query', query, '--reason', 'Headroom is uninstalled', '--yes']);
  await eventually('nothing runs', async () => (await running()).length === 0);

  // 5. Definitions, and the namespace with the memory.
  await helm(['uninstall', 'headroom-crds']);
  for (const { metadata } of (await admin.ask('GET', DEFINITIONS)).object.items ?? []) {
    expect(await admin.ask('DELETE', `${DEFINITIONS}/${metadata?.name}`)).toMatchObject({ code: 200 });
  }
  expect(await admin.ask('DELETE', `/api/v1/namespaces/${NAMESPACE}`)).toMatchObject({ code: 200 });
  await eventually('the namespace is gone', async () => {
    return (await admin.ask('GET', `/api/v1/namespaces/${NAMESPACE}`)).code === 404;
  });

  for await (const { scheduleId } of client.schedule.list()) throw new Error(`the Schedule ${scheduleId} is left`);
  // Kubernetes copies annotations of a Deployment to its ReplicaSet when it scales, and never takes them back.
  expect(await traces()).toEqual([expect.stringMatching(/^replicasets team-b\/nightly-/)]);
});

/** What the forge shows to anybody who asks. */
const github = {
  ask: async <T>(where: string): Promise<readonly T[]> => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    return (await (await fetch(`${forge.url}/repos/acme/gitops/${where}`, { headers })).json()) as readonly T[];
  },
  pulls: async () => (await github.ask<{ readonly state: string }>('pulls?state=all')).map(({ state }) => state),
  branches: async () => (await github.ask<{ readonly name: string }>('branches')).map(({ name }) => name),
};

/** A quota under pressure, and a workload that has to sleep. */
async function inFlight(): Promise<void> {
  const deployment = (name: string, replicas: number) => {
    const template = { metadata: { labels: { app: name } }, spec: { containers: [{ name, image: name }] } };
    return { metadata: { name }, spec: { replicas, selector: { matchLabels: { app: name } }, template } };
  };
  const made: readonly (readonly [string, object])[] = [
    ['/api/v1/namespaces', { metadata: { name: 'team-a' } }],
    ['/api/v1/namespaces', { metadata: { name: 'team-b' } }],
    [QUOTAS, { metadata: { name: 'compute' }, spec: { hard: { pods: '3' } } }],
    [DEPLOYMENTS, deployment('web', 5)],
    [DEPLOYMENTS.replace('team-a', 'team-b'), deployment('nightly', 2)],
    [SCHEDULES, NIGHTS],
  ];
  for (const [to, body] of made) expect(await admin.ask('POST', to, body)).toMatchObject({ code: 201, message: '' });
}

/** Ends what runs by itself: there are no kubelets. */
async function uninstall(): Promise<void> {
  await helm(['uninstall', 'headroom']);
  await Promise.all(started.splice(0).map(async (process) => await process.stop()));
}

/** With worker and starter, by the file of the chart, as pods of the release would run. */
async function install(): Promise<void> {
  await helm(['install', 'headroom', path('../../deploy/chart'), '--values', '-'], JSON.stringify(values));
  const file = join(home, 'headroom.yaml');
  const objects = await chartObjects(values as Parameters<typeof chartObjects>[0], NAMESPACE);
  const configuration = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata?.name === 'headroom');
  const { data } = configuration as { readonly data?: Readonly<Record<string, string>> };
  await writeFile(file, data?.['headroom.yaml'] ?? '');
  const github = { GITHUB_API_URL: forge.url, GITHUB_TOKEN: TOKEN, GITHUB_OWNER: 'acme', GITHUB_REPO: 'gitops' };
  for (const process of PROCESSES) {
    const env = {
      ...quickSettings,
      HEADROOM_CONFIG: file,
      HEADROOM_MODE: 'propose',
      KUBECONFIG: plane.kubeconfigFor(userOf(process)),
      HEALTH_ADDRESS: '127.0.0.1:0',
      METRICS_ADDRESS: '127.0.0.1:0',
      ...(process === 'worker' ? github : {}),
    };
    const logFile = join(home, `${process}.log`);
    await launchProgram({ name: process, env, logFile, onStarted: (one) => started.push(one) });
  }
}

async function replicasOf(name: string): Promise<number | undefined> {
  const { object } = await admin.ask('GET', `${DEPLOYMENTS.replace('team-a', 'team-b')}/${name}`);
  return (object.spec as { readonly replicas?: number } | undefined)?.replicas;
}

async function leases(): Promise<readonly ApiObject[]> {
  return (await admin.ask('GET', LEASES)).object.items ?? [];
}

async function running(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
    if (!workflowId.startsWith('temporal-sys-')) found.push(workflowId);
  }
  return found;
}

/** What is called after Headroom, or is marked by it, in all that the API server has; Events end by themselves. */
async function traces(): Promise<readonly string[]> {
  const found: string[] = [];
  for (const [list, kind] of await listable()) {
    const { object } = await admin.ask('GET', list);
    for (const { metadata, ...rest } of object.items ?? []) {
      const { managedFields: _, ...own } = (metadata ?? {}) as Record<string, unknown>;
      if (/headroom|namespace-resizer|resizer\.io|lightsout/i.test(JSON.stringify([own, rest]))) {
        found.push(`${kind} ${metadata?.namespace ?? ''}/${metadata?.name}`);
      }
    }
  }
  return found;
}

interface Resource {
  readonly name: string;
  readonly verbs: readonly string[];
}

async function listable(): Promise<readonly (readonly [list: string, kind: string])[]> {
  const groups = (await admin.ask('GET', '/apis')).object as {
    readonly groups?: readonly { readonly preferredVersion: { readonly groupVersion: string } }[];
  };
  const versions = [
    '/api/v1',
    ...(groups.groups ?? []).map(({ preferredVersion }) => `/apis/${preferredVersion.groupVersion}`),
  ];
  const lists: (readonly [string, string])[] = [];
  for (const version of versions) {
    const { resources = [] } = (await admin.ask('GET', version)).object as { readonly resources?: readonly Resource[] };
    for (const { name, verbs } of resources) {
      if (verbs.includes('list') && name !== 'events') lists.push([`${version}/${name}`, name]);
    }
  }
  return lists;
}

async function cli(args: readonly string[]): Promise<void> {
  const options = ['--address', temporal.address, '--namespace', temporal.namespace];
  const env = { HOME: home, PATH: process.env['PATH'] };
  await promisify(execFile)(await resolveServer('temporal'), [...args, ...options], { env });
}

async function helm(args: readonly string[], input = ''): Promise<void> {
  const env = { HOME: home, KUBECACHEDIR: home, KUBECONFIG: plane.adminKubeconfig };
  await runHelm([...args, '--namespace', NAMESPACE], input, env);
}
