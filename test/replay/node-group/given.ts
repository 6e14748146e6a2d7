/** Groups and nodes in the states in which scenarios begin. */
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import { claimPlan } from '../../../activities/node-group/machines/claim-plan.ts';
import { PLAN_LEASE, removalsOf } from '../../../domain/node-group/plan-claim.ts';
import { type DrainTarget, nodeDrainId, nodeGroupId } from '../../../domain/node-group/target.ts';
import { taskQueue } from '../../../domain/kernel/target.ts';
import type { nodeDrain, NodeDrainInput } from '../../../workflows/node-group/drain.ts';
import { drainStatus } from '../../../workflows/node-group/drain-messages.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import { SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import { type KwokType, merge, startNodeGroupPlane } from '../../node-group/headroom/cluster.ts';
import { started } from '../platforms.ts';
import type { Recorded, Started } from '../stages.ts';
import { RecordedCluster } from './cluster.ts';

/** What every drain and group has time for here, in milliseconds. */
const WITHIN_MS = 120_000;

export const TYPES: readonly KwokType[] = [
  { id: 'small', capacity: { cpu: '4', memory: '8Gi', pods: '110' }, pricePerHour: 0.1 },
  { id: 'medium', capacity: { cpu: '16', memory: '32Gi', pods: '110' }, pricePerHour: 0.4 },
];

/** A cluster with groups of kwok's machines. */
export async function withNodeGroups(): Promise<Started<RecordedCluster>> {
  const plane = await startNodeGroupPlane({ ownServers: true });
  const cluster = new RecordedCluster(plane);
  await cluster.defineTypes(TYPES);
  return await started(plane, () => cluster);
}

/** A group whose nodes take pods that select them, and no others. */
export async function group(
  cluster: RecordedCluster,
  name: string,
  spec: Readonly<Record<string, unknown>> = {},
): Promise<Recorded> {
  const own = { offeringIDs: ['small'], labels: { pool: name }, exclusive: true };
  await cluster.createGroup(name, { ...own, scaleUpPolicy: { stabilizationWindowSeconds: 0 }, ...spec });
  return await newestOf(cluster, name);
}

/** The newest execution of a group, by its first run. */
export async function newestOf(cluster: RecordedCluster, name: string): Promise<Recorded> {
  const { raw, runId } = await eventually('it runs', async () => await cluster.handle(name).describe(), WITHIN_MS);
  return {
    workflowId: nodeGroupId({ cluster: CLUSTER, group: name }),
    runId: raw.workflowExecutionInfo?.firstRunId ?? runId,
  };
}

/** Pods of 1 CPU that only nodes of the group take, in a namespace of its name. */
export async function pods(cluster: RecordedCluster, name: string, count: number): Promise<void> {
  await cluster.createPods(name, count, { nodeSelector: { pool: name } });
}

/** Somebody has acted on another plan. */
export async function actOnAnotherPlan({ coordination }: RecordedCluster): Promise<void> {
  const body = { metadata: { annotations: { 'example.com/acted': new Date().toISOString() } } };
  await coordination.patchNamespacedLease({ namespace: SYSTEM_NAMESPACE, name: PLAN_LEASE, body }, merge);
}

export async function stopStarter({ plane }: RecordedCluster): Promise<void> {
  const starters = plane.processes.filter(({ name }) => name === 'starter');
  await Promise.all(starters.map(async (process) => await process.stop()));
}

/** Pauses everything, until what this resolves to is called. */
export async function pauseEverything({ core }: RecordedCluster): Promise<() => Promise<void>> {
  const pause = { metadata: { name: 'headroom-pause' }, data: { by: 'alice', reason: 'an incident' } };
  await core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body: pause });
  return async () =>
    void (await core.deleteNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, name: 'headroom-pause' }));
}

/** Pauses a group as `headroom pause` does, until what this resolves to is called. */
export async function pauseGroup(cluster: RecordedCluster, name: string): Promise<() => Promise<void>> {
  const say = async (value: string | null): Promise<void> => {
    const body = { data: { [`target_node-group_${name}`]: value } };
    const map = { name: 'headroom-pauses', namespace: SYSTEM_NAMESPACE };
    await cluster.core.patchNamespacedConfigMap({ ...map, body }, merge);
  };
  await say('{"by":"alice","reason":"a migration","at":null}');
  return async () => await say(null);
}

/** A node with one pod, which a budget protects. */
export async function protectedNode(cluster: RecordedCluster, name: string): Promise<DrainTarget> {
  const target = await plainNode(cluster, name);
  await cluster.createPods(name, 1, { nodeName: target.node });
  await cluster.untilRunning(name, 1);
  const spec = { minAvailable: 1, selector: {} };
  await cluster.policy.createNamespacedPodDisruptionBudget({
    namespace: name,
    body: { metadata: { name: 'web' }, spec },
  });
  await eventually('the budget is observed', async () => {
    const { status } = await cluster.policy.readNamespacedPodDisruptionBudget({ namespace: name, name: 'web' });
    return (status?.observedGeneration ?? 0) > 0 && (status?.currentHealthy ?? 0) > 0;
  });
  return target;
}

/** A node of a group that has one. */
export async function plainNode(cluster: RecordedCluster, name: string): Promise<DrainTarget> {
  await group(cluster, name, { minNodes: 1 });
  const [node] = await cluster.untilReady(name, 1);
  await cluster.reaches(name, 'Steady');
  return { cluster: CLUSTER, group: name, node: node?.metadata?.name ?? '', uid: node?.metadata?.uid ?? '' };
}

/** The plan has the node drained: its group has claimed it. */
async function claim({ plane, coordination }: RecordedCluster, { cluster, group: of, uid }: DrainTarget) {
  const kubernetes = connectKubernetes(accessOf(plane.plane.adminKubeconfig));
  const guard = async (): Promise<void> => await Promise.resolve();
  const clock = new ServerClock();
  const options = {
    kubernetes,
    systemNamespace: SYSTEM_NAMESPACE,
    clock,
    guard,
    log: { warn: () => undefined },
  };
  await eventually(`the node ${uid} is claimed`, async () => {
    const { metadata } = await coordination.readNamespacedLease({ name: PLAN_LEASE, namespace: SYSTEM_NAMESPACE });
    const fence = { lease: metadata?.resourceVersion ?? '', plan: uid };
    const removals = { decision: removalsOf(fence, of), group: of, machines: {}, givenUp: [], removals: [uid] };
    return (await claimPlan(options, { cluster, group: of }, fence, removals, () => null)).claim !== null;
  });
}

/** Begins a drain, as the workflow of a group does. */
export async function drain(
  cluster: RecordedCluster,
  target: DrainTarget,
  more: Partial<NodeDrainInput> = {},
): Promise<Recorded> {
  const { plane } = cluster;
  if (more.undoesOnly !== true) await claim(cluster, target);
  const removal = { machine: target.node, reason: 'Requested', detail: 'alice asked for it' } as const;
  const workflowId = nodeDrainId(target);
  const handle = await plane.client.workflow.start<typeof nodeDrain>('nodeDrain', {
    workflowId,
    taskQueue: taskQueue(CLUSTER),
    args: [{ target, groupUid: 'uid-of-no-group', removal, ...more }],
  });
  return { workflowId, runId: handle.firstExecutionRunId };
}

export async function untilDrainShows({ plane }: RecordedCluster, workflowId: string, reason: string): Promise<void> {
  let seen = 'nothing';
  await eventually(
    () => `${workflowId} shows ${reason}: it shows ${seen}`,
    async () => {
      const shown = await plane.client.workflow.getHandle(workflowId).query(drainStatus);
      seen = `${shown.phase} (${shown.reason}): ${shown.detail}`;
      return shown.reason === reason;
    },
    WITHIN_MS,
  );
}

/** Until a workflow has ended by itself, in whichever run. */
export async function untilEnded({ plane }: RecordedCluster, workflowId: string): Promise<void> {
  await eventually(
    `${workflowId} has ended`,
    async () => (await plane.client.workflow.getHandle(workflowId).describe()).status.name === 'COMPLETED',
    WITHIN_MS,
  );
}
