/** Drains of single nodes of groups that know nothing of them: a drain asks for its group's machine when the node is empty. */
import { markPatch } from '../../../domain/node-group/drain/marks.ts';
import { type DrainTarget, nodeDrainId } from '../../../domain/node-group/target.ts';
import { drainUpdates } from '../../../workflows/node-group/drain-messages.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { CLUSTER } from '../../kernel/stack/headroom-plane.ts';
import { merge } from '../../node-group/headroom/cluster.ts';
import type { Recorded, Scenario } from '../stages.ts';
import type { RecordedCluster } from './cluster.ts';
import { drain, group, plainNode, protectedNode, untilDrainShows, untilEnded } from './given.ts';

/** The marks of a drain that does not run, on a node that was made schedulable again if `uncordoned`. */
async function mark(cluster: RecordedCluster, { node }: DrainTarget, by: string, uncordoned = false): Promise<void> {
  const { metadata, spec } = markPatch({ annotations: {}, isCordoned: false }, by, Date.now());
  await cluster.core.patchNode({ name: node, body: uncordoned ? { metadata } : { metadata, spec } }, merge);
}

async function ended(cluster: RecordedCluster, recorded: Recorded): Promise<Recorded> {
  await untilEnded(cluster, recorded.workflowId);
  return recorded;
}

async function command(
  { plane }: RecordedCluster,
  { workflowId }: Recorded,
  name: keyof typeof drainUpdates,
): Promise<void> {
  await plane.client.workflow.getHandle(workflowId).executeUpdate(drainUpdates[name], { args: [{ by: 'alice' }] });
}

async function withoutBudget({ policy }: RecordedCluster, namespace: string): Promise<void> {
  await policy.deleteNamespacedPodDisruptionBudget({ namespace, name: 'web' });
}

/** Nothing is evicted before this machine is ready. */
const AFTER_ANOTHER = { replacement: 'machine-of-nobody' };
const OTHER_DRAIN = 'node-drain/test/of-another-node';

export const drainScenarios: Readonly<Record<string, Scenario<RecordedCluster>>> = {
  'drain-after-replacement': async (cluster, name) => {
    await group(cluster, name, { minNodes: 1, replaceBeforeDrain: true });
    const [node] = await cluster.untilReady(name, 1);
    await cluster.reaches(name, 'Steady');
    await cluster.command(name, 'drain', { node: node?.metadata?.name ?? '' });
    const workflowId = nodeDrainId({ cluster: CLUSTER, uid: node?.metadata?.uid ?? '' });
    const { runId } = await eventually(
      'its drain has begun',
      async () => await cluster.plane.client.workflow.getHandle(workflowId).describe(),
    );
    return await ended(cluster, { workflowId, runId });
  },

  'drain-refused': async (cluster, name) => {
    const recorded = await drain(cluster, await protectedNode(cluster, name));
    await untilDrainShows(cluster, recorded.workflowId, 'EvictionsRefused');
    await command(cluster, recorded, 'pause');
    await untilDrainShows(cluster, recorded.workflowId, 'Paused');
    await withoutBudget(cluster, name);
    await command(cluster, recorded, 'resume');
    return await ended(cluster, recorded);
  },

  'drain-blocked': async (cluster, name) =>
    await ended(cluster, await drain(cluster, await protectedNode(cluster, name), { timeoutMs: 1_000 })),

  'drain-stopped': async (cluster, name) => {
    const recorded = await drain(cluster, await protectedNode(cluster, name));
    await untilDrainShows(cluster, recorded.workflowId, 'EvictionsRefused');
    await command(cluster, recorded, 'stopDrain');
    return await ended(cluster, recorded);
  },

  'drain-uncordoned': async (cluster, name) => {
    const target = await protectedNode(cluster, name);
    const recorded = await drain(cluster, target);
    await untilDrainShows(cluster, recorded.workflowId, 'EvictionsRefused');
    await cluster.core.patchNode({ name: target.node, body: { spec: { unschedulable: null } } }, merge);
    return await ended(cluster, recorded);
  },

  'drain-of-other': async (cluster, name) => {
    const target = await plainNode(cluster, name);
    await mark(cluster, target, OTHER_DRAIN);
    return await ended(cluster, await drain(cluster, target));
  },

  'drain-gone': async (cluster, name) => {
    const target = await plainNode(cluster, name);
    return await ended(cluster, await drain(cluster, { ...target, uid: `another-${target.uid}` }));
  },

  'drain-undone': async (cluster, name) => {
    const target = await plainNode(cluster, name);
    await mark(cluster, target, nodeDrainId(target));
    return await ended(cluster, await drain(cluster, target, { undoesOnly: true }));
  },

  'drain-not-replaced': async (cluster, name) =>
    await ended(cluster, await drain(cluster, await plainNode(cluster, name), AFTER_ANOTHER)),

  'drain-marked-by-other': async (cluster, name) => {
    const target = await plainNode(cluster, name);
    await mark(cluster, target, OTHER_DRAIN);
    return await ended(cluster, await drain(cluster, target, AFTER_ANOTHER));
  },

  'drain-unmarkable': async (cluster, name) => {
    const target = await plainNode(cluster, name);
    return await ended(cluster, await drain(cluster, { ...target, uid: `another-${target.uid}` }, AFTER_ANOTHER));
  },

  'drain-begun-again': async (cluster, name) => {
    const target = await plainNode(cluster, name);
    // One before it was terminated, and then a person took the cordon off.
    await mark(cluster, target, nodeDrainId(target), true);
    return await ended(cluster, await drain(cluster, target, AFTER_ANOTHER));
  },

  'drain-continued': async (cluster, name) => {
    const recorded = await drain(cluster, await protectedNode(cluster, name), { continueAfterEvents: 20 });
    await untilDrainShows(cluster, recorded.workflowId, 'EvictionsRefused');
    for (const step of ['pause', 'resume', 'pause', 'resume'] as const) {
      await command(cluster, recorded, step);
      await untilDrainShows(cluster, recorded.workflowId, step === 'pause' ? 'Paused' : 'EvictionsRefused');
    }
    await withoutBudget(cluster, name);
    return await ended(cluster, recorded);
  },
};
