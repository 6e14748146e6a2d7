/** Headroom with one NodeGroup for each instance type, on a control plane of its own. */
import type { Client } from '@temporalio/client';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { nodeGroupId } from '../../domain/node-group/target.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { CLUSTER, STARTER_USER } from '../../test/kernel/stack/headroom-plane.ts';
import { type GroupObject, NodeGroupCluster, startNodeGroupPlane } from '../../test/node-group/headroom/cluster.ts';
import { readEvent } from '../usage-load/temporal-runs.ts';
import { BENCH_TYPES, headroomTypes } from './instance-types.ts';
import type { Side } from './side.ts';

export interface HeadroomSide extends Side {
  readonly client: Client;
}

const MOST_NODES = 1000;
const AT_ONCE = 8;
/** Dozens of groups read their instance types, each by a workflow of its own; milliseconds. */
const LEARNED_MS = 180_000;

/** @throws Error when a server does not start, or the groups do not learn their instance types. */
export async function startHeadroomSide(log: (what: string) => void): Promise<HeadroomSide> {
  log("starting Headroom's control plane");
  const plane = await startNodeGroupPlane({ ownServers: true });
  try {
    const cluster = new NodeGroupCluster(plane);
    await cluster.defineTypes(headroomTypes());
    const [worker, starter] = await Promise.all([plane.startWorker(), plane.startStarter()]);
    await inParallel(AT_ONCE, BENCH_TYPES, async ({ id }) => {
      await cluster.createGroup(id, { offeringIDs: [id], maxNodes: MOST_NODES, expander: 'price' });
    });
    log('the groups learn their instance types');
    for (const { id } of BENCH_TYPES) {
      await eventually(`${id} knows its instance type`, async () => knowsItsType(await cluster.group(id)), LEARNED_MS);
    }
    return {
      name: 'Headroom',
      users: ['headroom-worker', STARTER_USER],
      claims: 'vpsienodes',
      plane: plane.plane,
      pids: { 'headroom worker': worker.pid, 'headroom starter': starter.pid },
      client: plane.client,
      stop: async () => await plane.stop(),
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

function knowsItsType({ status }: GroupObject & { status?: { instanceTypes?: readonly unknown[] } }): boolean {
  return (status?.instanceTypes ?? []).length > 0;
}

/** What a part of the run left in Temporal. */
export interface HistoryReport {
  /** Groups whose history has grown, and by how many events those together and the one with most. */
  readonly groups: number;
  readonly events: number;
  readonly most: number;
  /** Groups that asked for nodes, and by how many events the history of the one with most has grown. */
  readonly scaled: number;
  readonly mostOfScaled: number;
  readonly drains: number;
  /** Bytes of the largest observation of a group. */
  readonly largestObservation: number;
}

/** Reads the histories of all groups between two moments (milliseconds since 1970). */
export async function historyReport(
  client: Client,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<HistoryReport> {
  const grown = await inParallel(AT_ONCE, BENCH_TYPES, async ({ id }) => {
    const workflowId = nodeGroupId({ cluster: CLUSTER, group: id });
    const runs: string[] = [];
    for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) runs.push(runId);
    const parts = await inParallel(
      AT_ONCE,
      runs,
      async (runId) => await growth(client, { workflowId, runId, from, to }),
    );
    return {
      events: parts.reduce((sum, { events }) => sum + events, 0),
      hasScaled: parts.some(({ hasScaled }) => hasScaled),
      observation: Math.max(0, ...parts.map(({ observation }) => observation)),
    };
  });
  const scaled = grown.filter(({ hasScaled }) => hasScaled);
  const between = `StartTime >= '${new Date(from).toISOString()}' AND StartTime <= '${new Date(to).toISOString()}'`;
  return {
    groups: grown.filter(({ events }) => events > 0).length,
    events: grown.reduce((sum, { events }) => sum + events, 0),
    most: Math.max(...grown.map(({ events }) => events)),
    scaled: scaled.length,
    mostOfScaled: Math.max(0, ...scaled.map(({ events }) => events)),
    drains: (await client.workflow.count(`WorkflowType = 'nodeDrain' AND ${between}`)).count,
    largestObservation: Math.max(...grown.map(({ observation }) => observation)),
  };
}

async function growth(
  client: Client,
  run: { readonly workflowId: string; readonly runId: string; readonly from: number; readonly to: number },
): Promise<{ readonly events: number; readonly hasScaled: boolean; readonly observation: number }> {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory();
  const observed = new Set<number>();
  let [count, observation, hasScaled] = [0, 0, false];
  for (const raw of events ?? []) {
    const { id, at, activity } = readEvent(raw);
    if (activity === 'observeNodeGroup') observed.add(id);
    if (at < run.from || at > run.to) continue;
    count += 1;
    hasScaled ||= activity === 'ensureScaledUp';
    const completed = raw.activityTaskCompletedEventAttributes;
    if (completed == null || !observed.has(Number(completed.scheduledEventId))) continue;
    const payloads = completed.result?.payloads ?? [];
    const bytes = payloads.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
    observation = Math.max(observation, bytes);
  }
  return { events: count, hasScaled, observation };
}
