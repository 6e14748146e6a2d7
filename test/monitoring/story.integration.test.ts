/**
 * Prometheus scrapes a worker and a starter of every controller while something happens to each of them. Each panel and each alert
 * says what the story made true, and nothing of what was deleted.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CustomObjectsApi } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { forDashboard, forRule } from '../../domain/kernel/monitoring/query.ts';
import type { RuleGroup } from '../../tools/monitoring/rules.ts';
import { sections } from '../../tools/monitoring/sections.ts';
import { rendered } from '../deploy/rendered.ts';
import { freePort } from '../kernel/servers/free-port.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { applyObjects, readManifests } from '../kernel/stack/manifests.ts';
import { EVERYTHING } from '../kernel/stack/chart.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickSettings } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { createQuota, givenQuota } from '../kernel/stack/watched-quota.ts';
import { DOWN, LightsOutCluster, merge } from '../lights-out/cluster.ts';
import { MemcachedCluster } from '../memcached/cluster.ts';
import { NodeGroupCluster } from '../node-group/headroom/cluster.ts';
import { startNodePlane } from '../node-group/plane.ts';
import { type Prometheus, type Sample, startPrometheus } from './prometheus.ts';

/** A story of every controller: servers, a node and a pull request take a minute each on a machine whose cores are all busy. */
const STORY_MS = 600_000;
const VALUES = {
  config: { ...EVERYTHING.config, quotaUsage: { mode: 'audit' } },
  rights: { kwokNodes: true },
} as const;
const SECRET = 'the-secret-of-the-hook';
/** Bytes of memory, and seconds of lag, that no process of Headroom has. */
const OTHERS = 1e15;

let stack: Stack;
let prometheus: Prometheus;
let lightsOut: LightsOutCluster;
let memcached: MemcachedCluster;
let nodes: NodeGroupCluster;
let groups: readonly RuleGroup[];
let other: Server | undefined;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    startPlane: startNodePlane,
    values: VALUES,
    workers: 0,
    starters: 0,
    env: {
      ...quickSettings,
      HEADROOM_MODE: 'propose',
      HEADROOM_USAGE_MODE: 'audit',
      'quotaUsage.auditAfter': '1s',
      HEADROOM_LIGHTS_OUT: 'true',
      HEADROOM_MEMCACHED: 'true',
      HEADROOM_NODE_GROUPS: 'true',
      HEADROOM_NODE_GROUPS_MODE: 'act',
    },
  });
  for (const name of ['lights-out', 'memcached', 'node-group']) {
    const file = new URL(`../../deploy/chart-crds/definitions/${name}.yaml`, import.meta.url);
    await applyObjects(stack.controlPlane.adminKubeconfig, readManifests(await readFile(file, 'utf8')));
  }
  const plane = { ...stack, plane: stack.controlPlane };
  lightsOut = new LightsOutCluster(plane);
  memcached = new MemcachedCluster(plane);
  nodes = new NodeGroupCluster(plane);
  await untilDefined();
  const port = await freePort();
  await memcached.askBefore(['cache'], `https://127.0.0.1:${port}`);
  await nodes.defineTypes([{ id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 }]);
  const [worker, starter] = await Promise.all([
    stack.startWorker(),
    stack.startStarter({
      GITHUB_WEBHOOKS: 'true',
      GITHUB_WEBHOOK_SECRET: SECRET,
      HEADROOM_MEMCACHED_WEBHOOK_ADDRESS: `127.0.0.1:${port}`,
      'memcached.webhookHost': '127.0.0.1',
    }),
  ]);
  const chart = await rendered({ ...VALUES, monitoring: { podMonitor: { enabled: true }, rules: { enabled: true } } });
  const specOf = (kind: string) => chart.find((object) => object.kind === kind)?.['spec'] as Record<string, unknown>;
  ({ groups } = specOf('PrometheusRule') as { readonly groups: readonly RuleGroup[] });
  const [endpoint] = specOf('PodMonitor')['podMetricsEndpoints'] as readonly { readonly honorLabels: boolean }[];
  prometheus = await startPrometheus({
    dir: stack.dir,
    targets: [
      { address: await metricsAddress(worker), pod: 'headroom-worker-0', container: 'worker' },
      { address: await metricsAddress(starter), pod: 'headroom-starter-0', container: 'starter' },
      { address: await serveOtherProgram(), pod: 'shop-0', container: 'shop' },
    ],
    honorLabels: endpoint?.honorLabels === true,
    namespace: SYSTEM_NAMESPACE,
    groups,
  });
  await tellStory(starter);
}, STORY_MS);
afterAll(async () => {
  await prometheus?.stop();
  other?.close();
  await stack?.stop();
});

async function untilDefined(): Promise<void> {
  const custom = accessOf(stack.controlPlane.adminKubeconfig).makeApiClient(CustomObjectsApi);
  for (const [group, version, plural] of [
    ['lightsout.techsupport.mk', 'v1alpha1', 'lightsoutschedules'],
    ['memcached.c5c3.io', 'v1beta1', 'memcacheds'],
    ['autoscaler.vpsie.com', 'v1alpha1', 'nodegroups'],
  ] as const) {
    await eventually(`${plural} are served`, async () => {
      await custom.listClusterCustomObject({ group, version, plural });
      return true;
    });
  }
}

async function metricsAddress({ logFile }: SupervisedProcess): Promise<string> {
  const [, address = ''] = /"metrics":"http:\/\/([^"/]+)/.exec(await readFile(logFile, 'utf8')) ?? [];
  return address;
}

async function urlIn({ logFile }: SupervisedProcess, message: string): Promise<string> {
  return await eventually(`the log has the address of "${message}"`, async () => {
    const line = (await readFile(logFile, 'utf8')).split('\n').find((text) => text.includes(message));
    return line === undefined ? null : (/"url":"([^"]+)"/.exec(line)?.[1] ?? null);
  });
}

/** A program of somebody else for Node, in the same cluster, which is far larger and slower. */
async function serveOtherProgram(): Promise<string> {
  const metrics = `process_resident_memory_bytes{cluster="test"} ${OTHERS}\nnodejs_eventloop_lag_p99_seconds{cluster="test"} ${OTHERS}\n`;
  other = createServer((_, response) => response.setHeader('content-type', 'text/plain; version=0.0.4').end(metrics));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  return `127.0.0.1:${(other.address() as AddressInfo).port}`;
}

async function tellStory(starter: SupervisedProcess): Promise<void> {
  // Eight of ten pods in each; a node comes for those that none has a place for.
  await nodes.createGroup('pool', { offeringIDs: ['small'], maxNodes: 3 });
  const reviewed = await givenQuota(stack, { namespace: 'reviewed', hard: { pods: '10' } });
  const asked = await givenQuota(stack, {
    namespace: 'asked',
    hard: { pods: '10' },
    annotations: { 'resizer.io/approval': 'before-pull-request' },
  });
  const lost = await givenQuota(stack, { namespace: 'lost', hard: { pods: '10' }, file: null });
  for (const quota of [reviewed, asked, lost]) await quota.deploy('web', 8, { cpu: '10m' });
  // Nobody counts Secrets here, and somebody wrote a number that is not so.
  await stack.core.createNamespace({ body: { metadata: { name: 'counted' } } });
  await createQuota(stack, { namespace: 'counted', quota: 'secrets', hard: { secrets: '5' } });
  await createQuota(stack, { namespace: 'counted', quota: 'wrong', hard: { services: '5' } });
  await writeWrongStatus('counted', 'wrong');

  await lightsOut.namespace('night', { env: 'dev' });
  await lightsOut.deployment('night', 'web', 3);
  await lightsOut.schedule('night', { ...DOWN, namespaceSelector: { matchLabels: { env: 'dev' } } });
  await stack.core.createNamespace({ body: { metadata: { name: 'cache' } } });
  await eventually('the webhooks have a certificate, and let the Memcached in', async () => {
    await memcached.createIn('cache', { replicas: 2, image: 'memcached:1.6.18' });
    return true;
  });

  await reviewed.reaches('AwaitingMerge', 'AutoMergeOff', STORY_MS);
  await asked.reaches('AwaitingApproval', 'ApprovalRequired', STORY_MS);
  await lost.reaches('Blocked', 'FileNotFound', STORY_MS);
  await lightsOut.reaches('night', 'Down', 'AsScheduled');
  await nodes.untilReady('pool', 1);
  await eventually('both pods of the cache are ready', async () => {
    return (await memcached.read('cache')).status?.readyReplicas === 2;
  });
  // Nobody else knows the secret.
  const hook = await urlIn(starter, "the starter takes GitHub's webhooks");
  const refused = await fetch(hook, { method: 'POST', headers: { 'x-github-event': 'push' }, body: '{}' });
  expect(refused.status).toBe(401);
  await eventually('the starter has found what waits', async () => {
    const reasons = (await prometheus.query('headroom_workflows_waiting')).map(({ labels }) => labels['reason']);
    return ['AutoMergeOff', 'ApprovalRequired', 'FileNotFound'].every((reason) => reasons.includes(reason));
  });
  await eventually('the audit has told the wrong status', async () => {
    return (await prometheus.query('headroom_usage_wrong_resources > 0')).length > 0;
  });
}

/** Kubernetes' own controller counts it again at its next resync, after five minutes. */
async function writeWrongStatus(namespace: string, name: string): Promise<void> {
  await eventually('Kubernetes has counted it', async () => {
    return (await stack.core.readNamespacedResourceQuota({ namespace, name })).status?.used !== undefined;
  });
  const body = { status: { used: { services: '3' } } };
  await stack.core.patchNamespacedResourceQuotaStatus({ namespace, name, body }, merge);
}

/** What the lines of a panel say, by their names. */
async function linesOf(queries: readonly { readonly expr: string; readonly legend: string }[]) {
  const lines: Record<string, number> = {};
  for (const { expr, legend } of queries) {
    // The variable of the dashboard, where every cluster is looked at.
    for (const { labels, value } of await prometheus.query(forDashboard(expr).replaceAll('$cluster', '.*'))) {
      expect(labels['cluster']).toBe('test');
      lines[legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '')] = value;
    }
  }
  return lines;
}

const some: unknown = expect.any(Number);
const own: unknown = expect.toSatisfy((value: number) => value > 0 && value < OTHERS);
const having = (lines: Readonly<Record<string, unknown>>): unknown => expect.objectContaining(lines);
const seconds = (atMost = STORY_MS / 1000): unknown =>
  expect.toSatisfy((value: number) => value >= 0 && value <= atMost, `0 to ${atMost}`);
const positive: unknown = expect.toSatisfy((value: number) => value > 0, 'more than 0');

/** What the story makes true of each panel, by its title: all of its lines, or some of them. */
const SHOWN: Readonly<Record<string, unknown>> = {
  // What waits for people.
  'Approvals waiting': { 'quota-resize': 1 },
  'Blocked, by reason': { 'quota-resize FileNotFound': 1 },
  'Waiting for people or limits': {
    'quota-resize AwaitingMerge AutoMergeOff': 1,
    'quota-resize AwaitingApproval ApprovalRequired': 1,
    'quota-resize Blocked FileNotFound': 1,
  },
  'Longest wait': {
    'quota-resize AwaitingMerge AutoMergeOff': seconds(),
    'quota-resize AwaitingApproval ApprovalRequired': seconds(),
    'quota-resize Blocked FileNotFound': seconds(),
  },
  // Every process.
  'Controllers without a process': {},
  'Phases entered in an hour': having({
    'quota-resize AwaitingMerge AutoMergeOff': 1,
    'lights-out Down AsScheduled': 1,
  }),
  'Reconcile requests': having({ pressure: some, schedule: some, memcached: some, 'node-group': some }),
  'Reconcile requests that wait': { waiting: seconds(1_000) },
  'Broken watches': having({ resourcequotas: 0, leases: 0, namespaces: 0 }),
  'Admission reviews': having({ 'headroom-memcached CREATE allowed=true': some }),
  'Certificates of the webhooks': { 'headroom-memcached': positive },
  'Wait for a worker': having({ workflows: some, 'headroom/test/quota-resize': some }),
  // Activities that poll fail until there is something, and are not counted.
  'Failed tasks and attempts': having({}),
  'Free slots of the workers': having({ 'WorkflowWorker headroom/test': positive }),
  Memory: { starter: own },
  'Workflows in memory': { workflows: positive },
  'Lag of the event loop': { starter: own },
  // Quotas.
  'Open pull requests': { open: 1 },
  'Age of open pull requests': { 'reviewed/compute': seconds() },
  'Oldest need unserved': { oldest: seconds() },
  'Needs unserved': { 'reviewed/compute': seconds(), 'asked/compute': seconds(), 'lost/compute': seconds() },
  // Nothing is decided of a quota that is nowhere in Git.
  'Unmet demand': { 'reviewed/compute pods': 2, 'asked/compute pods': 2 },
  'Blocked quotas, by reason': { FileNotFound: 1 },
  'Phases of quotas entered in an hour': having({
    'AwaitingApproval ApprovalRequired': 1,
    'Blocked FileNotFound': positive,
  }),
  'Webhooks of GitHub': having({ 'push unsigned': some }),
  'Quotas that webhooks wake': { quotas: 1 },
  // Writes to GitHub.
  'Permits asked for in an hour': expect.toSatisfy(
    (lines: Record<string, number>) => Object.keys(lines).some((line) => line.endsWith('granted=true')),
    'granted permits',
  ),
  'Writes that wait for a permit': {},
  // Usage.
  'Wrong numbers': { 'counted/wrong': 1 },
  'Quota statuses that are wrong': { numbers: 1 },
  'Numbers that cannot be counted': { 'counted/secrets': 1 },
  // In mode own only: a quantile of nothing is no number, and no panel draws it.
  'How late a status is': { half: Number.NaN, '99 of 100': Number.NaN },
  'Writes of a status in an hour': {},
  'Changes and counts': having({ pods: some, counts: some }),
  'Owners of the writes': { owners: 0 },
  'Requests to episodes': having({ 'priority 3': some }),
  Counting: { 'resources watched': positive, 'namespaces waiting': some },
  // Schedules.
  'Up or down': { night: 0 },
  Ready: { night: 1 },
  'Next transition': { 'night upscale': positive, 'night downscale': positive },
  'Workloads in scope': having({ 'night Deployment': 1 }),
  'Replica-hours saved': { night: some },
  'Core-hours and GiB-hours saved': having({}),
  'Put to sleep and woken in an hour': { 'night downscale': 1 },
  'Workloads of batches in an hour': having({ 'night downscale success': 1, 'night downscale batches': 1 }),
  'Workloads that could not be written in an hour': {},
  'Duration of a transition': having({}),
  'Last observed': { night: seconds() },
  // Memcacheds.
  Pods: { 'cache/cache desired': 2, 'cache/cache ready': 2 },
  'Memcacheds with too few pods': {},
  Images: { 'cache/cache memcached:1.6.18': 1 },
  'Reconciles in an hour': having({ 'cache/cache success': positive }),
  'Duration of a reconcile': having({}),
  'Writes in an hour': having({ 'Deployment created': 1, 'Service created': 1 }),
  // Node groups.
  Nodes: { 'pool desired': 1, 'pool current': 1, 'pool ready': 1 },
  Bounds: { 'pool min': 0, 'pool max': 3 },
  'Pods that get no node': { pods: 0 },
  'Decisions in an hour': having({}),
  'Nodes that came and went in an hour': { 'pool asked for': 1 },
  'Why nodes stay': having({}),
  Drains: { 'pool resting': 0 },
  'How long a node takes': having({}),
};

/** The alerts whose expression is true in the story, with the labels of what it is true of. */
const TRUE_NOW: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  HeadroomBlocked: [{ cluster: 'test', controller: 'quota-resize', reason: 'FileNotFound' }],
  HeadroomWebhooksRejected: [{ cluster: 'test', outcome: 'unsigned' }],
  HeadroomQuotaStatusWrong: [{ cluster: 'test', namespace: 'counted', quota: 'wrong' }],
};

describe('in a story of every controller', () => {
  const panels = new Map(sections.flatMap(({ monitoring }) => monitoring.panels.map((panel) => [panel.title, panel])));

  it('something is told of each panel', () => {
    expect(Object.keys(SHOWN).toSorted()).toEqual([...panels.keys()].toSorted());
  });

  it.each([...panels.values()])('the panel "$title" shows what is so', async ({ title, queries }) => {
    let lines: Readonly<Record<string, number>> = {};
    const isAsTold = async (): Promise<boolean> => {
      lines = await linesOf(queries);
      try {
        expect(lines).toEqual(SHOWN[title]);
        return true;
      } catch {
        return false;
      }
    };
    // A gauge is as old as the last scrape, and what waits as the last look.
    await eventually(() => `it is shown: ${JSON.stringify(lines)}`, isAsTold, 30_000).catch(() => {});
    expect(lines).toEqual(SHOWN[title]);
  });

  it.each(sections.flatMap(({ monitoring }) => monitoring.alerts))(
    '$name is true of what it should be',
    async (alert) => {
      const found: readonly Sample[] = await prometheus.query(forRule(alert.expr));
      expect(found.map(({ labels }) => labels)).toEqual(TRUE_NOW[alert.name] ?? []);
    },
  );

  it('Prometheus evaluates each rule of the chart', async () => {
    const names = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    let health: Readonly<Record<string, string>> = {};
    await eventually(
      () => `all rules are well: ${JSON.stringify(health)}`,
      async () => {
        health = await prometheus.ruleHealth();
        return names.every((name) => health[name] === 'ok');
      },
    );
    expect(Object.keys(health).toSorted()).toEqual(names.toSorted());
  });

  it('every series of the processes is in the table, and has the cluster', async () => {
    const known = new Set(
      sections.flatMap(({ monitoring }) => Object.values(monitoring.metrics).map(({ name }) => name)),
    );
    const own = '{__name__=~"(headroom|lightsout|memcached_operator|vpsie)_.*"}';
    const names = (await prometheus.query(`count by (__name__) (${own})`)).map(
      ({ labels }) => labels['__name__'] ?? '',
    );
    expect(names.length).toBeGreaterThan(40);
    const unknown = names.filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, '')));
    expect(unknown).toEqual([]);
    const without = await prometheus.query('count by (__name__) ({job=~".+",__name__!~"up|scrape_.*",cluster=""})');
    expect(without.map(({ labels }) => labels['__name__'])).toEqual([]);
  });

  it('nothing is shown any more of what was deleted', { timeout: STORY_MS }, async () => {
    await lightsOut.deleteSchedule('night');
    await memcached.delete('cache');
    await stack.core.deleteNamespace({ name: 'reviewed' });
    await stack.core.deleteNamespacedResourceQuota({ namespace: 'counted', name: 'wrong' });
    const deleted = /\bnight\b|\bcache\/cache\b|\breviewed\/|\bcounted\/wrong\b/;
    let left: readonly string[] = [];
    await eventually(
      () => `no panel shows any of it: ${left.join(', ')}`,
      async () => {
        const all = [...panels.values()].map(async ({ title, queries }) =>
          Object.keys(await linesOf(queries)).map((line) => `${title}: ${line}`),
        );
        left = (await Promise.all(all)).flat().filter((line) => deleted.test(line));
        return left.length === 0;
      },
      STORY_MS,
    );
    expect(await linesOf(panels.get('Open pull requests')?.queries ?? [])).toEqual({ open: 0 });
  });
});
