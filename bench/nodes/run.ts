import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api, type V1Node } from '@kubernetes/client-node';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { accessOf } from '../../test/kernel/stack/access.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { type ApiCalls, apiCalls } from '../usage-load/api-calls.ts';
import { type MachineUse, SpanMeter } from '../usage-load/span-meter.ts';
import { type HeadroomSide, type HistoryReport, historyReport, startHeadroomSide } from './headroom-side.ts';
import { BENCH_TYPES } from './instance-types.ts';
import { startKarpenterSide } from './karpenter-side.ts';
import { leastCost } from './optimum.ts';
import type { Side } from './side.ts';
import { type ScaleDownTimes, type ScaleUpTimes, scaleDownTimes, scaleUpTimes } from './timeline.ts';
import { type BenchPod, type Shape, workload } from './workload.ts';

export interface RunOptions {
  readonly pods: number;
  readonly shape: Shape;
  readonly seed: number;
  readonly log: (what: string) => void;
}

export interface SideReport {
  readonly name: string;
  readonly up: ScaleUpTimes;
  readonly down: ScaleDownTimes;
  /** Nodes by instance type when all pods run, and what they cost an hour in US dollars. */
  readonly nodes: Readonly<Record<string, number>>;
  readonly cost: number;
  /** From the first pod until the last node is gone. */
  readonly calls: readonly ApiCalls[];
  readonly machine: MachineUse;
}

export interface NodesReport {
  readonly pods: number;
  readonly shape: Shape;
  readonly seed: number;
  /** US dollars an hour that no placement can be cheaper than. */
  readonly leastCost: number;
  readonly headroom: SideReport;
  readonly karpenter: SideReport;
  /** What the scaling left in Temporal: up, and down. */
  readonly history: { readonly up: HistoryReport; readonly down: HistoryReport };
}

const NAMESPACE = 'bench-nodes';
/** Requests of this program's own that are under way at the same time. */
const AT_ONCE = 16;
/** What has started comes to rest, and what has scaled writes its last status; milliseconds. */
const REST_MS = 8_000;
/** Milliseconds for all pods to run, and for all nodes to go. */
const WITHIN_MS = 600_000;
const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';

/** Karpenter first, then Headroom, each with the machine to itself. */
export async function runNodes({ pods: count, shape, seed, log }: RunOptions): Promise<NodesReport> {
  const pods = workload(shape, count, seed);
  const karpenter = await withSide(await startKarpenterSide(log), async (side) => await measured(side, pods, log));
  const [headroom, history] = await withSide(await startHeadroomSide(log), async (side) => {
    const report = await measured(side, pods, log);
    return [report, await historyOf(side, report)] as const;
  });
  return {
    pods: count,
    shape,
    seed,
    leastCost: leastCost(pods),
    headroom: headroom.report,
    karpenter: karpenter.report,
    history,
  };
}

async function withSide<S extends Side, T>(side: S, work: (side: S) => Promise<T>): Promise<T> {
  try {
    return await work(side);
  } finally {
    await side.stop();
  }
}

interface Measured {
  readonly report: SideReport;
  /** Milliseconds since 1970. */
  readonly begin: number;
  readonly deleted: number;
  readonly end: number;
}

async function measured(side: Side, pods: readonly BenchPod[], log: RunOptions['log']): Promise<Measured> {
  const core = accessOf(side.plane.adminKubeconfig).makeApiClient(CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: NAMESPACE } } });
  await eventually('the service account is there', async () =>
    core.readNamespacedServiceAccount({ namespace: NAMESPACE, name: 'default' }),
  );
  await sleep(REST_MS);
  const meter = new SpanMeter(
    () => ({ ...side.pids, 'this program': process.pid }),
    () => Promise.resolve({}),
  );
  log(`${side.name}: ${pods.length} pods`);
  const begin = Date.now();
  const [{ nodes, deleted }, { machine }] = await meter.during(async () => await upAndDown(core, side, pods, log));
  meter.stop();
  const events = await side.plane.auditEvents();
  const end = Date.now();
  const report: SideReport = {
    name: side.name,
    up: scaleUpTimes(events, side, NAMESPACE),
    down: scaleDownTimes(events, side, { namespace: NAMESPACE, from: deleted }),
    ...costOf(nodes),
    calls: apiCalls(events, { from: begin, to: end, users: side.users }),
    machine,
  };
  return { report, begin, deleted, end };
}

async function upAndDown(
  core: CoreV1Api,
  { name }: Side,
  pods: readonly BenchPod[],
  log: RunOptions['log'],
): Promise<{ readonly nodes: readonly V1Node[]; readonly deleted: number }> {
  const namespace = NAMESPACE;
  await inParallel(AT_ONCE, pods, async ({ body }) => await core.createNamespacedPod({ namespace, body }));
  const waiting = { namespace, fieldSelector: 'status.phase!=Running', limit: 1 };
  await eventually(
    `${name}: all pods run`,
    async () => (await core.listNamespacedPod(waiting)).items.length === 0,
    WITHIN_MS,
  );
  log(`${name}: all pods run`);
  await sleep(REST_MS);
  const { items: nodes } = await core.listNode();
  const deleted = Date.now();
  await core.deleteCollectionNamespacedPod({ namespace });
  await eventually(
    `${name}: all nodes are gone`,
    async () => (await core.listNode({ limit: 1 })).items.length === 0,
    WITHIN_MS,
  );
  log(`${name}: all nodes are gone`);
  await sleep(REST_MS);
  return { nodes, deleted };
}

function costOf(nodes: readonly V1Node[]): Pick<SideReport, 'nodes' | 'cost'> {
  const byType: Record<string, number> = {};
  for (const { metadata } of nodes) {
    const type = metadata?.labels?.[INSTANCE_TYPE] ?? 'unknown';
    byType[type] = (byType[type] ?? 0) + 1;
  }
  const cost = Object.entries(byType).reduce((sum, [type, count]) => {
    const price = BENCH_TYPES.find(({ id }) => id === type)?.pricePerHour;
    if (price === undefined) throw new Error(`a node is of the type ${type}, which has no price`);
    return sum + price * count;
  }, 0);
  return { nodes: byType, cost };
}

async function historyOf({ client }: HeadroomSide, { begin, deleted, end }: Measured): Promise<NodesReport['history']> {
  return {
    up: await historyReport(client, { from: begin, to: deleted }),
    down: await historyReport(client, { from: deleted, to: end }),
  };
}
