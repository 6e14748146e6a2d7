/** Scenarios that change something for every group: what the provider has, who may act, and whether the plans are made. */
import { nodeDrainId } from '../../../domain/node-group/target.ts';
import { commandUpdates } from '../../../workflows/node-group/messages.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import { merge } from '../../node-group/headroom/cluster.ts';
import type { Recorded, Scenario } from '../stages.ts';
import type { RecordedCluster } from './cluster.ts';
import { untilAsked, whileNothingIsDone } from '../workflows-only.ts';
import {
  actOnAnotherPlan,
  drain,
  group,
  pauseEverything,
  pauseGroup,
  pods,
  protectedNode,
  stopStarter,
  TYPES,
  untilDrainShows,
  untilEnded,
} from './given.ts';

/**
 * A group of which a machine is asked for in vain, as the list of instance types cannot be read, while something happens of which
 * the starter tells nobody.
 */
async function whileAskedInVain(
  cluster: RecordedCluster,
  name: string,
  happens: () => Promise<() => Promise<void>>,
  reason: Parameters<RecordedCluster['reaches']>[2],
): Promise<Recorded> {
  const recorded = await group(cluster, name, {});
  await cluster.reaches(name, 'Steady');
  await cluster.setTypes('{ no list');
  try {
    await pods(cluster, name, 1);
    await eventually('its machine is asked for', async () => (await cluster.machines(name)).length === 1);
    await untilAsked(cluster.plane.client, recorded.workflowId, 'ensureScaledUp');
    await stopStarter(cluster);
    const end = await happens();
    await cluster.reaches(name, reason === 'WriteFailed' ? 'Blocked' : 'Paused', reason);
    await end();
  } finally {
    await cluster.setTypes(TYPES);
  }
  await cluster.plane.startStarter();
  await cluster.untilRunning(name, 1);
  await cluster.reaches(name, 'Steady');
  return recorded;
}

export const loneScenarios: Readonly<Record<string, Scenario<RecordedCluster>>> = {
  'machine-failed': async (cluster, name) => {
    const recorded = await group(cluster, name, {});
    await cluster.reaches(name, 'Steady');
    await cluster.setTypes([]);
    try {
      await pods(cluster, name, 1);
      await cluster.reaches(name, 'Blocked', 'BackingOff');
    } finally {
      await cluster.setTypes(TYPES);
    }
    await cluster.core.deleteNamespacedPod({ namespace: name, name: 'pod-0', gracePeriodSeconds: 0 });
    return recorded;
  },

  unhelped: async (cluster, name) => {
    const recorded = await group(cluster, name, {});
    await cluster.reaches(name, 'Steady', 'NothingToDo');
    const containers = [{ name: 'main', image: 'test/none:1', resources: { requests: { cpu: '40' } } }];
    await cluster.createPods(name, 1, { nodeSelector: { pool: name }, containers });
    await cluster.reaches(name, 'Steady', 'PodsUnhelped');
    await cluster.core.deleteNamespacedPod({ namespace: name, name: 'pod-0', gracePeriodSeconds: 0 });
    await cluster.reaches(name, 'Steady', 'NothingToDo');
    return recorded;
  },

  'paused-while-asking': async (cluster, name) =>
    await whileAskedInVain(cluster, name, async () => await pauseGroup(cluster, name), 'Paused'),

  'globally-paused': async (cluster, name) =>
    await whileAskedInVain(cluster, name, async () => await pauseEverything(cluster), 'GloballyPaused'),

  'taken-over': async (cluster, name) =>
    await whileAskedInVain(cluster, name, async () => await cluster.leadVpsieAutoscaler(), 'WriteFailed'),

  superseded: async (cluster, name) => {
    const recorded = await group(cluster, name, { minNodes: 1 });
    await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    const { client } = cluster.plane;
    await whileNothingIsDone(cluster.plane, async () => {
      await pods(cluster, name, 5);
      await untilAsked(client, recorded.workflowId, 'ensureScaledUp');
      await stopStarter(cluster);
      await untilAsked(client, recorded.workflowId, 'ensureScaledUp');
      await actOnAnotherPlan(cluster);
    });
    await cluster.plane.startStarter();
    await cluster.untilRunning(name, 5);
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  'replacement-superseded': async (cluster, name) => {
    const budgets = [{ nodes: '0', reasons: ['Requested'] }];
    const recorded = await group(cluster, name, { minNodes: 1, replaceBeforeDrain: true, budgets });
    const [node] = await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    const { client } = cluster.plane;
    const input = { by: 'alice', node: node?.metadata?.name ?? '' };
    await cluster.handle(name).executeUpdate(commandUpdates.drain, { args: [input] });
    await eventually('it is written down', async () => (await cluster.wishes(name)).length > 0, 60_000);
    await whileNothingIsDone(cluster.plane, async () => {
      await cluster.patchGroup(name, { spec: { budgets: [{ nodes: '100%' }] } });
      await untilAsked(client, recorded.workflowId, 'ensureScaledUp');
      await actOnAnotherPlan(cluster);
    });
    await eventually(
      'another node is there, as alice asked for it',
      async () => (await cluster.untilReady(name, 1))[0]?.metadata?.uid !== node?.metadata?.uid,
      120_000,
    );
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  'drain-paused': async (cluster, name) => {
    const target = await protectedNode(cluster, name);
    const recorded = await drain(cluster, target);
    const { workflowId } = recorded;
    await untilDrainShows(cluster, workflowId, 'EvictionsRefused');
    // Nobody tells the workflow of the pauses, so it meets them when it writes.
    await stopStarter(cluster);
    for (const [pause, reason] of [
      [async () => await pauseGroup(cluster, name), 'Paused'],
      [async () => await pauseEverything(cluster), 'GloballyPaused'],
    ] as const) {
      const end = await pause();
      await untilDrainShows(cluster, workflowId, reason);
      await end();
      await untilDrainShows(cluster, workflowId, 'EvictionsRefused');
    }
    await cluster.policy.deleteNamespacedPodDisruptionBudget({ namespace: name, name: 'web' });
    await cluster.plane.startStarter();
    await untilEnded(cluster, workflowId);
    return recorded;
  },

  'drain-taken-back': async (cluster, name) => {
    await group(cluster, name, { minNodes: 1 });
    const [node] = await cluster.untilReady(name, 1);
    const { metadata: { name: nodeName = '', uid = '' } = {} } = node ?? {};
    await cluster.createPods(name, 1, { nodeName });
    await cluster.untilRunning(name, 1);
    await cluster.protect(name, 'web');
    await cluster.reaches(name, 'Steady');
    await cluster.command(name, 'drain', { node: nodeName });
    const workflowId = nodeDrainId({ cluster: CLUSTER, uid });
    await untilDrainShows(cluster, workflowId, 'EvictionsRefused');
    const { runId } = await cluster.plane.client.workflow.getHandle(workflowId).describe();
    // The node is empty, and its machine cannot be deleted; until it can, a pod comes that nothing keeps from it.
    const release = await cluster.leadVpsieAutoscaler();
    await cluster.core.deleteNamespacedPod({ namespace: name, name: 'pod-0', gracePeriodSeconds: 0 });
    await untilDrainShows(cluster, workflowId, 'WriteFailed');
    await cluster.policy.deleteNamespacedPodDisruptionBudget({ namespace: name, name: 'web' });
    await cluster.createPod(name, 'late', { nodeName });
    await cluster.untilRunning(name, 1);
    await release();
    await untilEnded(cluster, workflowId);
    return { workflowId, runId };
  },

  'drain-taken-over': async (cluster, name) => {
    await group(cluster, name, { minNodes: 1 });
    const [node] = await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    const { metadata: { name: nodeName = '', uid = '' } = {} } = node ?? {};
    const { metadata: owner } = await cluster.group(name);
    // Somebody keeps the Node, so that its machine is on its way out for a while.
    await cluster.core.patchNode({ name: nodeName, body: { metadata: { finalizers: ['example.com/kept'] } } }, merge);
    const target = { cluster: CLUSTER, group: name, node: nodeName, uid };
    const recorded = await drain(cluster, target, { groupUid: owner.uid });
    await eventually('the Node is on its way out', async () => {
      const { metadata } = await cluster.core.readNode({ name: nodeName });
      return metadata?.deletionTimestamp !== undefined;
    });
    const release = await cluster.leadVpsieAutoscaler();
    await untilDrainShows(cluster, recorded.workflowId, 'WriteFailed');
    await cluster.core.patchNode({ name: nodeName, body: { metadata: { finalizers: null } } }, merge);
    await release();
    await untilEnded(cluster, recorded.workflowId);
    return recorded;
  },
};
