/** Groups that do not notice each other: each has pods that only its own nodes take. */
import { taskQueue } from '../../../domain/kernel/target.ts';
import { nodeGroupId } from '../../../domain/node-group/target.ts';
import { nodeGroupChanged, type NodeGroupRequest } from '../../../workflows/node-group/messages.ts';
import type { nodeGroup } from '../../../workflows/node-group/workflow.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import type { Scenario } from '../stages.ts';
import type { RecordedCluster } from './cluster.ts';
import { group, newestOf, pods, untilEnded } from './given.ts';

async function withoutPods(cluster: RecordedCluster, name: string): Promise<void> {
  for (const { metadata } of await cluster.pods(name)) {
    await cluster.core.deleteNamespacedPod({ namespace: name, name: metadata?.name ?? '', gracePeriodSeconds: 0 });
  }
}

/** Pods that fill a node: so no plan has to have seen them for it to be known what the node came for. */
async function wholeNode(cluster: RecordedCluster, name: string): Promise<void> {
  await pods(cluster, name, 4);
  await cluster.untilRunning(name, 4);
}

export const groupScenarios: Readonly<Record<string, Scenario<RecordedCluster>>> = {
  lived: async (cluster, name) => {
    const recorded = await group(cluster, name, { offeringIDs: ['small', 'medium'], minNodes: 1 });
    await cluster.untilReady(name, 1);
    await pods(cluster, name, 6);
    await cluster.untilRunning(name, 6);
    await withoutPods(cluster, name);
    await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    // One of the types that are known is none of the group's any more.
    await cluster.patchGroup(name, { spec: { offeringIDs: ['small'] } });
    await eventually('the types are asked for again', async () => {
      const { status } = await cluster.group(name);
      return status?.instanceTypes?.length === 1;
    });
    await cluster.reaches(name, 'Steady');
    await cluster.deleteGroup(name);
    await untilEnded(cluster, recorded.workflowId);
    return recorded;
  },

  approved: async (cluster, name) => {
    const recorded = await group(cluster, name, { approval: 'scale-down' });
    await wholeNode(cluster, name);
    await withoutPods(cluster, name);
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalRequired');
    await cluster.command(name, 'approve');
    await cluster.untilReady(name, 0);
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  rejected: async (cluster, name) => {
    const recorded = await group(cluster, name, { approval: 'scale-down' });
    await wholeNode(cluster, name);
    await withoutPods(cluster, name);
    await cluster.reaches(name, 'AwaitingApproval', 'ApprovalRequired');
    await cluster.command(name, 'reject');
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  observed: async (cluster, name) => {
    const recorded = await group(cluster, name, { mode: 'observe', minNodes: 1 });
    await cluster.reaches(name, 'Observing', 'WouldScaleUp');
    await cluster.patchGroup(name, { spec: { mode: 'act' } });
    await cluster.untilReady(name, 1);
    await cluster.patchGroup(name, { spec: { mode: 'observe', minNodes: 0 } });
    await cluster.reaches(name, 'Observing', 'WouldScaleDown');
    return recorded;
  },

  invalid: async (cluster, name) => {
    const recorded = await group(cluster, name, { labels: { 'not a key': 'x' } });
    await cluster.reaches(name, 'Blocked', 'Invalid');
    await cluster.patchGroup(name, { spec: { labels: null } });
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  'node-rejected': async (cluster, name) => {
    const startupTaints = [{ key: 'not a key', effect: 'NoSchedule' }];
    const recorded = await group(cluster, name, { minNodes: 1, startupTaints });
    await cluster.reaches(name, 'Blocked', 'WriteFailed');
    await cluster.patchGroup(name, { spec: { startupTaints: null } });
    await cluster.command(name, 'reconcileNow');
    await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  replaced: async (cluster, name) => {
    const recorded = await group(cluster, name, { minNodes: 1, replaceBeforeDrain: true });
    const [node] = await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    await cluster.command(name, 'drain', { node: node?.metadata?.name ?? '' });
    await eventually(
      'another node is there',
      async () => {
        const nodes = await cluster.untilReady(name, 1);
        return nodes[0]?.metadata?.uid !== node?.metadata?.uid;
      },
      120_000,
    );
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  paused: async (cluster, name) => {
    const recorded = await group(cluster, name, {});
    await cluster.reaches(name, 'Steady');
    await cluster.command(name, 'pause');
    await cluster.reaches(name, 'Paused', 'Paused');
    await pods(cluster, name, 1);
    await cluster.command(name, 'resume');
    await cluster.untilRunning(name, 1);
    await cluster.reaches(name, 'Steady');
    return recorded;
  },

  continued: async (cluster, name) => {
    await group(cluster, name, {});
    const target = { cluster: CLUSTER, group: name };
    await cluster.plane.client.workflow.signalWithStart<typeof nodeGroup, [NodeGroupRequest]>('nodeGroup', {
      workflowId: nodeGroupId(target),
      taskQueue: taskQueue(CLUSTER),
      args: [{ target, continueAfterEvents: 30 }],
      signal: nodeGroupChanged,
      signalArgs: [{ cause: 'recording', resourceVersion: '' }],
      // The starter has begun it already, with runs of the ordinary length, and would again between an end and a start.
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
    });
    await cluster.reaches(name, 'Steady');
    const recorded = await newestOf(cluster, name);
    await pods(cluster, name, 1);
    await cluster.untilRunning(name, 1);
    await withoutPods(cluster, name);
    await cluster.untilReady(name, 0);
    await cluster.deleteGroup(name);
    await untilEnded(cluster, recorded.workflowId);
    return recorded;
  },
};
