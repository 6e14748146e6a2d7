/** What kustomize installed of 0.1.0, taken over by the chart while objects of users are there, and run as it then is. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runHelm, SYSTEM_NAMESPACE } from '../../tools/manifests/render-chart.ts';
import { type ControlPlane, startControlPlane } from '../kernel/servers/control-plane.ts';
import { borrowTemporal } from '../kernel/servers/shared-temporal.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import type { TemporalServer } from '../kernel/servers/temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { launchProgram } from '../kernel/stack/launch-program.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';
import { type Api, openApi } from '../quota-usage/side-by-side/api.ts';
import { type Manifest, manifestsIn, rendered } from './rendered.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const OLD = 'manifests-of-0.1.0.yaml';
const CHART = path('../../deploy/chart');
const DEFINITIONS = path('../../deploy/chart-crds');
const PROCESSES = ['worker', 'starter'] as const;
const userOf = (process: string): string => `system:serviceaccount:${SYSTEM_NAMESPACE}:headroom-${process}`;
const SCHEDULES = '/apis/lightsout.techsupport.mk/v1alpha1/lightsoutschedules';
const LEASES = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM_NAMESPACE}/leases`;
const PAUSES = `/api/v1/namespaces/${SYSTEM_NAMESPACE}/configmaps/headroom-pauses`;
const DEPLOYMENTS = '/apis/apps/v1/namespaces/team-a/deployments';
const QUOTAS = '/api/v1/namespaces/team-a/resourcequotas';
/** What docs/upgrade.md deletes. Helm leaves what is in an object and not in the chart: variables of 0.1.0 would outrank the file. */
const GONE = [
  `/api/v1/namespaces/${SYSTEM_NAMESPACE}/services/headroom-webhooks`,
  `/apis/networking.k8s.io/v1/namespaces/${SYSTEM_NAMESPACE}/networkpolicies/headroom-webhooks`,
  `/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments/headroom-worker`,
  `/apis/apps/v1/namespaces/${SYSTEM_NAMESPACE}/deployments/headroom-starter`,
];
/** Nobody but Headroom writes the status of quotas. */
const NO_QUOTAS = '--controllers=*,-resourcequota-controller';

/** Asleep but for twelve hours of leap days. */
const NIGHTS = {
  apiVersion: 'lightsout.techsupport.mk/v1alpha1',
  kind: 'LightsOutSchedule',
  metadata: { name: 'nights' },
  spec: { upscale: '0 6 29 2 *', downscale: '0 18 * * *', namespaces: ['team-a'] },
};

let home: string;
let plane: ControlPlane;
let temporal: TemporalServer;
let admin: Api;
let objects: readonly Manifest[];
const started: SupervisedProcess[] = [];

/** What is installed, the same controllers as before. */
const valuesOf = (address: string) => ({
  config: {
    kubernetes: { clusterName: 'taken-over', writePolicy: 'required' },
    temporal: { address, namespace: temporal.namespace },
    quotaUsage: { mode: 'own' },
    lightsOut: { enabled: true },
  },
  webhooks: { certificates: 'none' },
});

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'headroom-takeover-'));
  const users = PROCESSES.map((process) => ({ name: userOf(process) }));
  [plane, temporal] = await Promise.all([
    startControlPlane({ users, controllerManagerFlags: [NO_QUOTAS] }),
    borrowTemporal(),
  ]);
  admin = openApi(plane.adminKubeconfig);
  await applyManifests(plane.adminKubeconfig, [path('../../deploy/chart-crds/definitions/lights-out.yaml'), path(OLD)]);
  await eventually('schedules are served', async () => (await admin.ask('GET', SCHEDULES)).code === 200);
  // The webhooks of 0.1.0 would be asked, and no pod of it runs here.
  for (const kind of ['mutating', 'validating']) {
    await admin.ask('DELETE', `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations/headroom-lights-out`);
  }
  await inFlight();
  for (const gone of GONE) expect(await admin.ask('DELETE', gone)).toMatchObject({ code: 200 });
  const values = JSON.stringify(valuesOf(temporal.address));
  const flags = ['--install', '--take-ownership', '--namespace', SYSTEM_NAMESPACE];
  await runHelm(['upgrade', 'headroom-crds', DEFINITIONS, ...flags], '', environment());
  await runHelm(['upgrade', 'headroom', CHART, ...flags, '--values', '-'], values, environment());
  objects = (await rendered(valuesOf(temporal.address))).filter(({ kind }) => kind !== 'Namespace');
});
afterAll(async () => {
  await Promise.all(started.map(async (process) => await process.stop()));
  admin?.close();
  await temporal?.stop();
  await plane?.stop();
  await rm(home, { recursive: true, force: true });
});

it('leaves what is in flight as it is', async () => {
  expect(await admin.ask('GET', `${SCHEDULES}/nights`)).toMatchObject({
    object: { spec: NIGHTS.spec },
  });
  expect(await admin.ask('GET', PAUSES)).toMatchObject({ object: { data: { 'namespace.team-b': '{}' } } });
  expect(await admin.ask('GET', `${LEASES}/state-a-b`)).toMatchObject({ code: 200 });
});

it('leaves no object of 0.1.0 to nobody', async () => {
  const idOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
  const now = (await rendered({ ...valuesOf(temporal.address), webhooks: { certificates: 'self' } })).map(idOf);
  const before = manifestsIn(await readFile(path(OLD), 'utf8')).map(idOf);
  const left = before.filter((id) => !now.includes(id));
  expect(left.toSorted()).toEqual(['NetworkPolicy headroom-webhooks', 'Service headroom-webhooks']);
  for (const gone of GONE.slice(0, 2)) expect(await admin.ask('GET', gone)).toMatchObject({ code: 404 });
});

it('leaves nothing of 0.1.0 in what the chart has as well', async () => {
  const left: string[] = [];
  for (const object of objects) {
    const answer = await admin.ask('GET', pathOf(object));
    expect({ path: pathOf(object), code: answer.code }).toMatchObject({ code: 200 });
    left.push(...namesLeft(object, answer.object as unknown as Manifest));
  }
  expect(left).toEqual([]);
});

it('runs worker and starter with the file of the chart, under its roles, and the policy of writes is proved', async () => {
  const file = join(home, 'headroom.yaml');
  const { data } = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'headroom') as {
    readonly data?: Readonly<Record<string, string>>;
  };
  await writeFile(file, data?.['headroom.yaml'] ?? '');
  for (const process of PROCESSES) {
    const env = {
      HEADROOM_CONFIG: file,
      KUBECONFIG: plane.kubeconfigFor(userOf(process)),
      HEALTH_ADDRESS: '127.0.0.1:0',
      METRICS_ADDRESS: '127.0.0.1:0',
    };
    const logFile = join(home, `${process}.log`);
    await launchProgram({ name: process, env, logFile, onStarted: (one) => started.push(one) });
  }
  await eventually('the workload sleeps', async () => {
    const { object } = await admin.ask('GET', `${DEPLOYMENTS}/web`);
    return (object.spec as { readonly replicas?: number } | undefined)?.replicas === 0;
  });
  await eventually('the quota is counted', async () => {
    const { object } = await admin.ask('GET', `${QUOTAS}/compute`);
    return object.status?.used !== undefined;
  });
  for (const process of PROCESSES) {
    expect(await readFile(join(home, `${process}.log`), 'utf8')).not.toContain('Forbidden');
  }
});

/** A schedule whose workload has to sleep, a quota to count, a pause and a memory. */
async function inFlight(): Promise<void> {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web' }] } };
  const made: readonly (readonly [string, object])[] = [
    ['/api/v1/namespaces', { metadata: { name: 'team-a' } }],
    [DEPLOYMENTS, { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } }],
    [QUOTAS, { metadata: { name: 'compute' }, spec: { hard: { configmaps: '5' } } }],
    [LEASES, { metadata: { name: 'state-a-b' }, spec: {} }],
    [SCHEDULES, NIGHTS],
  ];
  for (const [to, body] of made) expect(await admin.ask('POST', to, body)).toMatchObject({ code: 201, message: '' });
  const paused = await admin.ask('PATCH', PAUSES, { data: { 'namespace.team-b': '{}' } }, 'merge');
  expect(paused).toMatchObject({ code: 200 });
}

const PLURALS: Readonly<Record<string, string>> = {
  NetworkPolicy: 'networkpolicies',
  ValidatingAdmissionPolicy: 'validatingadmissionpolicies',
};

function pathOf({ apiVersion, kind, metadata: { name, namespace } }: Manifest): string {
  const group = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = PLURALS[kind] ?? `${kind.toLowerCase()}s`;
  return `${group}${namespace === undefined ? '' : `/namespaces/${namespace}`}/${plural}/${name}`;
}

/** The entries of lists of named things in the live object that the rendered one has not, such as variables of a container. */
function namesLeft(object: Manifest, live: Manifest): readonly string[] {
  const wanted = new Set(namesIn(object, ''));
  return namesIn(live, '')
    .filter((name) => !wanted.has(name))
    .map((name) => `${object.kind} ${object.metadata.name}${name}`);
}

function namesIn(value: unknown, at: string): readonly string[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: unknown) => {
      const { name } = (item ?? {}) as { readonly name?: unknown };
      return typeof name === 'string' ? [`${at} ${name}`, ...namesIn(item, `${at} ${name}`)] : namesIn(item, at);
    });
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'managedFields' ? [] : namesIn(inner, `${at}.${key}`),
  );
}

function environment(): NodeJS.ProcessEnv {
  return { HOME: home, KUBECACHEDIR: home, KUBECONFIG: plane.adminKubeconfig };
}
