import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { accessOf } from '../../test/kernel/stack/access.ts';
import { type HeadroomPlane, startHeadroomPlane } from '../../test/kernel/stack/headroom-plane.ts';
import { compiledAsInAPod } from '../compiled-as-in-a-pod.ts';
import type { BenchRow } from '../resize-load/rows.ts';
import { apiCalls } from '../usage-load/api-calls.ts';
import { type MachineUse, SpanMeter } from '../usage-load/span-meter.ts';

export interface RestOptions {
  /** Quotas of each cluster that is measured, one after the other. */
  readonly quotas: readonly number[];
  /** 1, or 2: the second one stands by. */
  readonly starters: number;
  /** How often so many seconds are measured. */
  readonly rounds: number;
  readonly seconds: number;
  readonly log: (what: string) => void;
}

/** From this many quotas on the limits are those of a large cluster. */
const LARGE = 10_000;
/** Seconds that V8 and the allocator get to give back what a start needed. */
const CALM_SECONDS = 30;
/** The limit of CPU is for so many seconds. */
const LIMIT_SECONDS = 30;
const LIMIT_CPU_SECONDS = 0.15;
const LIMIT_TOGETHER_MIB = 260;
const LIMIT_STARTER_MIB = 150;
/** Requests and histories at the same time. */
const AT_ONCE = 32;

const HARD = {
  'requests.cpu': '20',
  'requests.memory': '64Gi',
  'limits.cpu': '40',
  'limits.memory': '128Gi',
  pods: '100',
  services: '20',
  persistentvolumeclaims: '20',
  configmaps: '100',
};
const USED = {
  'requests.cpu': '4',
  'requests.memory': '16Gi',
  'limits.cpu': '8',
  'limits.memory': '32Gi',
  pods: '12',
  services: '3',
  persistentvolumeclaims: '2',
  configmaps: '7',
};

/** No forge is asked at rest; the worker has to know one. */
const SETTINGS = {
  GITHUB_API_URL: 'http://127.0.0.1:9',
  GITHUB_TOKEN: 'none',
  GITHUB_OWNER: 'acme',
  GITHUB_REPO: 'gitops',
  HEADROOM_MODE: 'propose',
};

/** What the processes take while nothing happens, in a cluster with so many quotas far below their limits. */
export async function restRows(options: RestOptions): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const quotas of options.quotas) rows.push(...(await atRest(quotas, options)));
  return rows;
}

async function atRest(quotas: number, { starters, rounds, seconds, log }: RestOptions): Promise<readonly BenchRow[]> {
  log(`${quotas} quotas`);
  const headroom = await startHeadroomPlane({
    env: SETTINGS,
    ownServers: true,
    // The statuses are written below, and nothing is to change them.
    controllerManagerFlags: ['--controllers=serviceaccount-controller,namespace-controller'],
  });
  try {
    await fill(headroom, quotas);
    const compiled = await compiledAsInAPod();
    log('starting worker and starter');
    const worker = await headroom.startWorker(compiled);
    const started = [await headroom.startStarter(compiled)];
    while (started.length < starters) started.push(await headroom.startStarter(compiled));
    const pids = {
      worker: worker.pid,
      ...Object.fromEntries(started.map(({ pid }, at) => [at === 0 ? 'starter' : `starter ${at + 1}`, pid])),
    };
    await sleep(CALM_SECONDS * 1000);
    const meter = new SpanMeter(
      () => pids,
      async () => await Promise.resolve({}),
    );
    const uses: MachineUse[] = [];
    const from = new Date();
    for (let round = 0; round < rounds; round += 1) {
      const [, { machine }] = await meter.during(async () => await sleep(seconds * 1000));
      uses.push(machine);
    }
    meter.stop();
    const to = new Date();
    const users = ['headroom-worker', 'headroom-starter'];
    const calls = apiCalls(await headroom.plane.auditEvents(), { from: from.getTime(), to: to.getTime(), users });
    for (const { user, verb, resource, count } of calls) log(`${user}: ${count} × ${verb} ${resource}`);
    const requests = calls.reduce((sum, { count }) => sum + count, 0) / rounds;
    return rowsOf({ quotas, starters, seconds, uses, requests, events: await eventsSince(headroom.client, from) });
  } finally {
    await headroom.stop();
  }
}

async function fill({ plane }: HeadroomPlane, quotas: number): Promise<void> {
  const core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
  const names = Array.from({ length: quotas }, (_, n) => `team-${n}`);
  await inParallel(AT_ONCE, names, async (namespace) => {
    await core.createNamespace({ body: { metadata: { name: namespace, labels: { team: namespace, env: 'prod' } } } });
    const body = { metadata: { name: 'compute' }, spec: { hard: HARD } };
    const made = await core.createNamespacedResourceQuota({ namespace, body });
    const status = { hard: HARD, used: USED };
    await core.replaceNamespacedResourceQuotaStatus({
      namespace,
      name: 'compute',
      body: Object.assign(made, { status }),
    });
  });
}

/** Events that any workflow's history has got since then: what is billed leaves one, or is an activity that goes on. */
async function eventsSince(client: Client, from: Date): Promise<number> {
  let events = 0;
  for await (const { workflowId, runId } of client.workflow.list()) {
    const handle = client.workflow.getHandle(workflowId, runId);
    const history = await handle.fetchHistory();
    const { raw } = await handle.describe();
    events += (history.events ?? []).filter(
      ({ eventTime }) => Number(eventTime?.seconds ?? 0) * 1000 >= from.getTime(),
    ).length;
    events += raw.pendingActivities?.length ?? 0;
  }
  return events;
}

interface Measured {
  readonly quotas: number;
  readonly starters: number;
  readonly seconds: number;
  readonly uses: readonly MachineUse[];
  readonly events: number;
  /** To the API server, in a round. */
  readonly requests: number;
}

function rowsOf({ quotas, starters, seconds, uses, events, requests }: Measured): readonly BenchRow[] {
  const at = `${quotas} quotas at rest, ${starters === 1 ? 'one starter' : `${starters} starters`}`;
  const isLarge = quotas >= LARGE;
  const names = Object.keys(uses[0]?.processes ?? {});
  const memory = (name: string): readonly number[] =>
    uses.map(({ processes }) => processes[name]?.rssMiB ?? Number.NaN);
  const cpu = (name: string): readonly number[] =>
    uses.map(({ processes }) => ((processes[name]?.cpuSeconds ?? Number.NaN) * LIMIT_SECONDS) / seconds);
  // A starter that stands by is no part of what one pair takes.
  const pair = ['worker', 'starter'];
  const together = (of: (name: string) => readonly number[]): readonly number[] =>
    uses.map((_, round) => pair.reduce((sum, name) => sum + (of(name)[round] ?? Number.NaN), 0));
  return [
    {
      name: `${at}: memory of worker and starter`,
      unit: 'MiB',
      values: together(memory),
      limit: isLarge ? null : LIMIT_TOGETHER_MIB,
    },
    ...names.map((name) => ({
      name: `${at}: memory of the ${name}`,
      unit: 'MiB',
      values: memory(name),
      limit: isLarge && name.startsWith('starter') ? LIMIT_STARTER_MIB : null,
    })),
    {
      name: `${at}: CPU of both in ${LIMIT_SECONDS} s`,
      unit: 'CPU s',
      values: together(cpu),
      limit: isLarge ? null : LIMIT_CPU_SECONDS,
    },
    ...names.map((name) => ({
      name: `${at}: CPU of the ${name} in ${LIMIT_SECONDS} s`,
      unit: 'CPU s',
      values: cpu(name),
      limit: null,
    })),
    { name: `${at}: requests to the API server in ${seconds} s`, unit: 'requests', values: [requests], limit: null },
    { name: `${at}: Temporal actions`, unit: 'actions', values: [events], limit: 0 },
  ];
}
