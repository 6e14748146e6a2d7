/** An installation by Helm itself, in another namespace than the default: from the first hour to its end. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHelm, SYSTEM_NAMESPACE } from '../../tools/manifests/render-chart.ts';
import { type ControlPlane, startControlPlane } from '../kernel/servers/control-plane.ts';
import { chartObjects, type ChartValues, EVERYTHING } from '../kernel/stack/chart.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyObjects } from '../kernel/stack/manifests.ts';
import { type Api, openApi } from '../quota-usage/side-by-side/api.ts';

const CHART = fileURLToPath(new URL('../../deploy/chart', import.meta.url));
const DEFINITIONS = fileURLToPath(new URL('../../deploy/chart-crds', import.meta.url));
const NAMESPACE = 'capacity';
const [WORKER, STARTER] = ['worker', 'starter'].map(
  (process) => `system:serviceaccount:${NAMESPACE}:headroom-${process}`,
) as [string, string];
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
const SCHEDULES = '/apis/lightsout.techsupport.mk/v1alpha1/lightsoutschedules';
const MEMCACHEDS = '/apis/memcached.c5c3.io/v1beta1/memcacheds';
const PAUSES = `/api/v1/namespaces/${NAMESPACE}/configmaps/headroom-pauses`;
const MARKED = { metadata: { labels: { mine: 'yes' } } };
const NIGHTS = { upscale: '0 6 * * *', downscale: '0 18 * * *', namespaces: ['team-a'] };

let plane: ControlPlane;
let admin: Api;
let worker: Api;
let starter: Api;
/** Where Helm keeps what it learns of the API server. */
let home: string;
const notes = { early: '', later: '' };

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'headroom-helm-'));
  plane = await startControlPlane({ users: [{ name: WORKER }, { name: STARTER }] });
  [admin, worker, starter] = [plane.adminKubeconfig, plane.kubeconfigFor(WORKER), plane.kubeconfigFor(STARTER)].map(
    openApi,
  ) as [Api, Api, Api];
  const asked = { config: { github: { owner: 'acme', repo: 'gitops' }, memcached: { enabled: true } } };
  const dry = ['install', 'headroom', CHART, '--dry-run=server', '--create-namespace'];
  notes.early = await helm(dry, asked);
  await helm(['install', 'headroom-crds', DEFINITIONS, '--create-namespace']);
  await eventually('Memcacheds are served', async () => (await admin.ask('GET', MEMCACHEDS)).code === 200);
  const secret = { metadata: { name: 'headroom-github' }, stringData: { token: 'a-token' } };
  await admin.ask('POST', `/api/v1/namespaces/${NAMESPACE}/secrets`, secret);
  notes.later = await helm(dry, asked);
  await helm(['install', 'headroom', CHART], EVERYTHING);
  await eventually('schedules are served', async () => (await admin.ask('GET', SCHEDULES)).code === 200);
  await eventually('the worker may write', async () => (await worker.ask('GET', LEASES)).code === 200);
  await eventually('the policies are in force', async () => {
    const answers = [await marking(), await leaseOfStarter(), await forged()];
    return answers.every(({ code }) => code === 422);
  });
});
afterAll(async () => {
  for (const api of [admin, worker, starter]) api?.close();
  await plane?.stop();
  await rm(home, { recursive: true, force: true });
});

it('says right away which Secret and which definitions are missing', () => {
  const missing =
    /The Secret headroom-github is not in capacity yet[^]*memcached is on, and its definitions are not in the cluster/;
  expect(notes.early).toMatch(missing);
  expect(notes.later).not.toMatch(/is not in capacity yet|definitions are not in the cluster/);
});

describe('in another namespace', () => {
  it('the worker writes what it needs, and nothing outside of its fields', async () => {
    const lease = { metadata: { name: 'state-a-b' }, spec: {} };
    expect(await worker.ask('POST', LEASES, lease)).toMatchObject({ code: 201, message: '' });
    expect(await worker.ask('PATCH', PAUSES, { data: { a: 'b' } }, 'merge')).toMatchObject({ code: 200, message: '' });
    expect(await marking()).toMatchObject({
      code: 422,
      message: expect.stringContaining('headroom-worker may not change metadata.labels.mine'),
    });
  });

  it('nor does the starter', async () => {
    expect(await leaseOfStarter()).toMatchObject({
      code: 422,
      message: expect.stringContaining('headroom-starter writes no other Lease than quota-usage-owner'),
    });
  });

  it('nobody writes an approval into a Lease in somebody else’s name', async () => {
    expect(await forged()).toMatchObject({
      code: 422,
      message: expect.stringContaining(`resizer.io/approved-by must be ${WORKER}`),
    });
  });
});

describe('an upgrade', () => {
  it('that switches everything off takes roles and webhooks away, and nothing of a user’s, and brings them back', async () => {
    const body = { apiVersion: 'lightsout.techsupport.mk/v1alpha1', kind: 'LightsOutSchedule', spec: NIGHTS };
    expect(await admin.ask('POST', SCHEDULES, { ...body, metadata: { name: 'nights' } })).toMatchObject({ code: 201 });
    const gone = [
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/headroom-worker-lights-out',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/headroom-starter-lights-out-webhook',
      '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/headroom-lights-out',
      `/api/v1/namespaces/${NAMESPACE}/secrets/headroom-lights-out-tls`,
    ];
    expect(await codesOf(gone)).toEqual([200, 200, 200, 200]);
    await helm(['upgrade', 'headroom', CHART], { config: { lightsOut: { enabled: false } } });
    expect(await codesOf(gone)).toEqual([404, 404, 404, 404]);
    expect(await admin.ask('GET', `${SCHEDULES}/nights`)).toMatchObject({ code: 200, object: { spec: NIGHTS } });
    // Nor a pause.
    expect(await admin.ask('GET', PAUSES)).toMatchObject({ object: { data: { a: 'b' } } });
    await helm(['upgrade', 'headroom', CHART], EVERYTHING);
    expect(await codesOf(gone)).toEqual([200, 200, 200, 200]);
    expect(await admin.ask('GET', `${SCHEDULES}/nights`)).toMatchObject({ code: 200, object: { spec: NIGHTS } });
  });
});

describe('processes apart', () => {
  it('take the rights of their controllers with them, and give them back', async () => {
    const deployments = ['worker', 'worker-node-group', 'starter-node-group'].map(
      (process) => `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/headroom-${process}`,
    );
    const selector = async () => {
      const path = `/api/v1/namespaces/${NAMESPACE}/services/headroom-node-group`;
      return ((await admin.ask('GET', path)).object as { spec?: { selector?: Record<string, string> } }).spec?.selector;
    };
    await helm(['upgrade', 'headroom', CHART], { ...EVERYTHING, processes: 'apart' });
    expect(await codesOf(deployments)).toEqual([200, 200, 200]);
    expect(await selector()).toEqual({ 'app.kubernetes.io/name': 'headroom-starter-node-group' });
    await eventually('the worker of node groups evicts, and no other', async () => {
      return (await mayEvict(`${WORKER}-node-group`)) && !(await mayEvict(WORKER));
    });
    await helm(['upgrade', 'headroom', CHART], { ...EVERYTHING, processes: 'together' });
    expect(await codesOf(deployments)).toEqual([200, 404, 404]);
    expect(await selector()).toEqual({ 'app.kubernetes.io/name': 'headroom-starter' });
    await eventually('the worker evicts', async () => {
      return (await mayEvict(WORKER)) && !(await mayEvict(`${WORKER}-node-group`));
    });
  });
});

async function mayEvict(user: string): Promise<boolean> {
  const resourceAttributes = { verb: 'create', resource: 'pods', subresource: 'eviction', namespace: 'team-a' };
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes },
  };
  const { object } = await admin.ask('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', body);
  return (object as { status?: { allowed?: boolean } }).status?.allowed === true;
}

describe('an end', () => {
  it('leaves pauses and memory, and the definitions with what people made of them', async () => {
    await helm(['uninstall', 'headroom']);
    await helm(['uninstall', 'headroom-crds']);
    const deployment = `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/headroom-worker`;
    const left = [`${SCHEDULES}/nights`, PAUSES, `${LEASES}/state-a-b`];
    expect(await codesOf([deployment, ...left])).toEqual([404, 200, 200, 200]);
  });
});

describe('what kubectl applied', () => {
  it('is taken over where it is', async () => {
    await applyObjects(plane.adminKubeconfig, await chartObjects());
    const flags = ['--install', '--take-ownership', '--namespace', SYSTEM_NAMESPACE];
    await runHelm(['upgrade', 'headroom', CHART, ...flags], '', environment());
    const deployment = `/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments/headroom-worker`;
    expect(await admin.ask('GET', deployment)).toMatchObject({
      object: { metadata: { labels: { 'app.kubernetes.io/managed-by': 'Helm' } } },
    });
  });
});

async function helm(args: readonly string[], values?: ChartValues): Promise<string> {
  const given = values === undefined ? [] : ['--values', '-'];
  return await runHelm([...args, '--namespace', NAMESPACE, ...given], JSON.stringify(values ?? {}), environment());
}

function environment(): NodeJS.ProcessEnv {
  return { HOME: home, KUBECACHEDIR: home, KUBECONFIG: plane.adminKubeconfig };
}

async function codesOf(paths: readonly string[]): Promise<readonly number[]> {
  const codes: number[] = [];
  for (const path of paths) codes.push((await admin.ask('GET', path)).code);
  return codes;
}

/** A label that the worker puts onto what it may write otherwise; without effect. */
async function marking() {
  return await worker.ask('PATCH', `${PAUSES}?dryRun=All`, MARKED, 'merge');
}

/** A Lease that is not the starter's; without effect. */
async function leaseOfStarter() {
  return await starter.ask('POST', `${LEASES}?dryRun=All`, { metadata: { name: 'state-c-d' }, spec: {} });
}

/** An approval that the worker writes in the name of Alice; without effect. */
async function forged() {
  const annotations = { 'resizer.io/approved-by': 'alice', 'resizer.io/approval': '{}' };
  return await worker.ask('POST', `${LEASES}?dryRun=All`, { metadata: { name: 'forged', annotations }, spec: {} });
}
