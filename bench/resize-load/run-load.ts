import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import type { WriteExchange } from '../../test/kernel/forge/http/write-log.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { type Stack, startStack } from '../../test/kernel/stack/stack.ts';
import { counted, createQuota, quotaManifest, WatchedQuota } from '../../test/kernel/stack/watched-quota.ts';
import { createDeployment } from '../../test/kernel/stack/workloads.ts';
import { generateCheckout } from '../../test/layouts/generate.ts';
import { compiledAsInAPod } from '../compiled-as-in-a-pod.ts';
import { historiesOf, shareOf } from '../lights-out-load/history.ts';
import { apiCalls } from '../usage-load/api-calls.ts';
import { sampleMachine } from '../usage-load/processes.ts';
import { type MachineUse, SpanMeter } from '../usage-load/span-meter.ts';
import { totalActions } from '../usage-load/temporal-actions.ts';
import { DenialsWatch } from './denials-watch.ts';
import type { BenchRow } from './rows.ts';

export interface RunOptions {
  /** Pull requests that are opened one after the other. */
  readonly rounds: number;
  /** Namespaces that are refused at once. */
  readonly burst: number;
  /** Namespaces of the large repository that are refused at once. */
  readonly repositoryBurst: number;
  /** Which parts are run. */
  readonly parts: readonly Part[];
  /** A folder for CPU profiles of worker and starter; null: none are made, which cost time themselves. */
  readonly profile: string | null;
  readonly log: (what: string) => void;
}

export const allParts = ['latency-0', 'latency-150', 'burst', 'repository'] as const;
export type Part = (typeof allParts)[number];

const CLUSTER = 'test';
const QUOTA = 'compute';
/** Four pods of 500m fit, and six are wanted. */
const HARD = { 'requests.cpu': '2' };
const REPLICAS = 6;
const REQUESTS = { cpu: '500m' };
/** They need 3 CPUs, with room so that the threshold is not reached again at once. */
const WANTED = 'requests.cpu: "3800m"';

/** Quotas, and files in all, of the repository that a large organization has. */
const REPOSITORY = { quotas: 1_451, others: 20_000 };

/** The pull requests stay open: Headroom merges nothing by itself here. */
const SETTINGS = {
  HEADROOM_MODE: 'propose',
  'starter.hintsPerSecond': '1000',
};

/** Milliseconds within which the last pull request has to be there; then the run fails. */
const LONGEST_MS = 120_000;

/** Measures the resizer from the refusal of a pod to the open pull request, each at its effect. */
export async function resizeRows(options: RunOptions): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const part of options.parts) {
    options.log(part);
    rows.push(...(await PARTS[part](options)));
  }
  return rows;
}

const PARTS: Readonly<Record<Part, (options: RunOptions) => Promise<readonly BenchRow[]>>> = {
  'latency-0': async (options) => await latency(options, 0, 0.8),
  'latency-150': async (options) => await latency(options, 150, 1),
  burst,
  repository,
};

/** One refusal after the other, on a quiet machine. */
async function latency(options: RunOptions, latencyMs: number, limit: number): Promise<readonly BenchRow[]> {
  // The first warms connections and caches, and is no value of its own.
  const names = namespacesOf('late', options.rounds + 1);
  const stack = await start(options, { names, latencyMs });
  try {
    const spans: number[] = [];
    const requests: number[] = [];
    const run = await LoadRun.begin(stack);
    for (const name of names) {
      const before = stack.forge.requests;
      const opened = await run.refuse([name]);
      spans.push(opened[0] ?? Number.NaN);
      requests.push(run.requestsUntilOpen(name) - before);
      // The episode finishes what comes after the opening before the next one begins.
      await sleep(1_000);
    }
    const costs = await run.costs(names);
    run.end();
    const with_ = `GitHub at ${latencyMs} ms a call`;
    return [
      { name: `refused → open pull request, ${with_}`, unit: 's', values: spans.slice(1), limit },
      {
        name: `requests to GitHub until the pull request is open, ${with_}`,
        unit: 'requests',
        values: requests.slice(1),
        limit: null,
      },
      ...costs,
    ];
  } finally {
    await stack.stop();
  }
}

async function burst(options: RunOptions): Promise<readonly BenchRow[]> {
  const names = namespacesOf('burst', options.burst);
  const stack = await start(options, { names });
  try {
    return await atOnce(options, stack, names, { first: 1.5, last: 10, requests: null, worker: null, after: 350 });
  } finally {
    await stack.stop();
  }
}

/** A repository as large as real ones, of which the quotas have every layout. */
async function repository(options: RunOptions): Promise<readonly BenchRow[]> {
  const names = namespacesOf('repo', options.repositoryBurst);
  const { files } = generateCheckout(1, REPOSITORY);
  options.log(`the repository has ${Object.keys(files).length} files`);
  const stack = await start(options, { names, files });
  try {
    return await atOnce(options, stack, names, { first: null, last: 8, requests: 100, worker: 400, after: null });
  } finally {
    await stack.stop();
  }
}

interface Limits {
  readonly first: number | null;
  readonly last: number | null;
  readonly requests: number | null;
  /** MiB that the worker may take at most. */
  readonly worker: number | null;
  /** MiB that worker and starter may take together when the burst is over. */
  readonly after: number | null;
}

/** Milliseconds after the last pull request: both have come to rest, and collected their garbage. */
const REST_MS = 30_000;

async function atOnce(
  { log }: RunOptions,
  stack: Stack,
  names: readonly string[],
  limits: Limits,
): Promise<readonly BenchRow[]> {
  const run = await LoadRun.begin(stack);
  const before = stack.forge.requests;
  const spans = await run.refuse(names);
  const requests = stack.forge.requests - before;
  log(`${names.length} refused at once: ${spans.map((span) => span.toFixed(1)).join(' ')}`);
  const peaks = OURS.map((name) => run.machine?.processes[name]?.peakMiB ?? Number.NaN);
  const costs = await run.costs(names);
  await sleep(REST_MS);
  const after = await run.memory();
  run.end();
  const title = `${names.length} refused at once`;
  return [
    { name: `${title}: first pull request`, unit: 's', values: [Math.min(...spans)], limit: limits.first },
    { name: `${title}: last pull request`, unit: 's', values: [Math.max(...spans)], limit: limits.last },
    { name: `${title}: requests to GitHub`, unit: 'requests', values: [requests], limit: limits.requests },
    { name: `${title}: most memory of the worker`, unit: 'MiB', values: peaks.slice(0, 1), limit: limits.worker },
    { name: `${title}: most memory of worker and starter`, unit: 'MiB', values: [sum(peaks)], limit: null },
    {
      name: `${title}: memory of worker and starter ${REST_MS / 1000} s later`,
      unit: 'MiB',
      values: [sum(after)],
      limit: limits.after,
    },
    ...OURS.map((name, at) => ({ name: `  ${name}`, unit: 'MiB', values: after.slice(at, at + 1), limit: null })),
    ...costs,
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** The names of the worker and of the starter among the processes. */
const OURS = ['headroom worker', 'headroom starter'];

/** Refusals in a stack, and what they cost. */
class LoadRun {
  readonly #stack: Stack;
  readonly #denials: DenialsWatch;
  readonly #meter: SpanMeter;
  readonly #from = Date.now();
  machine: MachineUse | null = null;

  private constructor(stack: Stack, denials: DenialsWatch) {
    this.#stack = stack;
    this.#denials = denials;
    this.#meter = new SpanMeter(
      () => this.#pids(),
      () => Promise.resolve({}),
    );
  }

  static async begin(stack: Stack): Promise<LoadRun> {
    return new LoadRun(stack, await DenialsWatch.start(stack.controlPlane.adminKubeconfig));
  }

  /** Deploys more than fits into each namespace, and returns after how many seconds each has its pull request. */
  async refuse(namespaces: readonly string[]): Promise<readonly number[]> {
    const { forge, apps } = this.#stack;
    const [opened, span] = await this.#meter.during(async () => {
      await inParallel(16, namespaces, async (namespace) => {
        await createDeployment(apps, { namespace, name: 'web', replicas: REPLICAS, requests: REQUESTS });
      });
      await eventually(
        () => `${namespaces.length} namespaces have a pull request, and not just ${this.#opened(namespaces).length}`,
        () => this.#opened(namespaces).length === namespaces.length,
        LONGEST_MS,
      );
      return this.#opened(namespaces);
    });
    this.machine = span.machine;
    const refusals = namespaces.map((namespace) => this.#denials.of(namespace) ?? Number.NaN);
    const from = Math.min(...refusals);
    for (const [namespace, { branch = '' }] of opened) {
      const text = (await forge.readFile(branch, pathOf(namespace))) ?? '';
      const commits = forge.writes.filter((write) => write.branch === branch && isCommit(write));
      if (!text.includes(WANTED) || commits.length !== 1) {
        throw new Error(`${namespace} has ${commits.length} commits, and this file:\n${text}`);
      }
    }
    return opened.map(([, { at }]) => (Date.parse(at) - from) / 1000);
  }

  /** All requests to the forge before it answered that the pull request is open: the next ones come at once. */
  requestsUntilOpen(namespace: string): number {
    const openedAt = this.#opened([namespace]).map(([, { at }]) => Date.parse(at));
    return this.#stack.forge.requestTimes.filter((time) => time <= Math.min(...openedAt)).length;
  }

  /** MiB that the worker and the starter take now. */
  async memory(): Promise<readonly number[]> {
    const { processes } = await sampleMachine(this.#pids());
    return OURS.map((name) => processes[name]?.rssMiB ?? Number.NaN);
  }

  /** What one of these episodes cost until its pull request was open. */
  async costs(namespaces: readonly string[]): Promise<readonly BenchRow[]> {
    const users = ['headroom-worker'];
    const calls = apiCalls(await this.#stack.controlPlane.auditEvents(), { from: this.#from, to: Date.now(), users });
    const asked = calls.reduce((sum, { count }) => sum + count, 0) / namespaces.length;
    const opened = new Map(this.#opened(namespaces));
    const episodes = await Promise.all(
      namespaces.map(async (namespace) => {
        const histories = await historiesOf(
          this.#stack.client,
          quotaResizeId({ cluster: CLUSTER, namespace, quota: QUOTA }),
        );
        const to = Date.parse(opened.get(namespace)?.at ?? '') + 500;
        const { actions, activities, events } = shareOf(histories, { from: 0, to });
        const tasks = histories.flat().filter(({ type, at }) => type === 'workflowTaskCompleted' && at < to).length;
        return {
          actions: totalActions(actions),
          events,
          tasks,
          activities: Object.values(activities).reduce((sum, count) => sum + count, 0),
        };
      }),
    );
    const row = (name: string, unit: string, values: readonly number[]): BenchRow => ({
      name: `  ${name}`,
      unit,
      values,
      limit: null,
    });
    const cpu = Object.entries(this.machine?.processes ?? {}).map(([name, { cpuSeconds, peakMiB }]) =>
      row(`${name} (at most ${peakMiB} MiB)`, 'CPU s', [cpuSeconds]),
    );
    return [
      row(
        'Temporal actions of an episode',
        'actions',
        episodes.map(({ actions }) => actions),
      ),
      row(
        'workflow tasks of an episode',
        'tasks',
        episodes.map(({ tasks }) => tasks),
      ),
      row(
        'activities of an episode',
        'calls',
        episodes.map(({ activities }) => activities),
      ),
      row(
        'history events of an episode',
        'events',
        episodes.map(({ events }) => events),
      ),
      row("the worker's requests to the API server for an episode", 'requests', [asked]),
      ...cpu,
    ];
  }

  end(): void {
    this.#denials.stop();
    this.#meter.stop();
  }

  /** The answer that opened the pull request of each of these namespaces that has one. */
  #opened(namespaces: readonly string[]): readonly (readonly [string, WriteExchange])[] {
    const opened = new Map<string, WriteExchange>();
    for (const write of this.#stack.forge.writes) {
      const [, , namespace = ''] = (write.branch ?? '').split('/');
      if (write.effect && isOpening(write) && !opened.has(namespace)) opened.set(namespace, write);
    }
    return namespaces.flatMap((namespace) => {
      const write = opened.get(namespace);
      return write === undefined ? [] : [[namespace, write] as const];
    });
  }

  #pids(): Readonly<Record<string, number>> {
    const { etcd, apiServer, controllerManager } = this.#stack.controlPlane.pids();
    const [worker, starter] = this.#stack.processes;
    return {
      'headroom worker': worker?.pid ?? 0,
      'headroom starter': starter?.pid ?? 0,
      temporal: this.#stack.temporal.pid(),
      'kube-apiserver': apiServer,
      'kube-controller-manager': controllerManager,
      etcd,
      'this program with the forge': process.pid,
    };
  }
}

function isOpening({ endpoint = '' }: WriteExchange): boolean {
  return endpoint === 'POST /repos/{owner}/{repo}/pulls' || endpoint.includes('createPullRequest');
}

function isCommit({ endpoint = '', effect }: WriteExchange): boolean {
  const commits = [
    'createCommitOnBranch',
    'POST /repos/{owner}/{repo}/git/commits',
    'PUT /repos/{owner}/{repo}/contents/',
  ];
  return effect && commits.some((commit) => endpoint.includes(commit));
}

function namespacesOf(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(3, '0')}`);
}

function pathOf(namespace: string): string {
  return `managed-resources/${CLUSTER}/${namespace}/${QUOTA}.yaml`;
}

function filesOf(namespaces: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    namespaces.map((namespace) => [pathOf(namespace), quotaManifest({ namespace, quota: QUOTA, hard: HARD })]),
  );
}

interface Given {
  readonly names: readonly string[];
  /** Besides those of the quotas. */
  readonly files?: Readonly<Record<string, string>>;
  readonly latencyMs?: number;
}

/** A Headroom with a quota in each namespace, counted by Kubernetes. */
async function start({ profile }: RunOptions, { names, files = {}, latencyMs = 0 }: Given): Promise<Stack> {
  const stack = await startStack({
    sync: false,
    cluster: CLUSTER,
    files: { ...files, ...filesOf(names) },
    forge: { latencyMs, validate: false },
    env: {
      ...SETTINGS,
      ...(await compiledAsInAPod()),
      ...(profile === null ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(profile)}` }),
    },
    ownServers: true,
    workers: 0,
    starters: 0,
  });
  // In the order in which they are measured.
  await stack.startWorker();
  await stack.startStarter();
  await inParallel(8, names, async (namespace) => {
    await stack.core.createNamespace({ body: { metadata: { name: namespace } } });
    await createQuota(stack, { namespace, quota: QUOTA, hard: HARD });
    await counted(new WatchedQuota(stack, namespace, QUOTA));
  });
  return stack;
}
